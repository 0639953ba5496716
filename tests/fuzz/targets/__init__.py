"""What is fuzzed, by name. Each module has one class, which is a :class:`fuzz.cases.Target`."""

from fuzz.targets.arguments import Arguments
from fuzz.targets.disks import Disks
from fuzz.targets.grammar_texts import GrammarTexts
from fuzz.targets.kills import Kills
from fuzz.targets.model_files import ModelFiles
from fuzz.targets.model_folders import ModelFolders
from fuzz.targets.sentences import Sentences
from fuzz.targets.streams import Streams
from fuzz.targets.threads import Threads
from fuzz.targets.treebanks import Treebanks

#: The targets with the share of the time that each has in a run.
TARGETS = {
    "sentences": (Sentences, 0.25),
    "model-files": (ModelFiles, 0.3),
    "model-folders": (ModelFolders, 0.05),
    "treebanks": (Treebanks, 0.15),
    "grammar-texts": (GrammarTexts, 0.02),
    "arguments": (Arguments, 0.05),
    "streams": (Streams, 0.05),
    "kills": (Kills, 0.07),
    "disks": (Disks, 0.03),
    "threads": (Threads, 0.03),
}

"""Commands that write files, with what they write if nothing goes wrong."""

import shutil
import time

from fuzz.children import preload, run
from fuzz.samples import samples
from fuzz.scratch import scratch_folder
from lpcfg import save

OLD = b"what was there before\n"

#: The commands, by name: the arguments, and the file that is replaced in the folder ``out``.
_COMMANDS = {
    "train pcfg": (["train", "gold.mrg", "-o", "out/model", "-q", "--estimator", "pcfg"], "model"),
    "train spectral": (
        ["train", "gold.mrg", "-o", "out/model", "-q", "--estimator", "spectral"],
        "model",
    ),
    "train em": (
        ["train", "gold.mrg", "-o", "out/model", "-q", "--estimator", "em", "--iterations", "2"],
        "model",
    ),
    "parse": (["parse", "pcfg.lpcfg", "-i", "text", "-o", "out/trees", "-q"], "trees"),
    "parse json": (
        ["parse", "pcfg.lpcfg", "-i", "text", "-o", "out/trees", "-q", "--json", "-k", "2"],
        "trees",
    ),
    "eval": (["eval", "pcfg.lpcfg", "gold.mrg", "-o", "out/trees", "-q"], "trees"),
    "show": (["show", "gold.mrg", "--svg", "out/picture.svg"], "picture.svg"),
    "corpus": (
        [
            *("parse", "pcfg.lpcfg", "--corpus", "text", "-o", "out/corpus"),
            *("--part-lines", "20", "--compress", "none", "-q"),
        ],
        None,
    ),
}


class Job:
    """A command in a folder of its own, which is made anew for each case."""

    def __init__(self, name, workspace):
        self.name = name
        self.arguments, self.target = _COMMANDS[name]
        self.arguments = [*self.arguments, *(["-j", "1"] if "show" not in self.arguments else [])]
        self.workspace = workspace
        self._prepare()
        start = time.monotonic()
        outcome = run(self.folder, self.arguments)
        #: Seconds that the command takes.
        self.duration = time.monotonic() - start
        assert outcome.code == 0, outcome.errors
        self.expected = self.contents()
        assert self.expected

    @property
    def folder(self):
        return self.workspace.folder

    def _prepare(self):
        self.workspace.clear()
        if self.target is not None:
            (self.folder / "out" / self.target).write_bytes(OLD)

    def fresh(self):
        """Make the folder anew and return it; an older file is where the output will be."""
        self._prepare()
        return self.folder

    def contents(self, folder="out"):
        """The files of the output, apart from hidden ones and those that name times."""
        files = {}
        for path in sorted((self.folder / folder).rglob("*")):
            name = str(path.relative_to(self.folder / folder))
            if path.is_file() and not path.name.startswith("."):
                files[name] = path.read_bytes()
        return files

    def check_target(self, contents, *, complete):
        """The file is the old one or the new one, and nothing in between."""
        if self.target is None:
            return
        content = contents.get(self.target)
        new = self.expected[self.target]
        assert content in ((new,) if complete else (OLD, new)), (
            f"{self.target} has {content and len(content)} bytes, neither the old nor the new file"
        )
        others = contents.keys() - {self.target, f"{self.target}.partial"}
        assert not others, f"there are {sorted(others)} as well"
        partial = contents.get(f"{self.target}.partial", b"")
        assert new.startswith(partial), "the partial output is not the beginning of the output"


class Workspace:
    """A folder with a treebank, sentences and a model, and a folder for output."""

    def __init__(self):
        self.folder = scratch_folder(self)
        trees = samples().trees[:120]
        text = "".join(f"{tree}\n" for tree in trees)
        sentences = "".join(" ".join(tree.words()) + "\n" for tree in trees)
        (self.folder / "gold.mrg").write_text(text, encoding="utf-8")
        (self.folder / "text").write_text(sentences, encoding="utf-8")
        save(samples().grammar("pcfg"), self.folder / "pcfg.lpcfg")
        preload()

    def clear(self):
        for name in ("out", "seen"):
            shutil.rmtree(self.folder / name, ignore_errors=True)
        (self.folder / "out").mkdir()

    def hidden(self, folder="out"):
        """Temporary files that were left over."""
        return [path.name for path in (self.folder / folder).rglob(".lpcfg-*")]


def all_jobs():
    workspace = Workspace()
    return [Job(name, workspace) for name in _COMMANDS]

"""Objects of the core that several threads of Python share: no call may wait forever."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from lpcfg._core import BracketReader
from lpcfg.treebank.forest import Forest

#: Long enough for any machine, short enough to notice that threads wait for each other.
TIMEOUT = 120

SHARED_TRAINER = """
import threading

import numpy as np

import lpcfg
from lpcfg._core import CRFTrainer
from lpcfg.estimators import PCFGEstimator
from lpcfg.grammar.crf_weights import CRFWeights

bank = lpcfg.Treebank.from_trees(lpcfg.embedded_trees(20))
grammar = PCFGEstimator().fit(bank).grammar_
vocabulary, weights = np.zeros(0, dtype=np.uint64), np.zeros(1 << 10, dtype=np.float32)
trainer = CRFTrainer(CRFWeights("crf", 1.0, vocabulary, weights).core(bank.symbols), 1)
leaves = np.flatnonzero(bank.word >= 0)
words = bank.word[leaves].astype(np.uint32)
columns = dict(
    spellings=list(bank.words),
    word_column=words,
    emissions=words,
    word_offsets=np.searchsorted(leaves, bank.tree_offsets),
    symbols=bank.symbol,
    starts=bank.start,
    ends=bank.end,
    tree_offsets=bank.tree_offsets,
    tree_weights=None,
    coarse_threshold=0.0,
    threshold=0.0,
    span_recall=1.0,
    memory=1 << 30,
)
trainer.add(grammar.core, **columns)
order = np.tile(np.arange(len(trainer)), 20)
steps = dict(learning_rate=0.1, initial_accumulator=0.1, penalty=0.0, batch=4)


def learn():
    for _ in range(3):
        trainer.run(order, **steps)
        trainer.add(grammar.core, **columns)


thread = threading.Thread(target=learn)
thread.start()
calls = 0
while thread.is_alive():
    assert len(trainer) > 0
    assert len(trainer.weights()) == len(weights)
    calls += 1
print(calls, len(trainer))
"""

#: No memory is left for the stack of a thread.
NO_THREAD = """
import resource

from lpcfg._core import BracketReader

reader = BracketReader(False, False)
with open("/proc/self/statm") as statistics:
    size = int(statistics.read().split()[0]) * resource.getpagesize()
_, hard = resource.getrlimit(resource.RLIMIT_AS)
resource.setrlimit(resource.RLIMIT_AS, (size + (1 << 20), hard))
try:
    reader.feed("trees", b"(S (NN rain) (VB falls))")
except OSError as error:
    print(error)
resource.setrlimit(resource.RLIMIT_AS, (hard, hard))
reader.feed("trees", b"(S (NN rain) (VB falls))")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the limit is that of Linux")
def test_a_system_without_threads_is_an_error_with_a_message():
    done = subprocess.run(
        [sys.executable, "-c", NO_THREAD],
        timeout=TIMEOUT,
        check=True,
        capture_output=True,
        text=True,
    )
    assert done.stdout.startswith("the system has no thread for the work: ")
    assert done.stderr == ""


def test_a_trainer_answers_while_another_thread_trains():
    # A thread that waits for the trainer and keeps the interpreter lock stops every other thread,
    # this one too: only another process can tell.
    done = subprocess.run(
        [sys.executable, "-c", SHARED_TRAINER],
        timeout=TIMEOUT,
        check=True,
        capture_output=True,
        text=True,
    )
    calls, sentences = map(int, done.stdout.split())
    assert calls > 0
    assert sentences == 4 * 20


def test_threads_may_share_a_reader():
    reader = BracketReader(True, True)
    chunk = b"(S (NN rain) (VB falls)) (NN)\n" * 2000

    def read(_):
        return len(Forest(*reader.read("shared", chunk)))

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(read, range(12), timeout=TIMEOUT)) == [2000] * 12
    errors, skipped = reader.finish("shared")
    assert skipped == 12 * 2000
    assert errors[0].startswith("shared:1:26: a node without a word or children")

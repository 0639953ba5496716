"""Objects of the core that were used before a fork also work in the child process.

A fork copies the memory of a pool of threads, but not its threads: without care, the child waits
for them forever. Each case runs in a process of its own, which is killed if it waits.
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

#: Long enough for any machine, short enough to notice a process that waits forever.
LIMIT = 120

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")

#: Uses an object, then uses it in a forked child, and compares the two results.
PROGRAM = """
import os, signal, sys
import numpy as np
import lpcfg
from lpcfg import _core, embedded_trees

threads = {threads}
trees = list(embedded_trees())
words = [tree.words() for tree in trees[:4]]
{prepare}
before = {use}
child = os.fork()
if child == 0:
    # A child that waits forever is ended, and so is noticed.
    signal.alarm(60)
    os._exit(0 if {use} == before else 1)
_, status = os.waitpid(child, 0)
assert {use} == before
sys.exit(os.waitstatus_to_exitcode(status))
"""

#: What is made before the fork, and how it is used on both sides.
CASES = {
    "parser": (
        "parser = lpcfg.Parser.load('english', n_jobs=threads)",
        "[str(tree) for tree in parser.parse_many(words=words)]",
    ),
    "ensemble": (
        (
            "grammar = lpcfg.load('english')\n"
            "members = [lpcfg.Parser(grammar, n_jobs=threads) for _ in range(2)]\n"
            "ensemble = lpcfg.Ensemble(members, n_jobs=threads)"
        ),
        "[str(tree) for tree in ensemble.parse_many(words=words)]",
    ),
    "trainer of a CRF": (
        (
            "made = []\n"
            "trainer = _core.CRFTrainer\n"
            "_core.CRFTrainer = lambda *given: made.append(trainer(*given)) or made[-1]\n"
            "lpcfg.CRFEstimator(epochs=1, bits=10, n_jobs=threads).fit(trees)\n"
            "order = np.arange(len(made[0]))\n"
            "rates = dict(learning_rate=0.0, initial_accumulator=1.0, penalty=0.0, batch=4)"
        ),
        "made[0].run(order, **rates)",
    ),
    "sequences": (
        (
            "model = _core.HiddenMarkovModel(initial=np.array([0.5, 0.5]),\n"
            "    transitions=np.full((2, 2), 0.25), ends=np.full(2, 0.5),\n"
            "    emissions=np.full((2, 2), 0.5))\n"
            "sequences = _core.Sequences(np.array([0, 2, 5]), "
            "np.array([0, 1, 1, 0, 1], np.uint32),\n"
            "    threads)"
        ),
        "sequences.log_probabilities(model).tolist()",
    ),
    "trees of EM": (
        (
            "from lpcfg.estimators.em.latent_trees import LatentTrees\n"
            "from lpcfg.estimators.em.smoothing import Smoothing\n"
            "bank = lpcfg.Treebank.from_trees(trees)\n"
            "backbone = lpcfg.PCFGEstimator().estimate(bank)\n"
            "latent = LatentTrees(bank, backbone, Smoothing.none(), n_jobs=threads)"
        ),
        "latent.expect(latent.one_state()).log_likelihood",
    ),
    "pairs of words": (
        (
            "counts = _core.PairCounts(np.array([0, 1, 2]), np.array([1, 0], np.uint32),\n"
            "    np.ones(2, np.float32), 2, threads)\n"
            "half = np.full((2, 2), 0.5, np.float32)"
        ),
        "counts.log_likelihood(half, half)",
    ),
    "tagger": (
        "tagger = lpcfg.Tagger().fit(trees)",
        "[tagger.tag(sentence) for sentence in words]",
    ),
}


@needs_fork
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("case", CASES)
def test_what_was_used_before_a_fork_works_in_the_child(case, threads):
    prepare, use = CASES[case]
    program = PROGRAM.format(threads=threads, prepare=prepare, use=use)
    done = subprocess.run([sys.executable, "-c", program], timeout=LIMIT, check=False)
    assert done.returncode == 0


#: A pool of forked processes parses with a parser that they have not loaded themselves.
POOL = """
import multiprocessing
import lpcfg

parser = lpcfg.Parser.load("english", n_jobs=2)
sentences = [["The", "dog", "barked", "."], ["She", "saw", "it", "."]] * 8
expected = [str(parser.parse(words=words)) for words in sentences]

def parse(words):
    return str(parser.parse(words=words))

if __name__ == "__main__":
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map(parse, sentences) == expected
"""


@needs_fork
def test_a_pool_of_processes_parses_with_one_parser():
    subprocess.run([sys.executable, "-c", POOL], timeout=LIMIT, check=True)


#: A child parses an endless input until it is interrupted.
INTERRUPTED = """
import itertools, os, signal, sys
import lpcfg

parser = lpcfg.Parser.load("english", n_jobs=2)
words = "the old dog saw the man who left the house".split() * 12
parser.parse(words=words[:5])
reading, writing = os.pipe()
child = os.fork()
if child == 0:
    signal.alarm(60)
    try:
        os.write(writing, b"started")
        for _ in parser.parse_many(words=itertools.repeat(words)):
            pass
    except KeyboardInterrupt:
        os._exit(7)
    os._exit(1)
os.read(reading, 7)
os.kill(child, signal.SIGINT)
_, status = os.waitpid(child, 0)
sys.exit(os.waitstatus_to_exitcode(status))
"""


@needs_fork
def test_an_interrupt_ends_the_work_of_a_child():
    done = subprocess.run([sys.executable, "-c", INTERRUPTED], timeout=LIMIT, check=False)
    assert done.returncode == 7

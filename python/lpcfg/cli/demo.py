"""A tour of the package on embedded data: ``python -m lpcfg.cli.demo``.

Every step prints the command or the Python lines that it then runs, so that they can be repeated.
Steps that need packages of an extra are left out without them.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import shlex
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from lpcfg.cli.main import main as run_command_line
from lpcfg.datasets.embedded import embedded_trees
from lpcfg.io.replacing import write_text
from lpcfg.treebank.tree import Tree

__all__ = ["main", "split_trees"]

_TREES = 800
_HELD_OUT = 100

_TEXT = "Dr. Lee can't come (he's ill). Most people who read the report liked its short summary."

# These are not in the treebank: "kitten" is an unknown word.
_SENTENCES = ["The tired student saw a kitten with the telescope .", "Where did Nora put the key ?"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the tour, which takes a few seconds, and return its exit code.

    >>> main(["--help"])
    Traceback (most recent call last):
    SystemExit: 0
    """
    parser = argparse.ArgumentParser(
        prog="python -m lpcfg.cli.demo",
        description="Parse, train, score and draw on embedded data, and open the page.",
    )
    parser.add_argument(
        "-o", "--output", type=Path, metavar="FOLDER",
        help="keep the files of the demo here (default: they are removed at the end)",
    )  # fmt: skip
    parser.add_argument("--seed", type=int, default=0, help="which trees are held out")
    options = parser.parse_args(arguments)
    # The output on both streams appears in the right order.
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(line_buffering=True)
    with contextlib.ExitStack() as stack:
        if options.output is None:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="lpcfg-demo-")))
        else:
            folder = options.output
            folder.mkdir(parents=True, exist_ok=True)
        shown = folder.resolve()
        stack.enter_context(contextlib.chdir(folder))
        started = time.perf_counter()
        _tour(options.seed)
        seconds = time.perf_counter() - started
    kept = f"the files are in {shown}" if options.output else "its files are removed; -o keeps them"
    print(f"\nThe demo took {seconds:.1f} s; {kept}.")
    return 0


def _tour(seed: int) -> None:
    """All steps, in the current folder."""
    _parse_text()
    train, held_out = split_trees(embedded_trees(_TREES), _HELD_OUT, seed)
    for name, trees in (("train.mrg", train), ("held-out.mrg", held_out)):
        write_text(name, "".join(f"{tree}\n" for tree in trees))
    write_text("sentences.txt", "\n".join(_SENTENCES) + "\n")

    _title("Trees, sampled from the hand-written grammar that comes with lpcfg")
    print(f"train.mrg has {len(train)} of them, held-out.mrg {len(held_out)} others. The first:")
    print(train[0])

    _title("Train: read, clean and binarise the trees, estimate a grammar, save it")
    _command("lpcfg train train.mrg -o english.lpcfg --estimator pcfg")

    _title("Parse sentences, one a line; unknown words are no problem")
    _command("lpcfg parse english.lpcfg -i sentences.txt")
    _command("lpcfg parse english.lpcfg -i sentences.txt --pretty")

    _title("Score: parse the held-out sentences and compare with their trees")
    _command("lpcfg eval english.lpcfg held-out.mrg -o parsed.mrg")
    _command("lpcfg show parsed.mrg -n 3 --svg trees.svg")
    print("trees.svg has drawings of the first three of these trees.")

    _title("The same from Python, with probabilities")
    _python(
        "import lpcfg",
        "parser = lpcfg.Parser(lpcfg.load('english.lpcfg'), decoder='viterbi')",
        f"words = {_SENTENCES[0]!r}.split()",
        "parse = parser.analyze(words=words, candidates=3)",
        "parse.status, round(parse.log_probability, 2)",
        "for span in parse.spans:\n"
        "    if span.label == 'NP':\n"
        "        print(f'{span.probability:.4f}', *words[span.start:span.end])",
        "from math import exp",
        "for tree, log_probability in parse.candidates:\n"
        "    print(f'{exp(log_probability - parse.sentence_log_probability):.4f}', tree)",
        "print(parser.parse(['DT', 'NN', 'VBD', 'PRP', '.']))  # tags instead of words",
        "from pathlib import Path",
        "_ = Path('parse.svg').write_text(parse.to_svg())  # a drawing with probabilities",
    )
    _show_page()


def _parse_text() -> None:
    """Running text, with the embedded English model."""
    write_text("text.txt", _TEXT + "\n")
    if not _installed("text", "sentencex", "spacy"):
        return
    _title("Text in, trees out, with the English model that comes with lpcfg")
    print(_TEXT)
    _command("lpcfg parse --raw -i text.txt")


def _show_page() -> None:
    """Start the server, ask it for a parse, and leave it open for a reader at a terminal."""
    if not _installed("serve", "starlette", "uvicorn"):
        return
    _title("The page: trees, probabilities, charts and latent states in the browser")
    print("\n$ lpcfg serve english.lpcfg")
    server = subprocess.Popen(
        [sys.executable, "-m", "lpcfg", "serve", "english.lpcfg", "--port", "0"],
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert server.stderr is not None
        address = server.stderr.readline().split()[1]
        request = urllib.request.Request(
            address + "api/parse",
            json.dumps({"text": _SENTENCES[1]}).encode(),
            {"content-type": "application/json"},
        )
        with urllib.request.urlopen(request) as answer:
            sentence = json.load(answer)["sentences"][0]
        print(f"{address} answers {sentence['text']!r} with {sentence['tree']}")
        if sys.stdin.isatty() and sys.stdout.isatty():
            input(f"Open {address} in a browser; Enter stops the server. ")
    finally:
        server.terminate()
        server.communicate()


def _installed(extra: str, *packages: str) -> bool:
    missing = [package for package in packages if find_spec(package) is None]
    if missing:
        print(f"\n(A step is left out; it needs pip install 'lpcfg[{extra}]'.)")
    return not missing


def split_trees(trees: Sequence[Tree], held_out: int, seed: int) -> tuple[list[Tree], list[Tree]]:
    """Draw ``held_out`` trees at random; training trees are the others that differ from them.

    >>> train, test = split_trees(embedded_trees(50), held_out=10, seed=1)
    >>> len(train), len(test), set(train) & set(test)
    (40, 10, set())
    """
    order = np.random.default_rng(seed).permutation(len(trees)).tolist()
    test = [trees[index] for index in order[:held_out]]
    drawn = set(test)
    return [trees[index] for index in sorted(order[held_out:]) if trees[index] not in drawn], test


def _title(text: str) -> None:
    print(f"\n── {text} ──")


def _command(command: str) -> None:
    """Show a command and run it in this process; an error ends the demo."""
    print(f"\n$ {command}")
    if exit_code := run_command_line(shlex.split(command)[1:]):
        raise SystemExit(exit_code)


def _python(*statements: str) -> None:
    """Show statements as the interpreter does, run them, and show the values of expressions."""
    print()
    names: dict[str, object] = {}
    for statement in statements:
        print(">>> " + statement.replace("\n", "\n... "))
        end = "\n" if "\n" in statement else ""
        exec(compile(statement + end, "<demo>", "single"), names)


if __name__ == "__main__":
    sys.exit(main())

"""Any bytes on standard input: one line is printed for each line read, or there is a message."""

import json

from fuzz.cases import about
from fuzz.children import run
from fuzz.jobs import Workspace
from fuzz.samples import samples
from fuzz.texts import line
from lpcfg import Tree


class Streams:
    """``lpcfg parse`` answers every line, or ends with a message at a bad one."""

    unit = "streams"

    def __init__(self):
        self.workspace = Workspace()

    def run(self, draw):
        lines = [line(draw, samples().words) for _ in range(draw.randrange(40))]
        data = b"\n".join(lines) + draw.choice((b"", b"\n"))
        if draw.random() < 0.1:
            data = draw.randbytes(draw.randrange(200))
        on_error = draw.choice(("raise", "skip", "empty", "empty"))
        options = ["--on-error", on_error, "-j", "1", "--memory", "64"]
        as_json = draw.random() < 0.3
        options += ["--json"] if as_json else []
        options += ["--tags"] if draw.random() < 0.2 else []
        with about(options, data):
            outcome = run(self.workspace.folder, ["parse", "pcfg.lpcfg", *options], stdin=data)
            self._check(outcome, data, on_error, as_json)
        return 1

    @staticmethod
    def _check(outcome, data, on_error, as_json):
        outcome.check_message()
        if data.startswith(b"\x1f\x8b"):
            # Damaged gzip data has no lines.
            return
        read = data.count(b"\n") + (not data.endswith(b"\n") and bool(data))
        printed = outcome.output.decode().split("\n")
        assert printed.pop() == "", "the last line is not complete"
        if on_error == "empty":
            assert (outcome.code, len(printed)) == (0, read), f"{len(printed)} lines for {read}"
        else:
            assert len(printed) <= read
            assert outcome.code == 0 or on_error == "raise"
            assert outcome.code == 1 or on_error == "skip" or len(printed) == read
        for text in printed:
            if as_json:
                answer = json.loads(text, parse_constant=_refuse)
                text = "(())" if answer is None else answer["tree"]
            if text != "(())":
                Tree.from_string(text)


def _refuse(constant):
    raise AssertionError(f"{constant} is not JSON")

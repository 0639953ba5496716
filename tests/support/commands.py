"""What the tests of commands share: trees to work on, and a look at how commands fail."""

from lpcfg import embedded_trees

TREES = embedded_trees(60, seed=3)
WORDS = [tree.words() for tree in TREES]


def write(name, text):
    with open(name, "w", encoding="utf-8") as file:  # noqa: PTH123 - in the working directory
        file.write(text)


def refused(outcome):
    """The one line with which a command fails."""
    code, output, message = outcome
    assert code == 1
    assert output == ""
    *_, last = message.splitlines()
    assert last.startswith("lpcfg: ")
    assert "Traceback" not in message
    return last.removeprefix("lpcfg: ")

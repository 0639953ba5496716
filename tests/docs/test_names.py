"""The Python names of pages for readers exist, and where these look for them."""

import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest

import lpcfg

REPOSITORY = Path(__file__).parents[2]
NAME = re.compile(r"`(lpcfg(?:\.\w+)+)")


def names(*pages):
    return sorted({name for page in pages for name in NAME.findall(page.read_text("utf-8"))})


def test_names_of_the_guide_are_found_after_import_lpcfg():
    docs = REPOSITORY / "docs"
    pages = [REPOSITORY / "README.md", docs / "guide.md", docs / "tuning.md"]
    found = names(*pages, *docs.glob("tutorials/*.md"), *docs.glob("how_to/*.md"))
    assert len(found) > 10
    assert {name.split(".")[1] for name in found} <= set(dir(lpcfg))
    for name in (each for each in found if each.count(".") > 1):
        # In a process for each: this one has imported more, and one name may help the next one.
        code = f"import lpcfg; {name}"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", names(REPOSITORY / "CHANGELOG.md"))
def test_names_of_the_changes_can_be_imported(name):
    pkgutil.resolve_name(name)


def test_names_of_extras_are_quoted():
    """Without quotes, zsh takes the brackets for a pattern."""
    for page in [*REPOSITORY.glob("*.md"), *REPOSITORY.glob("docs/**/*.md")]:
        extras = re.findall(r".?lpcfg\[\w+", page.read_text("utf-8"))
        assert [extra for extra in extras if not extra.startswith("'")] == [], page.name

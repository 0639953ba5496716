"""The paths that the pages for developers name are those of the repository."""

import re
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
PAGES = ("CONTRIBUTING.md", "docs/architecture.md", "docs/reproduction.md")
FOLDERS = ("python/", "rust/", "tests/", "benches/", "docs/")


def named_paths(page):
    text = (REPOSITORY / page).read_text(encoding="utf-8")
    spans = re.findall(r"`([\w./-]+)`", text) + re.findall(r"\]\(([\w./-]+)(?:#[\w-]+)?\)", text)
    # NAME stands for whatever the reader adds.
    return sorted({span for span in spans if span.startswith(FOLDERS) and "NAME" not in span})


@pytest.mark.parametrize("page", PAGES)
def test_paths_exist(page):
    found = named_paths(page)
    assert found
    assert [path for path in found if not (REPOSITORY / path).exists()] == []


def test_the_page_on_the_architecture_lists_all_packages():
    text = (REPOSITORY / "docs/architecture.md").read_text(encoding="utf-8")
    python = {path.parent.name for path in (REPOSITORY / "python/lpcfg").glob("*/__init__.py")}
    rust = {path.parent.name for path in (REPOSITORY / "rust/src").glob("*/mod.rs")}
    assert {name for name in python | rust if f"`{name}/`" not in text} == set()


def test_the_page_on_reproduction_lists_all_benches():
    benches = {f"benches/{path.name}" for path in (REPOSITORY / "benches").glob("*.*")}
    assert benches - set(named_paths("docs/reproduction.md")) == set()

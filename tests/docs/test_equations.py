import importlib
import re
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
TEXT = (REPOSITORY / "docs" / "equations.md").read_text(encoding="utf-8")
METHODS = (REPOSITORY / "docs" / "methods.md").read_text(encoding="utf-8")
PYTHON = sorted(set(re.findall(r"`(lpcfg\.[\w.]+)`", TEXT + METHODS)))
RUST = sorted(set(re.findall(r"`(rust/src/[\w/]+\.rs)(?:::(\w+))?`", TEXT + METHODS)))


def test_all_places_are_found_in_the_page():
    assert len(PYTHON) > 50
    assert len(RUST) > 10
    # Every row of a table names a place.
    rows = [line for line in TEXT.splitlines() if line.startswith("| ")]
    named = [line for line in rows if "`lpcfg." in line or "`rust/" in line]
    headers = [line for line in rows if line.endswith("| where |")]
    assert len(rows) == len(named) + len(headers)


def test_every_method_has_a_formula_and_its_code():
    _, *sections = re.split(r"^## ", METHODS, flags=re.MULTILINE)
    assert len(sections) > 8
    for section in sections:
        assert "$" in section, section.splitlines()[0]
        assert "`lpcfg." in section or "`rust/" in section, section.splitlines()[0]


@pytest.mark.parametrize("name", PYTHON)
def test_python_names_exist(name):
    parts = name.split(".")
    for split in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:split]))
        except ModuleNotFoundError:
            continue
        for attribute in parts[split:]:
            found = getattr(found, attribute)
        return
    pytest.fail(f"there is no module {name}")


@pytest.mark.parametrize(("file", "function"), RUST)
def test_rust_names_exist(file, function):
    source = (REPOSITORY / file).read_text(encoding="utf-8")
    assert not function or re.search(rf"\bfn {function}\b", source)

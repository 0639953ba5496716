"""Rules of the source tree that neither ruff nor import-linter can check."""

import ast
import importlib
import pkgutil
from pathlib import Path

import lpcfg

REPOSITORY = Path(__file__).parents[1]
PACKAGE = REPOSITORY / "python" / "lpcfg"
SOURCES = [
    path
    for folder in ("python", "tests", "benches", "rust/src", "rust/tests")
    for path in sorted((REPOSITORY / folder).rglob("*"))
    if path.suffix in {".py", ".rs"}
]
MOST_LINES = 400
#: Folders of tests that are about no single package.
OTHER_TESTS = {"core", "docs", "fuzz", "support"}


def relative(path):
    return path.relative_to(REPOSITORY).as_posix()


def imported(path):
    """The dotted names that a Python file imports, anywhere in it."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{relative(path)}:{node.lineno} has a relative import"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def enclosing_packages(path):
    """The packages that a file is in, from the innermost to the outermost."""
    folders = [folder for folder in path.parents if PACKAGE.parent in folder.parents]
    return [".".join(folder.relative_to(PACKAGE.parent).parts) for folder in folders]


def private_owner(name):
    """The package whose underscore module a dotted name leads to or into, or None."""
    parts = name.split(".")
    for place, part in enumerate(parts):
        if parts[0] == "lpcfg" and part.startswith("_") and not part.startswith("__"):
            return ".".join(parts[:place])
    return None


def test_underscore_modules_are_found_in_dotted_names():
    assert private_owner("lpcfg.reranking._model.RerankerModel") == "lpcfg.reranking"
    assert private_owner("lpcfg._core") == "lpcfg"
    assert private_owner("lpcfg.__version__") is None
    assert private_owner("numpy._core") is None


def test_underscore_modules_are_imported_within_their_package_only():
    """Tests are free to look inside."""
    violations = [
        f"{relative(path)} imports {name}"
        for path in SOURCES
        if path.suffix == ".py" and not relative(path).startswith("tests/")
        for name in imported(path)
        if (owner := private_owner(name)) is not None and owner not in enclosing_packages(path)
    ]
    assert violations == []


def test_no_source_file_is_long():
    lengths = {relative(path): len(path.read_text("utf-8").splitlines()) for path in SOURCES}
    assert {path: lines for path, lines in lengths.items() if lines > MOST_LINES} == {}


def packages():
    found = pkgutil.walk_packages(lpcfg.__path__, "lpcfg.")
    return ["lpcfg", *(module.name for module in found if module.ispkg)]


def test_every_package_says_what_is_in_it():
    assert [name for name in packages() if not importlib.import_module(name).__doc__] == []


def test_every_public_name_can_be_imported_and_is_documented():
    names = set(lpcfg.__all__) - {"__version__"}
    assert names
    documentation = {name: getattr(lpcfg, name).__doc__ or "" for name in names}
    # A dataclass or a named tuple without a docstring gets its signature for one.
    undocumented = {
        name for name, text in documentation.items() if not text or text.startswith(f"{name}(")
    }
    assert undocumented == set()


def test_every_public_name_is_listed_under_itself():
    """``from .tree import Tree as Tree`` is how a stub says that a name is public."""
    listed = ast.parse((PACKAGE / "__init__.pyi").read_text("utf-8")).body
    assert listed
    for statement in listed:
        assert isinstance(statement, ast.ImportFrom)
        assert all(alias.name == alias.asname for alias in statement.names)


def test_tests_mirror_the_packages():
    tested = {path.name for path in (REPOSITORY / "tests").iterdir() if any(path.glob("test_*.py"))}
    assert tested - OTHER_TESTS == {path.parent.name for path in PACKAGE.glob("*/__init__.py")}

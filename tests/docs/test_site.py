"""The documentation site: it is built without a warning, and describes every public name."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import lpcfg
from lpcfg.cli.main import TASKS

REPOSITORY = Path(__file__).parents[2]
REFERENCE = REPOSITORY / "docs" / "reference"


def test_every_public_name_is_in_the_reference():
    described = {
        name.rsplit(".", 1)[-1]
        for page in REFERENCE.glob("*.md")
        for name in re.findall(r"^::: lpcfg\.([\w.]+)$", page.read_text("utf-8"), re.MULTILINE)
    }
    public = {
        name
        for name in lpcfg.__all__
        if not name.startswith("_") and not hasattr(getattr(lpcfg, name), "__path__")
    }
    assert public - described - {"errors"} == set()


@pytest.mark.slow
def test_site_is_built_without_warnings(tmp_path):
    # In the configuration, warnings are errors.
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--quiet", "--site-dir", tmp_path],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    commands = (tmp_path / "reference" / "commands" / "index.html").read_text("utf-8")
    for group in TASKS.values():
        for name in group:
            assert f"usage: lpcfg {name}" in commands
    estimators = (tmp_path / "reference" / "estimators" / "index.html").read_text("utf-8")
    assert lpcfg.SpectralEstimator.parameters()["ridge"].help.split(";")[0] in estimators
    methods = (tmp_path / "methods" / "index.html").read_text("utf-8")
    assert methods.count('<math xmlns="http://www.w3.org/1998/Math/MathML" display="block">') > 15
    assert "$" not in re.sub(r"<(script|style|code).*?</\1>", "", methods, flags=re.DOTALL)
    # Nothing is loaded from another host.
    for page in tmp_path.rglob("*.html"):
        assert not re.search(r'<(script|link|img)[^>]+(src|href)="https?:', page.read_text("utf-8"))

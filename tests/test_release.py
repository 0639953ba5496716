"""What a release is made with: metadata, the scripts in ``.ci`` and the workflow."""

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[1]


def test_metadata_are_complete():
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["authors"]
    assert project["license"] == "MIT"
    for name in project["license-files"]:
        assert (REPOSITORY / name).is_file()
    oldest = re.fullmatch(r">=3\.(\d+)", project["requires-python"])[1]
    versions = re.findall(r"Python :: 3\.(\d+)", " ".join(project["classifiers"]))
    assert versions[0] == oldest
    # Each extra that a message names exists, and what tests need includes all of them.
    extras = project["optional-dependencies"]
    texts = [path.read_text("utf-8") for path in (REPOSITORY / "python").rglob("*.py")]
    named = set(re.findall(r"lpcfg\[(\w+)\]'", " ".join(texts))) | set(
        re.findall(r'extra="(\w+)"', " ".join(texts))
    )
    assert named <= set(extras)


def test_addresses_of_a_repository_are_added_once(tmp_path):
    (tmp_path / ".ci").mkdir()
    script = shutil.copy(REPOSITORY / ".ci" / "project_urls", tmp_path / ".ci")
    shutil.copy(REPOSITORY / "pyproject.toml", tmp_path)

    def run(*arguments):
        return subprocess.run([sys.executable, script, *arguments], capture_output=True, text=True)

    assert run().returncode != 0
    done = run("https://example.org/owner/lpcfg/")
    assert done.returncode == 0, done.stderr
    project = tomllib.loads((tmp_path / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["urls"]["Source"] == "https://example.org/owner/lpcfg"
    assert project["optional-dependencies"]["text"]
    assert "already" in run("https://example.org/owner/lpcfg").stderr


def test_the_workflow_builds_for_all_systems_with_scripts_that_exist():
    yaml = pytest.importorskip("yaml")
    text = (REPOSITORY / ".github" / "workflows" / "release.yml").read_text("utf-8")
    jobs = yaml.safe_load(text)["jobs"]
    targets = {row["target"] for row in jobs["wheels"]["strategy"]["matrix"]["include"]}
    for system in ("linux", "apple", "windows"):
        assert any(system in target for target in targets)
    assert set(jobs["publish"]["needs"]) == {"wheels", "source"}
    for script in re.findall(r"\.ci/\w+", text):
        assert (REPOSITORY / script).is_file(), script

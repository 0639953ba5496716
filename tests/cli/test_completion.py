"""``lpcfg completion``: its script is run by a real shell."""

import shutil
import subprocess
import sys

import pytest

from lpcfg.cli.main import TASKS, main

COMMANDS = [name for group in TASKS.values() for name in group]


@pytest.fixture(scope="module")
def script(tmp_path_factory):
    done = subprocess.run(
        [sys.executable, "-m", "lpcfg", "completion", "bash"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    path = tmp_path_factory.mktemp("completion") / "lpcfg.bash"
    path.write_text(done.stdout, "utf-8")
    return path


def completed(script, *words):
    """What bash offers for the last of the words."""
    listed = " ".join(f"'{word}'" for word in words)
    commands = (
        f"source {script}; COMP_WORDS=({listed}); COMP_CWORD={len(words) - 1}; "
        "compopt() { :; }; "
        f"_shtab_lpcfg lpcfg '{words[-1]}' '{words[-2]}'; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    )
    done = subprocess.run(
        ["bash", "-c", commands], capture_output=True, text=True, cwd=script.parent, check=True
    )
    return done.stdout.split()


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_bash_completes_commands_options_and_files(script):
    assert set(COMMANDS) <= set(completed(script, "lpcfg", ""))
    assert completed(script, "lpcfg", "tra") == ["train"]
    assert "--estimator" in completed(script, "lpcfg", "train", "--est")
    assert completed(script, "lpcfg", "parse", "--decoder", "max-re") == ["max-recall"]
    assert completed(script, "lpcfg", "tag", "app") == ["apply"]
    assert completed(script, "lpcfg", "show", "lpcfg.b") == ["lpcfg.bash"]


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_have_a_script(capsys, shell):
    assert main(["completion", shell]) == 0
    output = capsys.readouterr().out
    assert all(name in output for name in COMMANDS)

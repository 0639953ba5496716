"""``lpcfg train --preset``: what is refused before a treebank is read."""

import pytest


@pytest.mark.parametrize("more", [["--preset", "fast"], ["--unlabelled", "text.txt"]])
@pytest.mark.parametrize("seconds", ["-5", "nan", "inf", "soon"])
def test_seconds_of_a_search_are_checked_first(run, capsys, more, seconds):
    with pytest.raises(SystemExit):
        run("train", "missing.mrg", "-o", "one.lpcfg", *more, f"--search={seconds}")
    said = capsys.readouterr().err
    assert "argument --search: expected a" in said
    assert repr(seconds) in said

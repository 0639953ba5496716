import re

from lpcfg import load, read_trees
from lpcfg.cli.demo import main


def test_shows_every_step_and_keeps_the_files_on_request(tmp_path, capsys):
    assert main(["--output", str(tmp_path / "new" / "folder")]) == 0
    printed = capsys.readouterr().out
    for expected in ("$ lpcfg train", "$ lpcfg parse", "$ lpcfg eval", ">>> import lpcfg", "F1"):
        assert expected in printed
    assert "(NNP Dr.) (NNP Lee)" in printed
    assert re.search(r"http://127\.0\.0\.1:\d+/ answers 'Where did .*' with \(ROOT ", printed)
    folder = tmp_path / "new" / "folder"
    for name in ("trees.svg", "parse.svg"):
        assert (folder / name).read_text(encoding="utf-8").startswith("<svg")
    assert len(load(folder / "english.lpcfg").binary_rules) > 100
    gold, parsed = (list(read_trees(folder / name)) for name in ("held-out.mrg", "parsed.mrg"))
    assert [tree.words() for tree in parsed] == [tree.words() for tree in gold]


def test_leaves_nothing_behind_unasked(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.chdir(tmp_path)
    assert main([]) == 0
    assert "removed" in capsys.readouterr().out
    assert list(tmp_path.iterdir()) == []

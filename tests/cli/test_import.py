"""``lpcfg import``."""

import pytest

from lpcfg import load
from lpcfg.cli.main import main


def test_a_grammar_of_nltk_becomes_a_model(tmp_path, capsys):
    toy = tmp_path / "toy.pcfg"
    toy.write_text("S -> NP VP [1.0]\nNP -> 'it' [1.0]\nVP -> 'rains' [1.0]\n", "utf-8")
    model = tmp_path / "toy.lpcfg"
    assert main(["import", "nltk", str(toy), "-o", str(model)]) == 0
    said = capsys.readouterr().err
    assert "NLTK grammar: 3 symbols" in said
    assert "note: a sentence with a word that no rule has gets a fallback tree" in said
    assert load(model).provenance["file"] == "toy.pcfg"
    (tmp_path / "text").write_text("it rains\n", "utf-8")
    assert main(["parse", str(model), "-i", str(tmp_path / "text")]) == 0
    assert capsys.readouterr().out == "(S (NP it) (VP rains))\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["berkeley", "{file}"], "berkeley needs 2 files, not 1: lpcfg import berkeley GRAMMAR"),
        (["nltk", "{file}"], "wrong.txt:1:3: expected -> after the left side S"),
        (["rainbow", "{file}", "{file}"], "wrong.txt:1: not a line of a grammar of the Rainbow"),
        (["berkeley", "{file}", "{file}"], "wrong.txt:1: not a rule of the Berkeley parser"),
    ],
)
def test_errors_name_the_place_and_nothing_is_written(tmp_path, capsys, arguments, message):
    file, target = tmp_path / "wrong.txt", tmp_path / "new.lpcfg"
    file.write_text("S - NP\n", "utf-8")
    listed = [argument.format(file=file) for argument in arguments]
    assert main(["import", *listed, "-o", str(target)]) == 1
    assert message in capsys.readouterr().err
    assert not target.exists()

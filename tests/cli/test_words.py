"""``lpcfg words``, and training with its clusters."""

import pytest

from lpcfg import embedded_trees, load
from lpcfg.cli.main import main


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("words")
    trees = embedded_trees()
    lines = (" ".join(tree.words()) for tree in trees)
    (folder / "text.txt").write_text("\n".join(lines) + "\n", "utf-8")
    (folder / "trees.mrg").write_text("\n".join(map(str, trees[:150])) + "\n", "utf-8")
    options = ["--clusters", "4,8,16", "--dimensions", "8", "--min-count", "1", "-q"]
    target = str(folder / "words.lpcfg")
    assert main(["words", "train", str(folder / "text.txt"), "-o", target, *options]) == 0
    return folder


def test_clusters_of_text_and_of_trees(folder, tmp_path, capsys):
    target = tmp_path / "words.lpcfg"
    options = ["-o", str(target), "--clusters", "2,3,4", "--min-count", "1"]
    trees = str(folder / "trees.mrg")
    assert main(["words", "train", "--trees", trees, *options]) == 0
    assert f"saved to {target}" in capsys.readouterr().err
    both = ["words", "train", str(folder / "text.txt"), "--trees", trees, *options, "-q"]
    from_trees = load(target).counts_.sum()
    assert main(both) == 0
    assert load(target).counts_.sum() == from_trees + load(folder / "words.lpcfg").counts_.sum()


def test_show_words(folder, capsys):
    model = str(folder / "words.lpcfg")
    assert main(["words", "show", model]) == 0
    assert "clusters\n" in capsys.readouterr().out
    assert main(["words", "show", model, "dog", "xylophone", "-k", "2"]) == 0
    first, *neighbours, last = capsys.readouterr().out.splitlines()
    assert first.startswith("dog: clusters ")
    assert len(neighbours) == 2
    assert last.startswith("xylophone: not among the ")


def test_train_with_clusters(folder, tmp_path, capsys):
    target = str(tmp_path / "crf.lpcfg")
    arguments = ["train", str(folder / "trees.mrg"), "-o", target, "-q", "--estimator", "crf"]
    arguments += ["--epochs", "1", "--bits", "12"]
    words = str(folder / "words.lpcfg")
    assert main([*arguments, "--word-clusters", words]) == 0
    weights = load(target).crf_weights
    assert len(weights.cluster_words) == len(load(words).words_)
    assert main([*arguments, "--word-clusters", str(folder / "missing.lpcfg")]) == 1
    assert "missing.lpcfg" in capsys.readouterr().err


def test_train_with_clusters_of_unknown_words(folder, tmp_path, capsys):
    target, words = str(tmp_path / "pcfg.lpcfg"), str(folder / "words.lpcfg")
    arguments = ["train", str(folder / "trees.mrg"), "-o", target, "-q", "--estimator", "pcfg"]
    arguments += ["--unknown-word-clusters", words]
    assert main(arguments) == 1
    assert "--unknown-word-clusters: only a log-linear model has" in capsys.readouterr().err
    assert main([*arguments, "--unknown-words", "log-linear"]) == 0
    grammar = load(target)
    assert grammar.lexicon.tag_model.clustered.words == load(words).words_
    assert grammar.provenance["lexicon"]["word_clusters"] == load(words).provenance()


def test_train_a_preset_with_clusters(folder, tmp_path, capsys):
    target, words = tmp_path / "fast.lpcfg", folder / "words.lpcfg"
    arguments = ["train", str(folder / "trees.mrg"), "-o", str(target), "--preset", "fast", "-q"]
    assert main([*arguments, "--word-clusters", str(words)]) == 0
    assert load(target).provenance["word_clusters"] == load(words).provenance()
    assert main([*arguments, "--word-clusters", str(folder / "missing.lpcfg")]) == 1
    assert "missing.lpcfg" in capsys.readouterr().err

"""Several grammars in one parser; what they compute is checked in the core against brute force."""

import math
from dataclasses import replace

import numpy as np
import pytest

from lpcfg import (
    Grammar,
    InputError,
    ModelFileError,
    Parser,
    PCFGEstimator,
    Pruning,
    SpectralEstimator,
    Treebank,
    embedded_trees,
    load,
    save,
)
from lpcfg.cli.main import main
from lpcfg.parsing.options import COMBINATIONS

TREES = embedded_trees(130)
WORDS = [tree.words() for tree in TREES[100:]]
DECODERS = ("max-f1", "max-recall", "max-rule")


@pytest.fixture(scope="module")
def grammars() -> list[Grammar]:
    """One spectral grammar, and two that differ from it by noise."""
    estimator = SpectralEstimator(states=(3, 3))
    grammar = estimator.fit(Treebank.from_trees(TREES[:100])).grammar_
    generator = np.random.default_rng(0)

    def noisy(values):
        return values * generator.uniform(0.3, 1.7, len(values)).astype(np.float32)

    return [grammar] + [
        replace(grammar, latent=replace(grammar.latent, binary=noisy(grammar.latent.binary)))
        for _ in range(2)
    ]


@pytest.mark.parametrize("decoder", DECODERS)
@pytest.mark.parametrize("combine", COMBINATIONS)
def test_copies_of_a_grammar_answer_as_one_of_them(grammars, decoder, combine):
    one = list(Parser(grammars[0], decoder=decoder).analyze_many(words=WORDS))
    independent = Pruning(members=0.0)
    copies = Parser([grammars[0]] * 3, decoder=decoder, combine=combine, prune=independent)
    for expected, found in zip(one, copies.analyze_many(words=WORDS), strict=True):
        assert (found.tree, found.status) == (expected.tree, expected.status)
        assert found.sentence_log_probability == pytest.approx(expected.sentence_log_probability)
        assert found.log_probability == pytest.approx(expected.log_probability)
        assert np.allclose(
            [span.probability for span in found.spans],
            [span.probability for span in expected.spans],
        )


@pytest.mark.parametrize("combine", COMBINATIONS)
def test_the_first_grammar_prunes_for_the_others(grammars, combine):
    threshold = 0.02
    first = Parser(grammars[0])
    together = Parser(grammars, combine=combine, prune=Pruning(members=threshold))
    for words in WORDS:
        one, several = (parser.analyze(words=words, marginals=True) for parser in (first, together))
        known = {tuple(row)[:3]: row["probability"] for row in one.marginals}
        if one.status == several.status == "parsed":
            # A label is the sum over symbols, of which each must reach the threshold.
            assert all(known[tuple(row)[:3]] >= threshold for row in several.marginals)


@pytest.mark.parametrize("decoder", DECODERS)
@pytest.mark.parametrize("combine", COMBINATIONS)
def test_the_number_of_threads_changes_nothing(grammars, decoder, combine):
    def parses(n_jobs):
        parser = Parser(grammars, decoder=decoder, combine=combine, n_jobs=n_jobs)
        return list(parser.analyze_many(words=WORDS, candidates=3))

    assert parses(1) == parses(4)


def test_probabilities_are_means(grammars):
    alone = [list(Parser(g, prune=None).analyze_many(words=WORDS)) for g in grammars]
    together = list(Parser(grammars, prune=None).analyze_many(words=WORDS))
    complete = 0
    for *members, mixture in zip(*alone, together, strict=True):
        totals = [math.exp(member.sentence_log_probability) for member in members]
        assert (mixture.status == "parsed") == all(totals)
        if all(totals):
            complete += 1
            assert math.exp(mixture.sentence_log_probability) == pytest.approx(np.mean(totals))
            tables = [
                {(row["start"], row["end"], row["label"]): row["probability"] for row in table}
                for table in (
                    Parser(g, prune=None).marginals(words=mixture.tree.words()) for g in grammars
                )
            ]
            for span in mixture.spans:
                place = (span.start, span.end, span.label)
                mean = np.mean([table[place] for table in tables])
                assert span.probability == pytest.approx(mean, abs=1e-6)
    assert complete > len(WORDS) / 2


def test_every_combination_gives_several_trees(grammars):
    for combine in COMBINATIONS:
        for decoder in DECODERS:
            parser = Parser(grammars, decoder=decoder, combine=combine, prune=1e-6)
            parse = parser.analyze(words=WORDS[0], candidates=4)
            assert len({tree for tree, _ in parse.candidates}) == len(parse.candidates) > 1
            assert parse.tree == parse.candidates[0][0]


def test_a_parser_knows_its_grammars(grammars):
    parser = Parser(grammars)
    assert parser.grammars == tuple(grammars)
    assert parser.grammar is grammars[0]
    assert Parser(grammars[0]).grammars == (grammars[0],)
    assert repr(parser) == ("<Parser: 3 spectral grammars, decoder='max-f1', combine='posteriors'>")
    assert parser.summary().count("spectral grammar:") == 3


# What is refused


def test_grammars_that_cannot_parse_together(grammars):
    first = grammars[0]
    plain = PCFGEstimator().fit(Treebank.from_trees(TREES[:100])).grammar_
    other_trees = SpectralEstimator(states=(2, 2))
    other = other_trees.fit(Treebank.from_trees(TREES[50:120])).grammar_
    lexicon = first.lexicon
    rules = first.binary_rules.copy()
    rules[0] = rules[0][[0, 2, 1]]
    for strange, message in [
        ([], "a parser needs at least one grammar"),
        ([first, plain], "grammars 1 and 2 cannot parse together: not all have latent states"),
        ([plain, plain], "not all have latent states"),
        ([first, first, other], r"grammars 1 and 3 .*: only one of them has the symbols .* more; "),
        (
            [first, replace(first, binary_rules=rules)],
            r"only one of them has the rules \S+ -> \S+ \S+, \S+ -> \S+ \S+; train them",
        ),
        (
            [first, replace(first, lexicon=replace(lexicon, words=lexicon.words[::-1]))],
            "they have their words in different orders",
        ),
        (
            [first, replace(first, lexicon=replace(lexicon, lowercase_initial=False))],
            "different classes of unknown words",
        ),
    ]:
        with pytest.raises(InputError, match=message):
            Parser(strange)
    with pytest.raises(InputError, match="combine: must be one of posteriors, trees, not 'both'"):
        Parser(grammars, combine="both")
    with pytest.raises(InputError, match="viterbi"):
        Parser(grammars, decoder="viterbi")


# Folders of models


@pytest.fixture
def folder(grammars, tmp_path):
    """A folder of three models and other things, and a treebank beside it."""
    many = tmp_path / "many"
    many.mkdir()
    for number, grammar in enumerate(grammars):
        save(grammar, many / f"{number}.lpcfg")
    (many / "notes.txt").write_text("three models", "utf-8")
    (many / ".half-written.lpcfg").write_bytes((many / "0.lpcfg").read_bytes())
    (tmp_path / "gold.mrg").write_text("".join(f"{tree}\n" for tree in TREES[100:]), "utf-8")
    return many


def test_folders_of_models_are_loaded_in_order(grammars, folder):
    loaded = load(folder)
    assert len(loaded) == 3
    for grammar, expected in zip(loaded, grammars, strict=True):
        assert np.array_equal(grammar.latent.binary, expected.latent.binary)
    alone = load(folder / "1.lpcfg")
    assert np.array_equal(alone.latent.binary, grammars[1].latent.binary)


def test_a_folder_without_models_is_refused(tmp_path):
    with pytest.raises(ModelFileError, match="there are no model files in this folder"):
        load(tmp_path)
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "missing")


def test_a_damaged_model_in_a_folder_is_named(folder):
    (folder / "1.lpcfg").write_bytes(b"broken")
    with pytest.raises(ModelFileError, match=r"1\.lpcfg: this is no model file"):
        load(folder)
    assert main(["show", str(folder)]) == 1


def test_commands_take_folders(grammars, folder, capsys, tmp_path):
    gold = str(folder.parent / "gold.mrg")
    trees = tmp_path / "trees.mrg"
    for combine in COMBINATIONS:
        options = ["--combine", combine, "--decoder", "max-rule", "-q"]
        assert main(["eval", str(folder), gold, "-o", str(trees), *options]) == 0
        parser = Parser(grammars, decoder="max-rule", combine=combine)
        expected = [str(tree) for tree in parser.parse_many(words=WORDS)]
        assert trees.read_text("utf-8").splitlines() == expected
        sentences = tmp_path / "sentences.txt"
        sentences.write_text("".join(" ".join(words) + "\n" for words in WORDS), "utf-8")
        capsys.readouterr()
        assert main(["parse", str(folder), "-i", str(sentences), *options]) == 0
        assert capsys.readouterr().out.splitlines() == expected
    assert main(["show", str(folder)]) == 0
    assert capsys.readouterr().out.count("spectral grammar:") == 3

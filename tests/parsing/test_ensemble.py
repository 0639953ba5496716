"""Ensembles: several parsers combined, and how they are saved."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

import lpcfg
from lpcfg import Ensemble, InputError, ModelFileError, Parse, Parser, Tree, Treebank
from lpcfg.cli.main import main
from lpcfg.io.model_file import write_model_file
from lpcfg.parsing.base import BATCH, BaseParser, Tags
from lpcfg.parsing.marginals import (
    mean_marginals,
    span_probabilities,
    tree_marginals,
)
from lpcfg.reranking.candidates import SCORES, merge_candidates
from support.grammars import embedded_grammar

SENTENCE = ["The", "dog", "saw", "him", "with", "them", "."]


class Fixed(BaseParser):
    """Has the same trees for every sentence, and is sure of the first."""

    def __init__(
        self, *trees: str, status: str = "parsed", likely: float = -0.5, conditional: bool = False
    ) -> None:
        self.trees = [Tree.from_string(tree) for tree in trees]
        self.status, self.likely, self.conditional = status, likely, conditional

    @property
    def grammar(self) -> lpcfg.Grammar:
        return lpcfg.PCFGEstimator().fit(Treebank.from_trees(self.trees)).grammar_

    def analyze_many(
        self,
        tags: Iterable[Tags] | None = None,
        *,
        words: Iterable[Sequence[str]] | None = None,
        candidates: int = 1,
        marginals: bool = False,
        batch_size: int = BATCH,
    ) -> Iterator[Parse]:
        for _ in tags or words or ():
            yield Parse.from_candidates(
                [(tree, -1.0) for tree in self.trees[:candidates]],
                tree_marginals(self.trees[0]),
                status=self.status,
                sentence_log_probability=self.likely,
                conditional=self.conditional,
            )


HIGH = "(S (NP (X a)) (VP (X b) (NP (X c)) (PP (X d) (X e))))"
LOW = "(S (NP (X a)) (VP (X b) (NP (NP (X c)) (PP (X d) (X e)))))"
FLAT = "(S (NP (X a)) (X b) (NP (X c)) (PP (X d) (X e)))"


@pytest.mark.parametrize("combine", ["posteriors", "trees"])
def test_what_most_members_have_is_there(combine: str) -> None:
    ensemble = Ensemble([Fixed(HIGH), Fixed(LOW), Fixed(FLAT)], combine=combine)
    parse = ensemble.analyze(words=["a", "b", "c", "d", "e"])
    assert str(parse.tree) == HIGH
    assert {span.label: round(span.probability, 3) for span in parse.spans}["VP"] == 0.667
    assert parse.sentence_log_probability == pytest.approx(-0.5)
    heavy = Ensemble([Fixed(HIGH), Fixed(FLAT)], combine=combine, weights=[1, 3])
    assert str(heavy.parse(words=["a", "b", "c", "d", "e"])) == FLAT


def test_marginals_are_there_if_they_are_asked_for() -> None:
    ensemble = Ensemble([Fixed(HIGH), Fixed(LOW)])
    words = ["a", "b", "c", "d", "e"]
    without, asked = (ensemble.analyze(words=words, marginals=own) for own in (False, True))
    assert without.marginals is None
    assert asked.marginals is not None
    assert span_probabilities(asked.marginals)["NP", 2, 5, False] == 0.5
    assert without == asked
    (together,) = ensemble.analyze_with_members(words=[words])
    assert [parse.marginals is not None for parse in together] == [True] * 3


def test_descriptions_name_members_and_weights() -> None:
    ensemble = Ensemble([Fixed(HIGH), Fixed(LOW)], combine="trees", weights=[1, 3])
    assert repr(ensemble) == "<Ensemble: 2 members, combine='trees', weights=[1.0, 3.0]>"
    assert ensemble.summary().startswith("ensemble of 2 parsers by trees, weights 1, 3\n\npcfg")
    assert ensemble.tags == {"X"}


def test_trees_and_posteriors_differ() -> None:
    """A member whose tree is not what it believes in most."""

    class Unsure(Fixed):
        def analyze_many(self, *arguments: object, **options: object) -> Iterator[Parse]:
            for parse in super().analyze_many(*arguments, **options):  # type: ignore[arg-type]
                yield Parse.from_candidates(
                    parse.candidates,
                    tree_marginals(Tree.from_string(LOW)),
                    status="parsed",
                    sentence_log_probability=0.0,
                )

    members = [Unsure(HIGH), Unsure(HIGH), Fixed(LOW)]
    words = ["a", "b", "c", "d", "e"]
    assert str(Ensemble(members, combine="trees").parse(words=words)) == HIGH
    assert str(Ensemble(members, combine="posteriors").parse(words=words)) == LOW


def test_chains_are_in_the_order_of_the_members() -> None:
    chain = "(ROOT (S (VP (X a) (X b))))"
    ensemble = Ensemble([Fixed(chain), Fixed("(ROOT (VP (X a) (X b)))"), Fixed(chain)])
    assert str(ensemble.parse(words=["a", "b"])) == chain
    bare = Ensemble([Fixed("(X a)"), Fixed("(X a)"), Fixed("(S (X a))")])
    assert str(bare.parse(words=["a"])) == "(X a)"


def test_candidates_are_those_of_all_members() -> None:
    ensemble = Ensemble([Fixed(HIGH, FLAT), Fixed(LOW, HIGH), Fixed(HIGH)])
    parse = ensemble.analyze(words=["a", "b", "c", "d", "e"], candidates=5)
    assert [str(tree) for tree, _ in parse.candidates] == [HIGH, LOW, FLAT]
    assert len(ensemble.analyze(words=["a", "b", "c", "d", "e"], candidates=2).candidates) == 2


def test_a_tree_that_nobody_proposes_has_no_probability() -> None:
    other = "(S (NP (X a) (X b)) (VP (X c)))"
    members = [Fixed("(S (NP (X a) (X b)) (X c))"), Fixed("(S (X a) (X b) (VP (X c)))")]
    parse = Ensemble(members).analyze(words=["a", "b", "c"], candidates=3, marginals=True)
    assert str(parse.tree) == other
    assert [log_probability for _, log_probability in parse.candidates] == [None, -1.0, -1.0]
    assert parse.status == "combined"
    # A reranker has it as no more likely than the others.
    posteriors = merge_candidates([parse]).scores[:, SCORES.index("log posterior")]
    assert posteriors == pytest.approx([-0.5] * 3)


def test_members_with_fragments_are_left_out_if_there_are_others() -> None:
    broken = Fixed("(S (X a) (X b) (X c) (X d) (X e))", status="fragments")
    parse = Ensemble([broken, broken, Fixed(LOW)]).analyze(words=["a", "b", "c", "d", "e"])
    assert (str(parse.tree), parse.status) == (LOW, "fewer")
    parse = Ensemble([Fixed(LOW, status="fragments")]).analyze(words=["a", "b", "c", "d", "e"])
    assert (str(parse.tree), parse.status) == (LOW, "fragments")


def test_candidates_are_found_as_those_say_that_parsed() -> None:
    broken = Fixed("(S (X a) (X b) (X c) (X d) (X e))", status="fragments", likely=-90.0)
    members = [broken, Fixed(LOW), Fixed(HIGH, likely=-1.5)]
    parses = [own.analyze(words=["a", "b", "c", "d", "e"]) for own in members]
    parse = merge_candidates(parses).parse(np.zeros(3))
    assert parse.status == "fewer"
    mean = np.log((np.exp(-0.5) + np.exp(-1.5)) / 2)
    assert parse.sentence_log_probability == pytest.approx(mean)
    assert merge_candidates(parses[:1]).parse(np.zeros(1)).status == "fragments"


def test_sentences_are_as_likely_as_those_say_that_weigh_them() -> None:
    """To a model of trees given sentences, all of these are certain."""
    words = ["a", "b", "c", "d", "e"]
    certain, other = Fixed(LOW, likely=0.0, conditional=True), Fixed(HIGH, likely=-9.0)
    for members in ([certain, other], [Ensemble([certain]), Ensemble([certain, other])]):
        parse = Ensemble(members).analyze(words=words)
        assert (parse.sentence_log_probability, parse.conditional) == (pytest.approx(-9.0), False)
        parses = [own.analyze(words=words, marginals=True) for own in members]
        merged = merge_candidates(parses)
        parse = merged.parse(np.zeros(len(merged)))
        assert parse.sentence_log_probability == pytest.approx(-9.0)
    parse = Ensemble([certain, certain]).analyze(words=words)
    assert (parse.sentence_log_probability, parse.conditional) == (0.0, True)
    treebank = Treebank.from_trees(lpcfg.embedded_trees())
    span = lpcfg.CRFParser(epochs=0, bits=8).fit(treebank)
    assert span.analyze(words=SENTENCE).conditional


@pytest.fixture(scope="module")
def grammars() -> list[lpcfg.Grammar]:
    """Two pairs with a backbone each, and one without latent states."""
    trees = list(lpcfg.embedded_trees())
    right = Treebank.from_trees(trees)
    left = Treebank.from_trees(trees, transform=lpcfg.Transform(binarize="left"))
    latent = [
        lpcfg.SpectralEstimator(random_state=seed).fit(treebank).grammar_
        for seed in range(2)
        for treebank in (right, left)
    ]
    return [*latent, lpcfg.PCFGEstimator().fit(right).grammar_]


def test_grammars_with_one_backbone_share_a_parser(grammars: list[lpcfg.Grammar]) -> None:
    ensemble = Ensemble(grammars)
    assert ensemble.weights == [2, 2, 1]
    owned = [member.grammars for member in ensemble.members if isinstance(member, Parser)]
    assert owned == [(grammars[0], grammars[2]), (grammars[1], grammars[3]), (grammars[4],)]
    unequal = Ensemble(grammars, weights=[1, 1, 2, 1, 1])
    assert unequal.weights == [1, 2, 2, 1]


def test_marginals_are_means_over_grammars(grammars: list[lpcfg.Grammar]) -> None:
    found = span_probabilities(Ensemble(grammars[:3]).marginals(words=SENTENCE))
    right = Parser([grammars[0], grammars[2]]).marginals(words=SENTENCE)
    left = Parser(grammars[1]).marginals(words=SENTENCE)
    expected = span_probabilities(mean_marginals([right, left], [2, 1]))
    assert found == pytest.approx(expected)


def test_ensembles_do_not_depend_on_threads_or_batches(grammars: list[lpcfg.Grammar]) -> None:
    words = [tree.words() for tree in lpcfg.embedded_trees()][:30]
    one = list(Ensemble(grammars, n_jobs=1).analyze_many(words=words, batch_size=7))
    assert one == list(Ensemble(grammars, n_jobs=2).analyze_many(words=words))


@pytest.mark.slow
def test_hierarchies_are_saved_whole(grammars: list[lpcfg.Grammar], tmp_path: Path) -> None:
    treebank = Treebank.from_trees(lpcfg.embedded_trees())
    estimator = lpcfg.PCFGEstimator()
    left = lpcfg.Transformed(estimator, lpcfg.Transform(binarize="left"))
    reranker = lpcfg.Reranker([(estimator, left)], folds=2, candidates=4, min_count=1).fit(treebank)
    members = [reranker, Ensemble(grammars[:2], decoder="max-recall"), Parser(grammars[4])]
    ensemble = Ensemble(members, combine="trees", weights=[1, 2, 0.5])
    lpcfg.save(ensemble, tmp_path / "model")
    loaded = Parser.load(tmp_path / "model")
    assert loaded.summary().splitlines()[0] == ensemble.summary().splitlines()[0]
    words = [tree.words() for tree in lpcfg.embedded_trees()][:20]
    found = loaded.analyze_many(words=words, candidates=3)
    assert list(found) == list(ensemble.analyze_many(words=words, candidates=3))


def test_folders_of_different_grammars_parse_together(
    grammars: list[lpcfg.Grammar], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    models, treebank = tmp_path / "models", tmp_path / "trees.mrg"
    models.mkdir()
    for number, grammar in enumerate(grammars[:2]):
        lpcfg.save(grammar, models / f"{number}.lpcfg")
    trees = list(lpcfg.embedded_trees())[:10]
    treebank.write_text("".join(f"{tree}\n" for tree in trees), "utf-8")
    assert main(["eval", str(models), str(treebank), "--combine", "trees"]) == 0
    lpcfg.save(Ensemble(grammars[:2]), tmp_path / "ensemble")
    ensemble = str(tmp_path / "ensemble")
    assert main(["eval", ensemble, str(treebank)]) == 0
    assert main(["eval", ensemble, str(treebank), "--combine", "trees"]) == 1
    assert "leave out" in capsys.readouterr().err
    assert main(["show", ensemble]) == 0
    assert "ensemble of 2 parsers" in capsys.readouterr().out


def test_damaged_ensembles_are_refused(grammars: list[lpcfg.Grammar], tmp_path: Path) -> None:
    lpcfg.save(Ensemble(grammars[:1]), tmp_path)
    member = {"folder": "1", "options": {}}
    document = {"kind": "ensemble", "combine": "trees", "weights": [1.0], "members": [member]}
    write_model_file(tmp_path / "ensemble.lpcfg", {}, document)
    assert isinstance(Parser.load(tmp_path), Ensemble)
    for changed, message in [
        ({"kind": "reranker"}, "holds a reranker"),
        ({"members": [{"folder": "..", "options": {}}]}, "not a folder"),
        ({"members": ["1"]}, "not a folder"),
        ({"members": []}, "one or more members"),
        ({"weights": [1.0, 2.0]}, "weights"),
        ({"weights": ["much"]}, "much"),
        ({"combine": "somehow"}, "combine"),
        ({"members": [{"folder": "1", "options": {"wrong": 1}}]}, "wrong"),
        ({"members": [{"folder": "1", "options": {"memory": 1}}]}, "memory"),
        ({"members": [{"folder": "1", "options": {"decoder": []}}]}, "decoder"),
        ({"members": [{"folder": "1", "options": {"prune": "x"}}]}, "Pruning"),
    ]:
        write_model_file(tmp_path / "ensemble.lpcfg", {}, document | changed)
        with pytest.raises(ModelFileError, match=message):
            Parser.load(tmp_path)
    with pytest.raises(InputError, match="leave out decoder"):
        Parser.load(tmp_path, decoder="max-f1")


@pytest.mark.parametrize(
    ("members", "options", "message"),
    [
        ([], {}, "one or more members"),
        (Fixed(LOW).grammar, {}, "must be a list"),
        (["some.lpcfg"], {}, "member 1 must be a grammar or a parser"),
        ([Fixed(LOW)], {"weights": [0.0]}, "positive"),
        ([Fixed(LOW)], {"weights": [1.0, 1.0]}, "one for each"),
        ([Fixed(LOW)], {"combine": "votes"}, "posteriors, trees"),
    ],
)
def test_arguments_are_checked(
    members: list[Fixed], options: dict[str, object], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        Ensemble(members, **options)  # type: ignore[arg-type]


def test_what_cannot_be_saved_is_refused(grammars: list[lpcfg.Grammar], tmp_path: Path) -> None:
    with pytest.raises(InputError, match="Fixed"):
        lpcfg.save(Fixed(LOW), tmp_path)
    with pytest.raises(InputError, match="Fixed"):
        lpcfg.save(Ensemble([grammars[4], Ensemble([Fixed(LOW)])]), tmp_path / "model")
    assert not (tmp_path / "model").exists()


def test_nothing_is_saved_among_other_files(grammars: list[lpcfg.Grammar], tmp_path: Path) -> None:
    """What is left there of another parser would become part of this one."""
    treebank = Treebank.from_trees(lpcfg.embedded_trees())
    reranker = lpcfg.Reranker([lpcfg.PCFGEstimator()], folds=2, candidates=4).fit(treebank)
    together = Parser([grammars[0], grammars[2]])
    parsers = [Ensemble(grammars[:3]), Ensemble(grammars[:2]), together, reranker]
    lpcfg.save(parsers[0], tmp_path / "model")
    for parser in parsers:
        with pytest.raises(InputError, match="something already"):
            lpcfg.save(parser, tmp_path / "model")
    # One grammar is a file, and no file replaces a folder.
    with pytest.raises(IsADirectoryError):
        lpcfg.save(Parser(grammars[0]), tmp_path / "model")
    loaded = Parser.load(tmp_path / "model")
    assert isinstance(loaded, Ensemble)
    assert loaded.weights == [2, 1]


def test_networks_have_twice_the_weight_and_come_first_in_folders(tmp_path: Path) -> None:
    network, grammar = lpcfg.load("english"), embedded_grammar()
    assert Ensemble([grammar, network]).weights == [1.0, 2.0]
    assert Ensemble([Parser(network), Parser(grammar)]).weights == [2.0, 1.0]
    assert Ensemble([grammar, network], weights=[1, 1]).weights == [1.0, 1.0]
    lpcfg.save([grammar, network], tmp_path / "many")
    folder = Parser.load(tmp_path / "many")
    assert isinstance(folder, Ensemble)
    assert folder.weights == [2.0, 1.0]
    assert folder.grammar.neural_weights is not None

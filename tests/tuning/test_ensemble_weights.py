"""Weights of ensembles are learnt from trees, and are at least as good as those one would guess."""

import pytest

from lpcfg import Ensemble, Grammar, Parser, Tree, TreebankError, evaluate_parser
from lpcfg.evaluation.evalb_parameters import COLLINS
from lpcfg.tuning.ensemble_weights import learn_weights

#: Sentences of which three grammars know the right trees of some each.
GOLD = [
    Tree.from_string(text)
    for text in (
        "(S (T (X a) (X b)) (X c))",
        "(S (X a) (T (X b) (X c)))",
        "(S (T (X c) (X b)) (X a))",
        "(S (X b) (T (X b) (X b)))",
        "(S (T (X c) (X c)) (X c))",
    )
]


def grammar(left, right):
    """Prefers trees that branch to the left or to the right, with some probability."""
    return Parser(
        Grammar.from_string(
            f"S -> T X [{left}] | X T [{right}] \n T -> X X [1] \n"
            "X -> 'a' [.4] | 'b' [.3] | 'c' [.3]"
        ),
        n_jobs=1,
    )


@pytest.fixture(scope="module")
def ensemble():
    return Ensemble([grammar(0.9, 0.1), grammar(0.2, 0.8), grammar(0.4, 0.6)], n_jobs=1)


def test_f1_is_that_of_an_ensemble_with_these_weights(ensemble):
    found = learn_weights(ensemble, GOLD, rounds=4)
    chosen = [number for number, weight in enumerate(found.weights) if weight]
    same = Ensemble(
        [ensemble.members[number] for number in chosen],
        weights=[found.weights[number] for number in chosen],
        n_jobs=1,
    )
    assert evaluate_parser(same, GOLD).scores.f1 == found.f1
    assert evaluate_parser(ensemble, GOLD).scores.f1 == found.equal_f1
    for member, f1 in zip(ensemble.members, found.member_f1, strict=True):
        assert evaluate_parser(member, GOLD).scores.f1 == f1


def test_learnt_weights_are_no_worse_than_equal_ones_or_any_member(ensemble):
    for trees in (GOLD, GOLD[:2], GOLD[2:], GOLD[1:4]):
        found = learn_weights(ensemble, trees)
        assert found.f1 >= max(found.equal_f1, *found.member_f1)


def test_parameters_are_named_or_read_before_anything_is_parsed(ensemble, monkeypatch):
    assert learn_weights(ensemble, GOLD, parameters="collins") == learn_weights(
        ensemble, GOLD, parameters=COLLINS
    )
    monkeypatch.setattr(Ensemble, "member_columns", lambda *_: pytest.fail("was parsed"))
    with pytest.raises(FileNotFoundError):
        learn_weights(ensemble, GOLD, parameters="colins")


def test_members_that_do_not_help_are_left_out():
    right = [GOLD[1], GOLD[3]]
    members = [grammar(0.99, 0.01), grammar(0.01, 0.99), grammar(0.99, 0.01)]
    found = learn_weights(Ensemble(members, n_jobs=1), right)
    assert found.weights == (0, 1, 0)
    assert found.f1 == 100.0
    assert found.equal_f1 < 100.0


def test_batches_do_not_matter(ensemble, monkeypatch):
    once = learn_weights(ensemble, GOLD * 60)
    columns = ensemble.member_columns
    monkeypatch.setattr(ensemble, "member_columns", lambda words: columns(words, batch_size=7))
    assert learn_weights(ensemble, GOLD * 60) == once


def test_no_trees_are_an_error(ensemble):
    with pytest.raises(TreebankError, match="there are no trees to learn weights from"):
        learn_weights(ensemble, [])

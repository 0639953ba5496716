"""Classes of errors: trees with one error each, and every wrong bracket in exactly one class."""

import pytest
from hypothesis import given

from lpcfg.evaluation.bracketing import Bracketing
from lpcfg.evaluation.error_classes import classify_errors
from lpcfg.evaluation.evalb_parameters import NEW
from lpcfg.evaluation.strict import compare_strictly
from lpcfg.treebank.tree import Tree
from support.scoring_trees import gold_and_predicted


def errors(gold, predicted):
    return classify_errors(compare_strictly(Bracketing.of(gold), Bracketing.of(predicted), NEW))


@pytest.mark.parametrize(
    ("gold", "predicted", "expected"),
    [
        pytest.param(
            "(S (NP (N it)) (VP (V fell) (ADVP (R far))))",
            "(S (NP (N it)) (VP (V fell) (NP (R far))))",
            {"different label": 2},
            id="another label",
        ),
        pytest.param(
            "(S (NP (N it)) (VP (V is) (S (VP (V to) (V go)))))",
            "(S (NP (N it)) (VP (V is) (VP (V to) (V go))))",
            {"unary": 1},
            id="a missing unary node",
        ),
        pytest.param(
            "(S (NP (N it)) (VP (V fell)))",
            "(S (N it) (VP (V fell)))",
            {"single-word phrase": 1},
            id="a missing phrase over one word",
        ),
        pytest.param(
            "(VP (V saw) (NP (N it)) (PP (P with) (NP (N us))))",
            "(VP (V saw) (NP (NP (N it)) (PP (P with) (NP (N us)))))",
            {"PP attachment": 1},
            id="a prepositional phrase attached too low",
        ),
        pytest.param(
            "(VP (V knew) (NP (NP (D the) (N man)) (SBAR (W who) (V ran))))",
            "(VP (V knew) (NP (D the) (N man)) (SBAR (W who) (V ran)))",
            {"clause attachment": 1},
            id="a clause attached too high",
        ),
        pytest.param(
            "(S (VP (V go) (NP (N home))) (ADVP (R so) (R fast)))",
            "(S (VP (V go) (NP (N home)) (ADVP (R so) (R fast))))",
            {"ADVP/PRT attachment": 2},
            id="the same phrase is longer by an adverbial phrase",
        ),
        pytest.param(
            "(NP (NP (N men) (CC and) (N women)) (PP (P of) (NP (N rank))))",
            "(NP (N men) (CC and) (NP (NP (N women)) (PP (P of) (NP (N rank)))))",
            {"coordination": 1, "PP attachment": 1, "single-word phrase": 1},
            id="the scope of a coordination",
        ),
        pytest.param(
            "(NP (D the) (NML (N stock) (N market)) (N crash))",
            "(NP (D the) (N stock) (N market) (N crash))",
            {"NP structure": 1},
            id="a flat noun phrase",
        ),
        pytest.param("(S (A a) (X (B b) (C c)))", "(S (X (A a) (B b)) (C c))", {"other": 2}),
    ],
)
def test_errors_worked_out_by_hand(gold, predicted, expected):
    assert errors(Tree.from_string(gold), Tree.from_string(predicted)) == expected


@given(gold_and_predicted())
def test_each_wrong_bracket_has_one_class(pair):
    gold, predicted = pair
    result = compare_strictly(Bracketing.of(gold), Bracketing.of(predicted), NEW)
    wrong = len(result.gold) + len(result.predicted) - 2 * len(result.matched)
    if not result.failure:
        assert classify_errors(result).total() == wrong

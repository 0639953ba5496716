"""Scores: cases worked out by hand, sums of shards, and brute force on random trees."""

import json
import pickle
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lpcfg.errors import InputError
from lpcfg.evaluation.bracketing import Bracketing
from lpcfg.evaluation.counts import BracketCounts
from lpcfg.evaluation.evalb_parameters import COLLINS, NEW, EvalbParameters
from lpcfg.evaluation.scores import Failure, Scores, evaluate
from lpcfg.evaluation.strict import compare_strictly
from lpcfg.treebank.sentence_lines import read_sentence_lines
from lpcfg.treebank.tree import Tree
from support.scoring_trees import SHARED, gold_and_attempt, gold_and_predicted, quick

tree = Tree.from_string

GOLD = tree("(ROOT (S (NP (DT the) (NN rain)) (VP (VBD fell) (PRT (RP down))) (. .)))")
RIGHT = tree("(TOP (S (NP (DT the) (NN rain)) (VP (VBD fell) (ADVP (RP down))) (. .)))")
# One bracket has another label, one is missing, and the full stop is taken for a noun.
WRONG = tree("(S (NX (DT the) (NN rain)) (VP (VBD fell) (RP down)) (NN .))")
OTHER_WORDS = tree("(ROOT (S (NP (DT the) (NN snow)) (VP (VBD fell) (PRT (RP down))) (. .)))")
SHORTER = tree("(ROOT (NP (DT the) (NN rain) (. .)))")


def test_worked_out_by_hand():
    scores = evaluate([GOLD] * 5, [RIGHT, WRONG, None, OTHER_WORDS, SHORTER])
    # Gold: 5 x 4. Predicted: 4 + 3 + 0 + 4 + 1. Matched: 4 + 2 (S and VP).
    assert (scores.total.matched, scores.total.gold, scores.total.predicted) == (6, 20, 12)
    assert scores.precision == 50.0
    assert scores.recall == 30.0
    assert scores.f1 == pytest.approx(37.5)
    assert scores.unlabelled == BracketCounts(7, 20, 12)
    assert scores.exact_match == 20.0
    assert scores.coverage == 40.0
    assert (scores.total.words, scores.total.correct_tags) == (20, 8)
    assert scores.failures == (
        Failure(3, "there is no tree"),
        Failure(4, "word 2 is 'rain' in the gold tree and 'snow' in the predicted one"),
        Failure(5, "the gold tree has 5 words, the predicted one 3"),
    )
    assert scores.by_label == {
        "NP": BracketCounts(1, 5, 3),
        "NX": BracketCounts(0, 0, 1),
        "S": BracketCounts(2, 5, 3),
        "VP": BracketCounts(2, 5, 3),
        "ADVP/PRT": BracketCounts(1, 5, 2),
    }
    # EVALB drops the second for its full stop, and counts ROOT, which it need not find.
    assert (scores.evalb.sentences, scores.evalb.errors, scores.evalb.skips) == (5, 3, 1)
    assert (scores.evalb.matched, scores.evalb.gold, scores.evalb.predicted) == (4, 5, 4)


@pytest.mark.parametrize("predicted_root", ["(ROOT {})", "(TOP {})", "(S1 {})", "( {})", "{}"])
@pytest.mark.parametrize("gold_root", ["(ROOT {})", "(TOP {})", "( (ROOT {}))", "{}"])
@pytest.mark.parametrize("parameters", [NEW, COLLINS, EvalbParameters()])
def test_the_root_never_counts(gold_root, predicted_root, parameters):
    inner = "(S (NP (NN rain)) (VP (VBD fell)))"
    gold, predicted = tree(gold_root.format(inner)), tree(predicted_root.format(inner))
    scores = evaluate([gold], [predicted], parameters)
    assert (scores.total.matched, scores.total.gold, scores.total.predicted) == (3, 3, 3)


def test_a_root_label_inside_a_tree_counts():
    inside = tree("(S (ROOT (NN rain)) (VP (VBD fell)))")
    assert evaluate([inside], [inside]).total.gold == 3


def test_gold_tags_decide_what_is_punctuation():
    gold = tree("(ROOT (S (NP (NN rain)) (, ,) (VP (VBD fell))))")
    tagged_comma = tree("(ROOT (S (NP (NN rain) (NN ,)) (VP (VBD fell))))")
    deleted_word = tree("(ROOT (S (NP (. rain)) (, ,) (VP (VBD fell))))")
    for predicted, right_tags in ((tagged_comma, 2), (deleted_word, 1)):
        scores = evaluate([gold], [predicted])
        assert scores.f1 == scores.exact_match == scores.coverage == 100.0
        assert scores.total.correct_tags == right_tags
        assert scores.evalb.errors == 1


def test_traces_are_no_words():
    gold = tree("(ROOT (S (NP (-NONE- *)) (VP (VBD fell) (NP (-NONE- *T*)))))")
    predicted = tree("(ROOT (S (VP (VBD fell))))")
    assert evaluate([gold], [predicted]).exact_match == 100.0
    assert evaluate([predicted], [gold]).exact_match == 100.0
    assert evaluate([gold], [gold]).by_length["1-10"].words == 1


def test_punctuation_may_be_spelt_differently():
    gold, predicted = tree("(NP (`` ``) (NN rain))"), tree('(NP (`` ") (NN rain))')
    assert evaluate([gold], [predicted]).coverage == 100.0


def test_fragments():
    gold = tree("(ROOT (S (NP (NN rain)) (VP (VBD fell))))")
    scores = evaluate([gold], [[tree("(NP (NN rain))"), tree("(VBD fell)")]])
    assert (scores.total.matched, scores.total.gold, scores.total.predicted) == (1, 3, 1)


@pytest.mark.parametrize("nothing", [None, (), Tree("", []), Tree("", [Tree("", [])])])
def test_a_missing_tree_fails_unless_there_is_nothing_to_find(nothing):
    assert evaluate([GOLD], [nothing]).failures == (Failure(1, "there is no tree"),)
    assert evaluate([GOLD], [nothing]).f1 == 0.0
    assert evaluate([nothing], [nothing]).coverage == 100.0
    assert evaluate([nothing], [GOLD]).coverage == 0.0


def test_lengths():
    sentences = [Tree("NP", [Tree("NN", "a")] * size) for size in (1, 10, 11, 20, 21, 105)]
    by_length = evaluate(sentences, sentences).by_length
    assert {bucket: summary.sentences for bucket, summary in by_length.items()} == {
        "1-10": 2,
        "11-20": 2,
        "21-30": 1,
        "101-110": 1,
    }


def test_more_sentences_than_a_shard():
    scores = evaluate([GOLD] * 2500, [RIGHT] * 2499 + [None])
    assert scores.sentences == 2500
    assert scores.failures == (Failure(2500, "there is no tree"),)


def test_text_and_json():
    scores = evaluate([GOLD] * 8, [RIGHT, WRONG] + [None] * 6)
    text = str(scores)
    assert "coverage 25.00: 6 of 8 failed" in text
    assert "sentence 7: there is no tree\n  and 1 more" in text
    assert "sentence 8" not in text
    assert str(scores.by_label).splitlines()[1].split()[:4] == ["ADVP/PRT", "8", "1", "1"]
    assert str(scores.by_length).splitlines()[1].split()[:3] == ["1-10", "8", "6"]
    saved = json.loads(json.dumps(scores.to_dict(), allow_nan=False))
    assert saved["f1"] == scores.f1
    assert saved["evalb"]["errors"] == 1
    assert saved["evalb_cutoff_length"] == 40
    assert saved["by_label"]["NP"]["recall"] == 12.5
    assert saved["by_length"]["1-10"]["coverage"] == 25.0
    assert saved["failures"][0] == {"sentence": 3, "reason": "there is no tree"}


def test_empty_scores_print_and_save():
    assert "0 of 0 failed" in str(Scores())
    assert json.loads(json.dumps(Scores().to_dict()))["sentences"] == 0
    assert evaluate([], []) == Scores()
    assert str(Scores().by_label).split()[0] == "label"


def test_scores_of_different_parameters_do_not_add_up():
    with pytest.raises(InputError, match="different parameters"):
        evaluate([GOLD], [RIGHT], NEW) + evaluate([GOLD], [RIGHT], COLLINS)


def test_numbers_of_trees_must_agree():
    with pytest.raises(InputError, match="2 gold trees but 1 predicted"):
        evaluate([GOLD] * 2, [RIGHT])


def test_scores_travel_between_processes():
    scores = evaluate([GOLD] * 2, [WRONG, None])
    assert pickle.loads(pickle.dumps(scores)) == scores
    assert hash(scores) == hash(evaluate([GOLD] * 2, [WRONG, None]))


@pytest.mark.skipif(not SHARED.is_dir(), reason=f"needs the EVALB cases in {SHARED}")
def test_no_sentence_of_a_real_treebank_drops_out():
    gold, predicted = (read_sentence_lines(SHARED / f"gum200.{kind}") for kind in ("gld", "tst"))
    scores = evaluate(gold, predicted)
    assert (scores.evalb.errors, scores.coverage, scores.sentences) == (5, 100.0, 200)
    assert f"{scores.evalb.f1:.2f}" == "76.04"
    assert f"{scores.evalb_short.f1:.2f}" == "80.49"
    assert scores.total.gold > scores.evalb.gold


def score_pairs(pairs):
    return evaluate([gold for gold, _ in pairs], [predicted for _, predicted in pairs])


@quick
@given(st.lists(gold_and_attempt(), max_size=6), st.data())
def test_shards_add_up_in_any_grouping(pairs, data):
    first, second = sorted(data.draw(st.tuples(*[st.integers(0, len(pairs))] * 2)))
    whole = score_pairs(pairs)
    one, two, three = (
        score_pairs(shard) for shard in (pairs[:first], pairs[first:second], pairs[second:])
    )
    assert (one + two) + three == whole
    assert one + (two + three) == whole
    assert Scores() + whole == whole == whole + Scores()


@quick
@given(st.lists(gold_and_attempt(), max_size=5), st.data())
def test_the_order_of_sentences_does_not_matter(pairs, data):
    shuffled = data.draw(st.permutations(pairs))
    one, other = score_pairs(pairs).to_dict(), score_pairs(shuffled).to_dict()
    reasons = [sorted(f["reason"] for f in found.pop("failures")) for found in (one, other)]
    assert one == other
    assert reasons[0] == reasons[1]


@quick
@given(gold_and_predicted())
def test_a_tree_against_itself_is_perfect(pair):
    scores = evaluate(pair, pair)
    assert scores.coverage == scores.exact_match == 100.0
    assert scores.f1 == scores.unlabelled.f1 == (100.0 if scores.total.gold else 0.0)
    assert scores.total.correct_tags == scores.total.words
    assert scores.evalb.matched == scores.evalb.gold == scores.evalb.predicted
    assert scores.evalb.errors == 0


def naive_brackets(node, kept, position=0):
    """All brackets as (label, kept positions inside), and the next position; by recursion."""
    if node.word is not None:
        return [], {position} & kept, position + 1
    found, inside = [], set()
    for child in node.children:
        brackets, positions, position = naive_brackets(child, kept, position)
        found += brackets
        inside |= positions
    label = {"PRT": "ADVP/PRT", "ADVP": "ADVP/PRT", "NP-SBJ": "NP"}.get(node.label, node.label)
    if inside and label != "TOP":
        found.append((label, frozenset(inside)))
    return found, inside, position


@quick
@given(gold_and_predicted())
def test_matches_by_brute_force(pair):
    # Without traces, the words of both trees have the same positions.
    parameters = EvalbParameters(
        delete_labels=NEW.delete_labels, equivalent_labels=NEW.equivalent_labels
    )
    tags = enumerate(pair[0].tags())
    kept = {position for position, tag in tags if tag not in parameters.delete_labels}
    gold, _, _ = naive_brackets(pair[0], kept)
    predicted, _, _ = naive_brackets(pair[1], kept)
    result = compare_strictly(Bracketing.of(pair[0]), Bracketing.of(pair[1]), parameters)
    by_label = Counter(label for label, _ in (Counter(gold) & Counter(predicted)).elements())
    spans = [Counter(positions for _, positions in side) for side in (gold, predicted)]
    assert not result.failure
    assert Counter(label for _, _, label in result.matched) == by_label
    assert Counter(label for _, _, label in result.gold) == Counter(label for label, _ in gold)
    assert len(result.predicted) == len(predicted)
    assert result.unlabelled_matched == (spans[0] & spans[1]).total()


@quick
@given(gold_and_predicted(same_tags=True))
def test_where_evalb_drops_nothing_the_figures_agree(pair):
    scores = score_pairs([pair])
    if scores.evalb.valid:
        ours, evalb = scores.total, scores.evalb
        assert (ours.matched, ours.gold) == (evalb.matched, evalb.gold)
        assert (ours.predicted, ours.exact) == (evalb.predicted, evalb.exact)
        assert (ours.words, ours.correct_tags) == (evalb.words, evalb.correct_tags)

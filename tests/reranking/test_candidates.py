"""Candidate trees: their features, their brackets and the best of them."""

from __future__ import annotations

import lpcfg
from lpcfg import Tree
from lpcfg.evaluation.counts import BracketCounts
from lpcfg.reranking._features import extract_features
from lpcfg.reranking.candidates import candidate_brackets

FLAT = Tree.from_string(
    "(S (NP (DT the) (NN dog)) (VP (VBD saw) (NP (PRP it)) (PP (IN in) (NN May))))"
)
HIGH = Tree.from_string(
    "(S (NP (DT the) (NN dog)) (VP (VBD saw) (NP (PRP it))) (PP (IN in) (NN May)))"
)


def counts(trees: list[Tree]) -> list[dict[int, int]]:
    rows = extract_features([trees], n_jobs=1)
    return [
        dict(zip(rows.keys[a:b].tolist(), rows.counts[a:b].tolist(), strict=True))
        for a, b in zip(rows.offsets[:-1], rows.offsets[1:], strict=True)
    ]


def test_features_are_what_tells_trees_apart() -> None:
    flat, high, again = counts([FLAT, HIGH, FLAT])
    assert flat == again != high
    # The least count of each feature among the candidates is gone.
    for key in flat.keys() | high.keys():
        assert min(flat.get(key, 0), high.get(key, 0)) == 0
    assert counts([FLAT, FLAT]) == [{}, {}]


def test_features_do_not_depend_on_other_sentences_or_threads() -> None:
    alone = counts([FLAT, HIGH])
    others = [Tree.from_string("(X (Y y) (Z z))"), Tree.from_string("(X (Z y) (Y z))")]
    for threads in (1, 2):
        rows = extract_features([others, [FLAT, HIGH]], n_jobs=threads)
        for row, expected in zip((2, 3), alone, strict=True):
            bounds = slice(rows.offsets[row], rows.offsets[row + 1])
            found = zip(rows.keys[bounds].tolist(), rows.counts[bounds].tolist(), strict=True)
            assert dict(found) == expected


def test_deep_trees_have_features() -> None:
    deep, shallow = Tree("X", "x"), Tree("X", "x")
    for _ in range(5000):
        deep = Tree("Y", [deep])
    assert all(counts([deep, Tree("Y", [shallow])]))


def test_an_empty_list_of_candidates_has_no_rows() -> None:
    assert extract_features([]).offsets.tolist() == [0]


def test_no_choice_beats_the_oracle() -> None:
    wrong = Tree.from_string("(S (NP (DT the) (NN dog) (VBD saw)) (PRP it) (PP (IN in) (NN May)))")
    gold = [FLAT, HIGH]
    lists = [[wrong, HIGH], [wrong, FLAT]]
    oracle = lpcfg.oracle_f1(lists, gold)
    choices = [[a, b] for a in lists[0] for b in lists[1]]
    assert oracle == max(lpcfg.evaluate(gold, choice).f1 for choice in choices)
    assert lpcfg.oracle_f1([[wrong, FLAT], [HIGH]], gold) == 100.0


def test_where_nothing_is_right_the_oracle_takes_fewest_brackets() -> None:
    gold = Tree("ROOT", [Tree(".", ".")])
    wrong = Tree("ROOT", [Tree("X", [Tree(".", ".")])])
    wrongest = Tree("ROOT", [Tree("X", [Tree("Y", [Tree(".", ".")])])])
    right = [FLAT]
    lists = [[FLAT], [wrongest, wrong, gold]]
    assert lpcfg.oracle_f1(lists, [*right, gold]) == 100.0


def test_trees_without_brackets_that_count_are_equally_good() -> None:
    stop = Tree("ROOT", [Tree(".", ".")])
    first, second = candidate_brackets([stop, stop], stop)
    assert first == second == BracketCounts()

"""Maximal coverage, and the means of marginals that it is computed from."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lpcfg import Tree
from lpcfg.parsing._coverage import BRACKET_COST, Combination, coverage_gain
from lpcfg.parsing.marginals import (
    MarginalTable,
    NodeSpan,
    marginal_table,
    mean_marginals,
    node_spans,
    span_probabilities,
    tree_marginals,
)
from lpcfg.parsing.member_columns import MemberColumns
from lpcfg.parsing.parse import Parse, tree_from_spans
from lpcfg.parsing.tree_coverage import tree_coverage

#: Tags, of which ``A`` is a phrase label, too.
TAGS = frozenset("tA")


def table_of(rows: dict[NodeSpan, float]) -> MarginalTable:
    labels, starts, ends, preterminals = zip(*rows, strict=True) if rows else [()] * 4
    return marginal_table(starts, ends, labels, list(rows.values()), preterminals)


def member(table: MarginalTable, *trees: Tree, status: str = "parsed") -> MemberColumns:
    """A member that has the same table for each of several sentences, and these trees."""
    return MemberColumns.from_parses(
        [
            Parse.from_candidates(
                [(tree, -1.0)], table, sentence_log_probability=-0.5, status=status
            )
            for tree in trees
        ]
    )


def combined(members: list[MemberColumns]) -> Combination:
    return Combination(members, [1.0] * len(members), by_trees=False, n_jobs=1)


tables = st.dictionaries(
    st.tuples(
        st.sampled_from(["A", "AB", "C"]), st.integers(0, 2), st.integers(3, 4), st.booleans()
    ),
    st.floats(0, 1),
).map(table_of)


@given(st.lists(st.tuples(tables, st.floats(0.1, 3)), min_size=1, max_size=4))
def test_mean_marginals_are_weighted_means(members: list[tuple[np.ndarray, float]]) -> None:
    weights = [weight for _, weight in members]
    mean = span_probabilities(mean_marginals([table for table, _ in members], weights))
    every = [span_probabilities(table) for table, _ in members]
    assert mean.keys() == {span for table in every for span in table}
    for span, probability in mean.items():
        known = [table.get(span, 0.0) for table in every]
        assert probability == pytest.approx(np.average(known, weights=weights))


def random_tree(random: np.random.Generator, start: int, end: int, top: bool = True) -> Tree:
    """A tree over words that are called by their place, with some chains of labels."""
    if end - start == 1:
        tree = Tree(str(random.choice(sorted(TAGS))), str(start))
    else:
        split = int(random.integers(start + 1, end))
        parts = [random_tree(random, *span, top=False) for span in ((start, split), (split, end))]
        # A node without a label of its own leaves its children to its parent.
        children = [c for part in parts for c in (part.children if part.label == "-" else [part])]
        tree = Tree("-" if not top and random.random() < 0.4 else "A", children)
    for label in "BC":
        if tree.label != "-" and random.random() < 0.3:
            tree = Tree(label, [tree])
    return tree


@pytest.mark.parametrize("seed", range(25))
def test_no_tree_gains_more_than_the_covering_one(seed: int) -> None:
    random = np.random.default_rng(seed)
    words = int(random.integers(1, 5))
    trees = [random_tree(random, 0, words) for _ in range(2)]
    rows = {span for tree in trees for span in node_spans(tree)}
    rows |= {
        ("C", start, end, False)
        for start, end in itertools.combinations(range(words + 1), 2)
        if random.random() < 0.3
    }
    table = table_of(dict(zip(sorted(rows), random.random(len(rows)), strict=True)))
    probabilities = span_probabilities(table)
    found = tree_from_spans(
        combined([member(table, tree) for tree in trees]).nodes(0), trees[0].words()
    )
    if trees[0] == trees[1]:
        assert found == trees[0]
        return
    assert found.words() == trees[0].words()
    assert set(node_spans(found)) <= rows
    best = most_gain(probabilities, trees, words)
    assert coverage_gain(found, probabilities) == pytest.approx(best)
    for place, tag in enumerate(found.tags()):
        known = {other: probabilities.get((other, place, place + 1, True), 0) for other in TAGS}
        assert known[tag] == max(known.values())


def most_gain(probabilities: dict[NodeSpan, float], trees: list[Tree], words: int) -> float:
    """By trying every set of spans that do not cross, and every choice of labels for them."""
    choices: dict[tuple[int, int], set[tuple[str, ...]]] = {}
    for label, start, end, preterminal in probabilities:
        if end - start < words and not preterminal:
            choices.setdefault((start, end), set()).add((label,))
    for tree in trees:
        chains: dict[tuple[int, int], tuple[str, ...]] = {(0, words): ()}
        for label, start, end in tree.spans():
            chains[start, end] = (*chains.get((start, end), ()), label)
        for span, chain in chains.items():
            choices.setdefault(span, set()).add(chain)
    gains = {
        span: max(
            sum(probabilities.get((label, *span, False), 0) - BRACKET_COST for label in chain)
            for chain in chains
        )
        for span, chains in choices.items()
    }
    whole = gains.pop((0, words))
    best = 0.0
    for count in range(len(gains) + 1):
        for spans in itertools.combinations(gains, count):
            crossing = any(
                a < c < b < d or c < a < d < b
                for (a, b), (c, d) in itertools.combinations(spans, 2)
            )
            if not crossing:
                best = max(best, sum(gains[span] for span in spans))
    return whole + best


def test_chains_of_labels_are_scored_as_one() -> None:
    tree = Tree.from_string("(ROOT (S (t it) (u rained)))")
    gain = coverage_gain(tree, span_probabilities(tree_marginals(tree)))
    assert gain == pytest.approx(2 * (1 - BRACKET_COST))
    other = Tree.from_string("(ROOT (t it) (u rained))")
    found = combined([member(tree_marginals(tree), tree), member(tree_marginals(tree), other)])
    assert found.nodes(0)[:2] == [("ROOT", 0, 2), ("S", 0, 2)]


def test_a_word_without_a_probable_tag_has_that_of_the_first_tree() -> None:
    trees = [Tree.from_string(f"(S (t it) ({tag} rained))") for tag in ("u", "v")]
    rows = {("S", 0, 2, False): 1.0, ("t", 0, 1, True): 0.25, ("u", 0, 1, True): 0.75}
    found = combined([member(table_of(rows), tree) for tree in trees])
    assert found.nodes(0)[1:] == [("u", 0, 1), ("u", 1, 2)]


def test_means_are_those_of_the_members_that_are_used() -> None:
    one, two = (Tree.from_string(f"({label} (t ha))") for label in "SX")
    members = [member(tree_marginals(one), one, one), member(tree_marginals(two), two, two)]
    ignored = member(tree_marginals(two), two, two, status="fragments")
    first, second = combined(members).tables()
    assert span_probabilities(first) == span_probabilities(second)
    assert span_probabilities(first)["X", 0, 1, False] == 0.5
    assert ("X", 0, 1, False) not in span_probabilities(combined([members[0], ignored]).tables()[0])


def test_no_sentences_give_no_trees() -> None:
    assert tree_coverage([]) == []


def test_sentences_may_have_different_numbers_of_trees() -> None:
    one, two = (Tree.from_string(f"({label} (t ha))") for label in "SX")
    assert tree_coverage([[one], [two, two, one], [one, two]]) == [one, two, one]

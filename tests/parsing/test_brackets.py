"""Trees as text from the columns of the core: the same text as that of the trees."""

from hypothesis import given
from hypothesis import strategies as st

from lpcfg import Ensemble, Grammar, Parser
from lpcfg.parsing.parse import brackets_from_spans, tree_from_spans
from lpcfg.treebank.escaping import escape
from support.treebank_trees import trees

ODD = st.text(alphabet="a-(U+) \u00a0", max_size=4)
GRAMMAR = "S -> NP VP [0.9] | VP NP [0.1] \n NP -> 'it' | '(' \n VP -> 'rained' | 'VP'"
SENTENCES = [["it", "rained"], ["(", "snowed"], ["rained"] * 3]


@given(trees(ODD, ODD))
def test_text_is_that_of_the_tree(tree):
    spans = tree.spans(preterminals=True)
    assert tree_from_spans(spans, tree.words()) == tree
    labels, starts, ends = zip(*spans, strict=True)
    labels = [escape(label) for label in labels]
    assert brackets_from_spans(labels, starts, ends, tree.words()) == str(tree)


def test_parsers_write_the_trees_that_they_find():
    parser = Parser(Grammar.from_string(GRAMMAR))
    for one in (parser, Ensemble([parser, parser])):
        expected = [str(tree) for tree in one.parse_many(words=SENTENCES)]
        assert list(one.parse_to_brackets(words=SENTENCES)) == expected
        assert list(one.parse_to_brackets(words=iter(SENTENCES), batch_size=1)) == expected
        parses = one.analyze_many(words=SENTENCES)
        with_statuses = [(str(parse.tree), parse.status) for parse in parses]
        assert list(one.analyze_to_brackets(words=SENTENCES)) == with_statuses
    assert list(parser.parse_to_brackets([["NP", "VP"]])) == ["(S (NP NP) (VP VP))"]

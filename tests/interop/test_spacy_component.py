"""The component of spaCy pipelines against the parser that it uses."""

import pytest
import spacy
from spacy.tokens import Doc

from lpcfg import Parser, Tree
from lpcfg.errors import InputError
from lpcfg.text.penn import penn_words

TEXT = "The dog saw him.  It ran (away).\nShe said “no”."


@pytest.fixture(scope="module")
def nlp():
    pipeline = spacy.blank("en")
    pipeline.add_pipe("sentencizer")
    pipeline.add_pipe("lpcfg", config={"n_jobs": 1})
    return pipeline


@pytest.fixture(scope="module")
def doc(nlp):
    return nlp(TEXT)


def phrases(tree):
    return sorted(span for span in tree.spans() if span[0] != "ROOT")


def test_trees_are_those_of_the_parser(doc):
    parser = Parser.load("english", n_jobs=1)
    for sentence in doc.sents:
        words = [token.text for token in sentence if not token.is_space]
        tree = Tree.from_string(sentence._.parse_string, unescape=True)
        assert tree.words() == words
        # Quotes are spelt for the parser as its grammar knows them.
        spelt = penn_words(words, parser.grammar.lexicon)
        assert phrases(tree) == phrases(parser.parse(words=spelt))


def test_constituents_have_the_spans_and_labels_of_the_tree(doc):
    for sentence in doc.sents:
        tree = Tree.from_string(sentence._.parse_string)
        tokens = [token.i for token in sentence if not token.is_space]
        expected = sorted(
            (label, tokens[start], tokens[end - 1] + 1) for label, start, end in tree.spans()
        )
        found = sorted(
            (label, span.start, span.end)
            for span in sentence._.constituents
            for label in span._.labels
        )
        assert found == expected
        for span in sentence._.constituents:
            assert 0 <= span._.probability <= 1 + 1e-9
            below = Tree.from_string(span._.parse_string)
            assert len(below) == sum(not token.is_space for token in span)


def test_parents_and_children_belong_together(doc):
    for sentence in doc.sents:
        constituents = list(sentence._.constituents)
        assert constituents[0]._.parent is None
        for span in constituents:
            for child in span._.children:
                assert (child._.parent.start, child._.parent.end) == (span.start, span.end)
        children = sum(len(list(span._.children)) for span in constituents)
        assert children == len(constituents) - 1


def test_tokens_get_tags_and_attributes(doc):
    assert [token.tag_ for token in doc[:5]] == ["DT", "NN", "VBD", "PRP", "."]
    assert doc[0]._.parse_string == "(DT The)"
    assert doc[3]._.labels == ("NP",)
    assert doc[0]._.parent.text == "The dog"


def test_tags_of_earlier_components_can_be_kept_and_used(nlp):
    component = nlp.get_pipe("lpcfg")
    given = Doc(
        nlp.vocab, ["The", "saw", "saw"], tags=["DT", "NN", "x"], sent_starts=[True, False, False]
    )
    component.use_tags = True
    try:
        component(given)
    finally:
        component.use_tags = False
    assert given[1]._.parse_string == "(NN saw)"
    assert given[2].tag_ == "x"


def test_many_documents_give_the_same_as_one(nlp, doc):
    first, empty, second = nlp.pipe([TEXT, "", TEXT], batch_size=2)
    assert len(empty) == 0
    for other in (first, second):
        assert [s._.parse_string for s in other.sents] == [s._.parse_string for s in doc.sents]


def test_constituents_are_saved_with_the_document(nlp, doc):
    copy = Doc(nlp.vocab).from_bytes(doc.to_bytes())
    assert [s._.parse_string for s in copy.sents] == [s._.parse_string for s in doc.sents]


def test_errors_say_what_to_do(nlp, doc):
    with pytest.raises(InputError, match="span: 'dog saw' is no constituent"):
        _ = doc[1:3]._.labels
    bare = spacy.blank("en")
    bare.add_pipe("lpcfg", config={"n_jobs": 1})
    with pytest.raises(InputError, match="sentencizer"):
        bare("It ran.")
    with pytest.raises(InputError, match="was not parsed"):
        _ = nlp.make_doc("It ran.")[:2]._.labels

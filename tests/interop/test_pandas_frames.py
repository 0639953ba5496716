"""Tables of pandas against the objects that they are made of."""

import builtins

import numpy as np
import pytest

import lpcfg
from lpcfg.errors import InputError, MissingPackageError
from lpcfg.interop.pandas_frames import to_pandas
from support.grammars import embedded_grammar

SENTENCES = [["The", "dog", "saw", "him", "."], ["It", "ran", "."]]


@pytest.fixture(scope="module")
def parser():
    return lpcfg.Parser(embedded_grammar(), n_jobs=1)


def test_spans_have_a_row_each(parser):
    parses = list(parser.analyze_many(words=SENTENCES))
    frame = to_pandas(iter(parses))
    assert len(frame) == sum(len(parse.spans) for parse in parses)
    second = frame[frame.sentence == 1]
    columns = second[["label", "start", "end", "probability"]]
    assert [tuple(row) for row in columns.itertuples(index=False)] == list(parses[1].spans)
    tags = frame[frame.preterminal]
    assert tags.text.tolist() == [word for words in SENTENCES for word in words]
    assert to_pandas(parses[1]).equals(second.assign(sentence=0).reset_index(drop=True))


def test_spans_of_running_text_have_offsets():
    text = "The dog saw him. It ran."
    frame = to_pandas(lpcfg.Parser.load("english", n_jobs=1).parse_text(text))
    phrases = frame[(frame.label == "NP") & ~frame.preterminal]
    found = [text[row.text_start : row.text_end] for row in phrases.itertuples()]
    assert found == ["The dog", "him", "It"]


def test_marginals_keep_their_columns(parser):
    table = parser.marginals(words=SENTENCES[0])
    frame = to_pandas(table)
    assert list(frame) == list(table.dtype.names)
    assert np.array_equal(frame.probability, table["probability"])
    assert frame.label.tolist() == table["label"].tolist()


def test_scores_have_a_row_for_each_sentence_label_or_length():
    trees = lpcfg.embedded_trees(3)
    scores = lpcfg.evaluate(trees, [trees[0], None, trees[2]])
    frame = to_pandas(scores)
    assert frame.f1.tolist() == [100.0, 0.0, 100.0]
    assert frame.gold.sum() == scores.total.gold
    assert frame.length.tolist() == [len(tree) for tree in trees]
    labels = to_pandas(scores.by_label)
    assert labels.loc["NP", "recall"] == scores.by_label["NP"].recall
    assert to_pandas(scores.by_length).gold.sum() == scores.total.gold


def test_an_evaluation_is_its_scores(parser):
    evaluation = lpcfg.evaluate_parser(parser, lpcfg.embedded_trees(3))
    assert to_pandas(evaluation).equals(to_pandas(evaluation.scores))


@pytest.mark.parametrize("thing", [3, ["it"], np.zeros(3)])
def test_other_things_are_errors(thing):
    with pytest.raises(InputError, match="expected"):
        to_pandas(thing)


def test_without_pandas_the_error_names_the_extra(monkeypatch):
    real = builtins.__import__

    def without_pandas(name, *arguments, **options):
        if name == "pandas":
            raise ImportError(name)
        return real(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", without_pandas)
    with pytest.raises(MissingPackageError, match=r"lpcfg\[pandas\]"):
        to_pandas([])

"""The parser: what it takes, what it refuses, and what a parse has."""

import itertools
import math
import signal
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lpcfg import BaseParser, Ensemble, Grammar, InputError, Parser, Pruning, Tree
from lpcfg.parsing.options import DECODERS
from lpcfg.parsing.parse import tree_from_spans
from support.grammars import (
    AMBIGUOUS,
    WEATHER,
    embedded_grammar,
    labelled_spans,
    vocabulary_sentences,
)


def parser(text=WEATHER, **options):
    return Parser(Grammar.from_string(text), **options)


# What is parsed


def test_words_tags_or_both():
    weather = parser()
    assert str(weather.parse(words=["it", "rained"])) == "(S (NP it) (VP rained))"
    assert str(weather.parse(["NP", "VP"])) == "(S (NP NP) (VP VP))"
    assert str(weather.parse(["NP", "VP"], words=["it", "snowed"])) == "(S (NP it) (VP snowed))"


def test_tags_decide_between_the_readings_of_words():
    saw = parser("S -> N V | V N \n N -> 'saw' | 'duck' \n V -> 'saw' | 'duck'")
    words = ["saw", "duck"]
    assert str(saw.parse(["N", "V"], words=words)) == "(S (N saw) (V duck))"
    assert str(saw.parse(["V", "N"], words=words)) == "(S (V saw) (N duck))"


def test_a_tag_alone_stands_for_all_its_words():
    weather = parser()
    assert weather.analyze(["NP", "VP"]).sentence_log_probability == pytest.approx(0.0)
    by_words = weather.analyze(words=["it", "rained"])
    assert by_words.sentence_log_probability == pytest.approx(math.log(0.25))


def test_a_word_never_seen_with_its_tag_keeps_the_tag():
    parse = parser().analyze(["NP", "VP"], words=["rained", "thundered"])
    assert parse.status == "parsed"
    assert str(parse.tree) == "(S (NP rained) (VP thundered))"


def test_any_sequence_of_strings_is_a_sentence():
    expected = parser().parse(words=["it", "rained"])
    for words in (("it", "rained"), np.array(["it", "rained"]), iter(["it", "rained"])):
        assert parser().parse(words=words) == expected
    assert parser().parse(np.array(["NP", "VP"])).tags() == ["NP", "VP"]


# What is refused


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "give the tags of the sentences, their words, or both"),
        ({"words": []}, "sentence 1 is empty"),
        ({"tags": []}, "sentence 1 is empty"),
        (
            {"words": "it rained"},
            r"words: sentence 1 must be .*, not one string; .*'it rained'\.split\(\)",
        ),
        ({"tags": "NP VP"}, "tags: sentence 1 must be a sequence of strings, not one string"),
        ({"tags": ["NP"], "words": ["it", "rained"]}, "1 tags but 2 words"),
        ({"words": ["it", None]}, "words: sentence 1, token 2 must be a string, not None"),
        ({"words": b"it"}, "words: sentence 1, token 1 must be a string, not 105"),
    ],
)
def test_sentences_that_cannot_be_parsed(arguments, message):
    weather = parser()
    for method in (weather.parse, weather.analyze, weather.marginals):
        with pytest.raises(InputError, match=message):
            method(**arguments)


def test_an_unknown_tag_is_named_with_the_nearest_known_ones():
    learnt = Parser(embedded_grammar())
    with pytest.raises(InputError, match=r"sentence 1, token 2: .* no tag 'NNX'.* 'NN'"):
        learnt.parse(["DT", "NNX"])
    with pytest.raises(InputError, match="sentence 3, token 1: the grammar has no tag ''"):
        list(learnt.parse_many([["DT"], ["DT"], [""]], batch_size=1))


def test_words_in_the_place_of_tags_get_a_hint():
    with pytest.raises(InputError, match=r"no tag 'The'; did you mean words=\?"):
        Parser(embedded_grammar()).parse(["The", "dog", "saw", "him", "."])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"decoder": "best"},
            "decoder: must be one of max-f1, max-recall, max-rule, viterbi, not 'best'",
        ),
        ({"prune": 1.0}, "prune: the coarse threshold must be from 0 to below 1, not 1.0"),
        ({"prune": -0.1}, "not -0.1"),
        ({"prune": math.nan}, "not nan"),
        ({"prune": "much"}, "not 'much'"),
        ({"prune": Pruning(fine=2.0)}, "fine threshold"),
        ({"n_jobs": 0}, "n_jobs: must be a number of threads"),
        ({"n_jobs": -2}, "not -2"),
    ],
)
def test_options_that_make_no_sense(options, message):
    with pytest.raises(InputError, match=message) as caught:
        parser(**options)
    assert [caught.value.argument] == list(options)


def test_numbers_of_candidates_and_sizes_of_batches_start_at_one():
    with pytest.raises(
        InputError, match="candidates: must be an integer from 1 to 1000000000, not 0"
    ):
        parser().analyze(["NP", "VP"], candidates=0)
    with pytest.raises(
        InputError, match="candidates: must be an integer from 1 to 1000000000, not -1"
    ):
        parser().analyze_many([["NP", "VP"]], candidates=-1)
    with pytest.raises(
        InputError, match="batch_size: must be an integer from 1 to 1000000000, not 0"
    ):
        parser().parse_many([["NP", "VP"]], batch_size=0)


# What an analysis holds


def test_analysis_of_an_ambiguous_sentence():
    parse = parser(AMBIGUOUS, prune=None).analyze(words=["a"] * 4, candidates=10)
    assert parse.status == "parsed"
    one_tree = 0.4**3 * 0.6**4
    assert math.exp(parse.log_probability) == pytest.approx(one_tree)
    assert math.exp(parse.sentence_log_probability) == pytest.approx(5 * one_tree)
    assert len({tree for tree, _ in parse.candidates}) == len(parse.candidates) == 5
    assert parse.candidates[0] == (parse.tree, parse.log_probability)
    assert [span[:3] for span in parse.spans] == labelled_spans(parse.tree)
    assert parse.spans[0] == ("S", 0, 4, pytest.approx(1.0))


def test_one_candidate_is_the_tree():
    parse = parser().analyze(["NP", "VP"])
    assert parse.candidates == ((parse.tree, parse.log_probability),)


@pytest.mark.parametrize("decoder", DECODERS)
def test_candidates_are_distinct_and_probable_ones_come_first(decoder):
    learnt = Parser(embedded_grammar(), decoder=decoder)
    words = [
        "the",
        "old",
        "dog",
        "saw",
        "a",
        "bird",
        "with",
        "a",
        "key",
        "in",
        "the",
        "garden",
        ".",
    ]
    parse = learnt.analyze(words=words, candidates=20)
    assert parse.tree == learnt.parse(words=words)
    trees = [tree for tree, _ in parse.candidates]
    assert len(set(trees)) == len(trees) > 2
    assert all(tree.words() == words for tree in trees)
    scores = [score for _, score in parse.candidates]
    assert math.fsum(map(math.exp, scores)) <= math.exp(parse.sentence_log_probability) * (1 + 1e-9)
    if decoder == "viterbi":
        assert scores == sorted(scores, reverse=True)


def test_marginals_agree_with_analyses():
    learnt = Parser(embedded_grammar())
    words = ["the", "old", "dog", "saw", "a", "bird", "with", "a", "key", "."]
    table = learnt.marginals(words=words)
    assert table.dtype.names == ("start", "end", "label", "probability", "preterminal")
    found = {(label, start, end): p for start, end, label, p, _ in table.tolist()}
    assert len(found) == len(table)
    for span in learnt.analyze(words=words).spans:
        assert found[span[:3]] == span.probability
    assert found["ROOT", 0, len(words)] == pytest.approx(1.0)
    assert (table["probability"] <= 1 + 1e-9).all()
    assert (table["start"] >= 0).all()
    assert (table["start"] < table["end"]).all()
    assert (table["end"] <= len(words)).all()


@given(st.integers(1, 12), st.sampled_from([None, 1e-3]))
def test_a_span_of_a_binary_tree_has_one_label_at_most(length, prune):
    grammar = "S -> S T [0.2] | T S [0.1] | 'a' [0.7] \n T -> S S [0.5] | T T [0.1] | 'a' [0.4]"
    table = parser(grammar, prune=prune, n_jobs=1).marginals(words=["a"] * length)
    totals = {}
    for start, end, _, probability, _ in table.tolist():
        totals[start, end] = totals.get((start, end), 0.0) + probability
    assert max(totals.values()) <= 1 + 1e-9
    assert totals[0, length] == pytest.approx(1.0)
    for start in range(length):
        assert totals[start, start + 1] == pytest.approx(1.0)


def test_tree_from_spans_undoes_labelled_spans():
    for tree in ("(A b)", "(A (B (C d)))", "(A (B (C d) (E f)) (G h) (I (J (K l) (M n))))"):
        expected = Tree.from_string(tree)
        assert tree_from_spans(labelled_spans(expected), expected.words()) == expected


def test_a_parse_has_a_table_of_marginals_only_on_request():
    weather = parser()
    assert weather.analyze(words=["it", "rained"]).marginals is None
    tables = [
        parse.marginals.tolist()
        for parse in weather.analyze_many([["NP", "VP"], ["VP"], ["NP", "VP"]], marginals=True)
    ]
    whole = [(0, 1, "NP", 1.0, True), (1, 2, "VP", 1.0, True), (0, 2, "S", 1.0, False)]
    assert [sorted(table) for table in tables] == [sorted(whole), [], sorted(whole)]


def test_descriptions_are_short():
    assert repr(parser()) == "<Parser: hand-written grammar, decoder='max-f1'>"
    parse = parser().analyze(words=["it", "rained"])
    assert repr(parse) == (
        "Parse('(S (NP it) (VP rained))', status='parsed', log_probability=-1.38629)"
    )
    assert len(repr(parser(AMBIGUOUS).analyze(words=["a"] * 50))) < 130


def test_a_parser_of_ones_own_needs_a_grammar_and_analyze_many():
    class Incomplete(BaseParser):
        grammar = Grammar.from_string(WEATHER)

    with pytest.raises(TypeError, match="analyze_many"):
        Incomplete()

    class Delegating(Incomplete):
        def analyze_many(self, tags=None, **options):
            return Parser(self.grammar).analyze_many(tags, **options)

    own = Delegating()
    words = ["it", "rained"]
    assert str(own.parse(words=words)) == "(S (NP it) (VP rained))"
    assert own.tags == {"NP", "VP"}
    assert own.summary() == parser().summary()
    assert len(own.marginals(words=words)) == 3
    ((parse,),) = own.analyze_with_members(words=[words])
    assert parse.marginals is not None


# Many sentences


def endless(taken):
    for number in itertools.count():
        taken.append(number)
        yield ["it", "rained"] if number % 2 else ["she", "snowed"]


def test_many_sentences_are_taken_as_they_are_needed():
    taken = []
    trees = parser().parse_many(words=endless(taken), batch_size=3)
    assert taken == []
    assert [str(next(trees)) for _ in range(3)] == [
        "(S (NP she) (VP snowed))",
        "(S (NP it) (VP rained))",
        "(S (NP she) (VP snowed))",
    ]
    assert len(taken) == 3
    next(trees)
    assert len(taken) == 6


def test_no_sentences_give_no_trees():
    assert list(parser().parse_many([])) == []
    assert list(parser().analyze_many(words=iter(()))) == []


def test_arguments_are_checked_before_the_first_sentence_is_asked_for():
    with pytest.raises(InputError, match="give the tags of the sentences"):
        parser().analyze_many()


@pytest.mark.parametrize("missing", ["tags", "words"])
def test_as_many_sentences_of_tags_as_of_words(missing):
    given = {"tags": [["NP", "VP"]] * 3, "words": [["it", "rained"]] * 3}
    given[missing] = given[missing][:2]
    with pytest.raises(InputError, match=f"sentence 3: there are no {missing} for it"):
        list(parser().parse_many(given["tags"], words=given["words"]))


@pytest.mark.parametrize("batch_size", [1, 2, 3, 256])
@pytest.mark.parametrize("several", [False, True])
def test_an_error_arrives_after_all_parses_before_it(batch_size, several):
    def broken():
        yield from [["NP", "VP"]] * 3
        raise LookupError

    weather = Ensemble([parser(), parser()]) if several else parser()
    unknown = [*[["NP", "VP"]] * 3, ["NP", "X"], ["NP", "VP"]]
    for tags, error in (
        (broken(), LookupError),
        (unknown, InputError),
        (iter(unknown), InputError),
    ):
        found = []
        with pytest.raises(error):
            found.extend(weather.parse_many(tags, batch_size=batch_size))
        assert list(map(str, found)) == ["(S (NP NP) (VP VP))"] * 3


def test_brackets_are_escaped_as_in_treebanks():
    grammar = "S -> L N R \n L -> '-LRB-' \n R -> '-RRB-' \n N -> 'dog' | 'sun'"
    for words in (["(", "dog", ")"], ["-LRB-", "dog", "-RRB-"]):
        parse = parser(grammar).analyze(words=words)
        assert parse.status == "parsed"
        assert str(parse.tree) == "(S (L -LRB-) (N dog) (R -RRB-))"
        assert parse.tree == Tree.from_string(str(parse.tree))


def test_a_bad_sentence_is_named_by_its_number():
    sentences = [["it", "rained"]] * 5 + [[]]
    with pytest.raises(InputError, match="sentence 6 is empty"):
        list(parser().parse_many(words=sentences, batch_size=2))


@pytest.mark.parametrize("decoder", DECODERS)
def test_the_number_of_threads_and_the_batches_change_nothing(decoder):
    sentences = vocabulary_sentences([1, 7, 3, 12, 5, 20, 2, 9] * 2)
    expected = [
        Parser(embedded_grammar(), decoder=decoder, n_jobs=1).analyze(words=words, candidates=3)
        for words in sentences
    ]
    for n_jobs, batch_size in ((1, 256), (2, 5), (4, 256), (4, 3)):
        several = Parser(embedded_grammar(), decoder=decoder, n_jobs=n_jobs)
        parses = several.analyze_many(words=sentences, candidates=3, batch_size=batch_size)
        assert list(parses) == expected


@pytest.mark.parametrize("memory", [0, -1, 1.5, "1G", 1 << 63])
def test_memory_is_a_number_of_bytes(memory):
    with pytest.raises(InputError, match="memory: must be a positive number of bytes"):
        parser(memory=memory)


def test_interrupt_stops_a_long_parse():
    # With all of its rules over 16 symbols, and nothing pruned, this would take hours.
    program = textwrap.dedent("""
        import itertools
        from lpcfg import Grammar, Parser

        names = [f"N{number}" for number in range(16)]
        rules = [f"{a} -> {b} {c} [0.003]" for a, b, c in itertools.product(names, repeat=3)]
        rules += [f"{name} -> 'a' [0.1]" for name in names]
        parser = Parser(Grammar.from_string("\\n".join(rules)), prune=None)
        print("ready", flush=True)
        try:
            parser.parse(words=["a"] * 1000)
        except KeyboardInterrupt:
            print("stopped")
    """)
    process = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout.readline() == "ready\n"
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(timeout=1)
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=60)
    finally:
        process.kill()
    assert (output, errors, process.returncode) == ("stopped\n", "", 0)

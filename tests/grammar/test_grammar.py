"""Grammars: from text, from arrays, what they know of themselves, and what they refuse."""

import signal
import subprocess
import sys
import textwrap
from dataclasses import replace

import numpy as np
import pytest

from lpcfg import (
    Cleaning,
    Grammar,
    GrammarError,
    LpcfgError,
    Parser,
    PCFGEstimator,
    Symbol,
    Tree,
    Treebank,
)
from lpcfg.lexicon.lexicon import lexicon_from_entries
from support.grammars import WEATHER, embedded_grammar


def test_from_string():
    grammar = Grammar.from_string(WEATHER)
    assert [str(symbol) for symbol in grammar.symbols] == ["S", "NP", "VP"]
    assert grammar.roots.tolist() == [1, 0, 0]
    assert grammar.binary_rules.tolist() == [[0, 1, 2]]
    assert grammar.unary_rules.shape == (0, 2)
    assert grammar.lexicon.words == ("it", "she", "rained", "snowed")
    assert (grammar.labels, grammar.tags) == (("NP", "S", "VP"), ("NP", "VP"))
    assert grammar.tag_ids == {"NP": 0, "VP": 1}
    assert grammar.provenance["estimator"] == "hand-written"


def test_the_start_symbol_can_be_chosen():
    grammar = Grammar.from_string("S -> NP NP \n NP -> 'it' | NP NP", start="NP")
    assert str(Parser(grammar).parse(words=["it", "it"])) == "(NP (NP it) (NP it))"


def test_long_rules_and_unary_chains_are_restored_in_trees():
    grammar = Grammar.from_string(
        "S -> A B C D \n A -> X \n X -> 'a' \n B -> 'b' \n C -> 'c' \n D -> E \n E -> B C B"
    )
    tree = "(S (A (X a)) (B b) (C c) (D (E (B b) (C c) (B b))))"
    assert str(Parser(grammar).parse(words=list("abcbcb"))) == tree
    assert set(grammar.labels) == set("SABCDXE")


def test_unary_cycles_are_summed():
    grammar = Grammar.from_string("S -> A [0.5] | 'x' [0.5] \n A -> S [0.5] | 'y' [0.5]")
    parse = Parser(grammar, decoder="viterbi", prune=None).analyze(words=["x"])
    # A geometric series: 0.5 / (1 - 0.5 * 0.5).
    assert np.exp(parse.sentence_log_probability) == pytest.approx(2 / 3)
    assert str(parse.tree) == "(S x)"


def test_a_unary_cycle_that_never_ends_is_refused():
    """When the text is read, by the name of its symbol."""
    with pytest.raises(GrammarError, match="rules from symbol S form a cycle of probability one"):
        Grammar.from_string("S -> A \n A -> S")


def test_text_and_summary():
    grammar = embedded_grammar()
    assert len(repr(grammar)) < 200
    assert f"{len(grammar.binary_rules)} binary" in repr(grammar)
    assert repr(grammar.lexicon) == (
        f"<Lexicon: {len(grammar.lexicon.words)} words, {len(grammar.lexicon.classes)} classes of "
        f"unknown words, {len(grammar.lexicon.symbols)} entries>"
    )
    assert str(grammar).startswith("pcfg grammar: ")
    assert f"{len(grammar.symbols)} symbols" in str(grammar)
    summary = grammar.summary(limit=3).splitlines()
    assert summary[0] == str(grammar)
    assert "trees: 150" in summary
    assert any(line.startswith("transform: binarize right, horizontal 1") for line in summary)
    rules = summary[summary.index("most frequent rules:") + 1 :]
    assert len(rules) == 3
    assert all(" -> " in rule for rule in rules)


def test_a_grammar_remembers_the_cleaning_of_its_treebank():
    tree = Tree.from_string("(S (NP-SBJ (PRP we)) (VP (VBP sing)))")
    cleaning = Cleaning(root_label="TOP")
    treebank = Treebank.from_trees([tree], cleaning=cleaning)
    assert PCFGEstimator().fit(treebank).grammar_.cleaning == cleaning
    assert Grammar.from_string(WEATHER).cleaning == Cleaning()


def arrays(**changes):
    """A grammar of S -> A A and A -> 'a', with some fields changed."""
    symbols = (Symbol(("S",)), Symbol(("A",), preterminal=True))
    grammar = Grammar(
        symbols=symbols,
        roots=np.array([1.0, 0.0]),
        binary_rules=np.array([[0, 1, 1]], dtype=np.uint32),
        binary_probabilities=np.array([1.0]),
        unary_rules=np.empty((0, 2), dtype=np.uint32),
        unary_probabilities=np.empty(0),
        lexicon=lexicon_from_entries([(1, "a", 1.0)]),
    )
    return replace(grammar, **changes)


def test_from_arrays():
    assert str(Parser(arrays()).parse(words=["a", "a"])) == "(S (A a) (A a))"


def test_a_coarse_pass_over_one_class_changes_no_tree():
    coarse = arrays(coarse=np.array([0, 1], dtype=np.uint32), weights=np.array([1.0, 2.0]))
    assert str(Parser(coarse).parse(words=["a", "a"])) == "(S (A a) (A a))"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"roots": np.array([1.0])}, "only 1"),
        ({"roots": np.array([1.0, 0.0, 0.0])}, "expected 3"),
        ({"roots": np.array([0.0, 0.0])}, "no symbol has a positive root probability"),
        ({"roots": np.array([np.nan, 0.0])}, "root 0 has probability NaN"),
        ({"binary_rules": np.array([[0, 1, 2]], dtype=np.uint32)}, "symbol 2, but there are only"),
        ({"binary_probabilities": np.array([-1.0])}, "probability -1"),
        ({"binary_probabilities": np.array([1.0, 1.0])}, "shape"),
        ({"unary_rules": np.array([[0, 9]], dtype=np.uint32)}, "shape"),
        (
            {
                "unary_rules": np.array([[0, 9]], dtype=np.uint32),
                "unary_probabilities": np.array([1.0]),
            },
            "symbol 9",
        ),
        (
            {
                "binary_rules": np.array([[0, 1, 1], [0, 1, 1]], dtype=np.uint32),
                "binary_probabilities": np.array([0.5, 0.5]),
            },
            "repeats an earlier one",
        ),
        ({"lexicon": lexicon_from_entries([(7, "a", 1.0)])}, "symbol 7"),
        (
            {"coarse": np.array([0], dtype=np.uint32), "weights": np.array([1.0, 1.0])},
            "length 1, expected 2",
        ),
        (
            {"coarse": np.array([0, 1], dtype=np.uint32)},
            "coarse and weights must be given together",
        ),
    ],
)
def test_inconsistent_arrays_are_refused(changes, message):
    with pytest.raises(ValueError, match=message) as raised:
        Parser(arrays(**changes))
    # Wrong shapes are plain value errors; what is wrong with the content is a grammar's fault.
    assert isinstance(raised.value, LpcfgError) or type(raised.value) is ValueError


def test_impossible_emissions_are_refused():
    with pytest.raises(GrammarError, match="an emission has probability inf"):
        lexicon_from_entries([(1, "a", np.inf)])


def test_made_symbols_are_neither_roots_nor_preterminals():
    grammar = Grammar.from_string("S -> NP VP \n NP -> 'it' \n VP -> 'rained'")
    for row in range(2):
        symbols = list(grammar.symbols)
        symbols[row] = symbols[row]._replace(siblings=())
        with pytest.raises(GrammarError, match="is a binarisation symbol"):
            Parser(replace(grammar, symbols=tuple(symbols)))


def test_too_many_symbols_are_refused_before_memory_is_asked_for():
    grammar = Grammar.from_string("S -> NP VP \n NP -> 'it' \n VP -> 'rained'")
    many = 100_000 - len(grammar.symbols)
    symbols = (*grammar.symbols, *(Symbol((f"X{row}",)) for row in range(many)))
    roots = np.concatenate([grammar.roots, np.zeros(many)])
    with pytest.raises(GrammarError, match="too many"):
        Parser(replace(grammar, symbols=symbols, roots=roots))


def test_interrupt_stops_the_sums_of_unary_chains():
    # A cycle loses little, and each of many symbols has chains through it.
    program = textwrap.dedent("""
        from lpcfg import Grammar

        names = [f"N{number}" for number in range(2000)]
        rules = ["S -> A A [0.1]", "A -> B [0.9999]", "B -> A [0.9999]"]
        rules += [f"B -> {name} [0.000000001]" for name in names]
        rules += [f"{name} -> 'a' [0.1]" for name in names]
        print("ready", flush=True)
        try:
            Grammar.from_string("\\n".join(rules)).core
        except KeyboardInterrupt:
            print("stopped")
    """)
    process = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout.readline() == "ready\n"
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(timeout=2)
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=60)
    finally:
        process.kill()
    assert (output, errors, process.returncode) == ("stopped\n", "", 0)

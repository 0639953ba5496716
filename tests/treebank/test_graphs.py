"""NEGRA export and TIGER-XML: any tree comes back, phrases with gaps are raised and counted."""

import io
import warnings
from xml.sax.saxutils import quoteattr

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lpcfg.errors import TreebankError
from lpcfg.treebank.reader import ReadReport, TreebankWarning, read_trees
from lpcfg.treebank.tree import Tree
from lpcfg.treebank.treebank import Treebank
from support.treebank_trees import trees

GAPS = """#FORMAT 3
#BOT ORIGIN
0	own	example
#EOT ORIGIN
#BOS 1 0 0 0
Den		ART	Acc	NK	500	%% a comment
Regen		NN	Acc	NK	500
,		$,	--	--	0
hat		VAFIN	3.Sg	HD	502
niemand		PIS	Nom	SB	502
gesehen		VVPP	--	HD	501
.		$.	--	--	0
#500		NP	--	OA	501
#501		VP	--	OC	502
#502		S	--	--	0
#EOS 1
"""
RAISED = (
    "(ROOT (S (NP-OA (ART Den) (NN Regen)) ($, ,) (VAFIN hat) (PIS niemand) "
    "(VP-OC (VVPP gesehen))) ($. .))"
)
LABELS = st.text(alphabet="ABΩ", min_size=1, max_size=3)
WORDS = st.text(alphabet="abcß中<&\"'", min_size=1, max_size=4).map(lambda word: word + "x")


def graph_rows(tree):
    """Tokens and phrases below the root with the numbers of their parents, 0 for the root."""
    tokens, phrases = [], []

    def walk(node, parent):
        if node.word is not None:
            tokens.append((node.word, node.label, parent))
            return
        number = 500 + len(phrases)
        phrases.append((number, node.label, parent))
        for child in node.children:
            walk(child, number)

    for child in tree.children:
        walk(child, 0)
    return tokens, phrases


def as_export(forest, version):
    lines = [f"#FORMAT {version}"]
    lemma = "\tlemma" if version == 4 else ""
    dash = "\t--" if version == 4 else ""
    for number, tree in enumerate(forest):
        tokens, phrases = graph_rows(tree)
        lines.append(f"#BOS {number} 0 0 0")
        lines += [f"{word}{lemma}\t{tag}\t--\t--\t{parent}" for word, tag, parent in tokens]
        lines += [f"#{name}{dash}\t{label}\t--\t--\t{parent}" for name, label, parent in phrases]
        lines.append(f"#EOS {number}")
    return "\n".join(lines).encode()


def as_xml(forest, _version):
    sentences = []
    for number, tree in enumerate(forest):
        tokens, phrases = graph_rows(tree)
        edges = {name: "" for name, _, _ in phrases} | {0: ""}
        terminals = ""
        for position, (word, tag, parent) in enumerate(tokens):
            terminals += f'<t id="t{position}" word={quoteattr(word)} pos={quoteattr(tag)}/>'
            edges[parent] += f'<edge idref="t{position}" label="--"/>'
        for name, _, parent in phrases:
            edges[parent] += f'<edge idref="n{name}" label="--"/>'
        nodes = "".join(
            f'<nt id="n{name}" cat="{label}">{edges[name]}</nt>'
            for name, label, _ in [*phrases, (0, "VROOT", 0)]
        )
        sentences.append(
            f'<s id="s{number}"><graph root="n0"><terminals>{terminals}</terminals>'
            f"<nonterminals>{nodes}</nonterminals></graph></s>"
        )
    return f"<?xml version='1.0'?><corpus><body>{''.join(sentences)}</body></corpus>".encode()


@pytest.mark.parametrize(
    ("write", "version"),
    [(as_export, 3), (as_export, 4), (as_xml, None)],
    ids=["export-3", "export-4", "tiger-xml"],
)
@given(forest=st.lists(trees(LABELS, WORDS), min_size=1, max_size=4))
def test_trees_come_back(write, version, forest):
    forest = [Tree("ROOT", [tree]) for tree in forest]
    report = ReadReport()
    found = list(read_trees(io.BytesIO(write(forest, version)), style="auto", report=report))
    assert found == forest
    assert report.discontinuous == 0


def test_a_phrase_with_a_gap_keeps_its_head_and_punctuation_moves_down():
    report = ReadReport()
    [tree] = read_trees(io.BytesIO(GAPS.encode()), style="negra-export", report=report)
    assert str(tree) == RAISED
    assert report.discontinuous == 1
    assert str(report) == (
        "1 trees read in the style negra-export, 1 discontinuous constituents raised"
    )
    with pytest.warns(TreebankWarning, match="1 discontinuous constituents raised"):
        list(read_trees(io.BytesIO(GAPS.encode()), style="auto"))
    bank = Treebank.read(io.BytesIO(GAPS.encode()), style="auto", report=report)
    assert str(bank.trees()[0]).startswith("(ROOT (S (NP (ART Den)")


@given(st.data())
def test_any_graph_becomes_a_tree_with_all_words_in_order(data):
    """Each token and phrase has a random parent among the phrases that come after it."""
    n_phrases = data.draw(st.integers(1, 5))
    words = [f"w{number}" for number in range(data.draw(st.integers(1, 8)))]
    lines = ["#BOS 1 0 0 0"]
    for word in words:
        parent = data.draw(st.integers(0, n_phrases))
        lines.append(
            f"{word} T -- {data.draw(st.sampled_from(['HD', 'NK', '--']))} "
            f"{parent and 499 + parent}"
        )
    for phrase in range(n_phrases):
        parent = data.draw(st.integers(phrase + 1, n_phrases))
        lines.append(
            f"#{500 + phrase} P{phrase} -- -- {0 if parent == n_phrases else 500 + parent}"
        )
    lines.append("#EOS 1")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TreebankWarning)
        [tree] = read_trees(io.BytesIO("\n".join(lines).encode()), style="negra-export")
    assert tree.words() == words
    labels = [node.label for node in tree.nodes() if node.word is None]
    # No phrase is doubled, and those that are left had words.
    assert len(labels) == len(set(labels))


@pytest.mark.parametrize(
    ("text", "message", "line"),
    [
        ("#BOS 1\nRegen NN --\n#EOS 1", "expected word, tag, morphology, edge", 2),
        ("#BOS 1\nRegen NN -- -- 7\n#EOS 1", "the parent 7, which is no phrase", 1),
        ("#BOS 1\n#500 NP -- -- 0\n#500 NP -- -- 0\n#EOS 1", "are called 500", 3),
        ("#BOS 1\n#500 A -- -- 501\n#501 B -- -- 500\n#EOS 1", "form a cycle", 1),
        ("#BOS 1\nRegen NN -- -- 0\n", "a sentence without #EOS", 1),
        ("#FORMAT 3\nRegen NN -- -- 0\n", "a line outside sentences", 2),
    ],
)
def test_malformed_sentences_are_errors_or_skipped(text, message, line):
    with pytest.raises(TreebankError, match=message) as caught:
        list(read_trees(io.BytesIO(text.encode()), style="negra-export"))
    assert caught.value.line == line
    report = ReadReport()
    good = "\n#BOS 2\nRegen NN -- -- 0\n#EOS 2"
    options = {"style": "negra-export", "on_error": "skip", "report": report}
    found = list(read_trees(io.BytesIO((text + good).encode()), **options))
    assert list(map(str, found)) == ["(ROOT (NN Regen))"]
    assert report.skipped == 1
    assert message in report.errors[0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('<s id="s1"><t id="t1" pos="NN"/></s>', "sentence s1: <t> without the attribute word"),
        ('<s id="s1"><nt id="n1" cat="NP"><edge idref="t9"/></nt></s>', "leads to t9"),
        ("<corpus><s></corpus>", "not well-formed XML"),
    ],
)
def test_malformed_xml_is_an_error(text, message):
    with pytest.raises(TreebankError, match=message):
        list(read_trees(io.BytesIO(text.encode()), style="tiger-xml"))

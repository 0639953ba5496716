"""Grammars in the text format of the Rainbow parser."""

import numpy as np
import pytest

from lpcfg import (
    ClusteringEstimator,
    Parser,
    SpectralEstimator,
    Transform,
    Treebank,
    embedded_trees,
    import_rainbow,
    load,
    save,
)
from lpcfg.errors import InputError

SYMBOLS = "interminals S^g @S^g VP^g\npreterminals DT NN VBD NP^g|NNP .\n"
LATENT = """[sparse]
root S^g 2 2:0.75 1:0.25
term DT -> the 1 1:1
term NN -> dog 2 1:0.25
term NN -> NN 2 1:0.75 2:1
term VBD -> saw 1 1:0.5
term VBD -> VBD 1 1:0.5
term NP^g|NNP -> NNP 1 1:1
term . -> . 1 1:1
binary S^g -> @S^g . 2 1 1 1,1,1:1 2,1,1:1
binary @S^g -> NP^g|NNP VP^g 1 1 2 1,1,2:1
binary VP^g -> VBD NP^g|NNP 2 1 1 1,1,1:0.5 2,1,1:0.125
"""
PRUNE = """root S^g 1 1
term DT -> the 1 1
term NN -> dog 1 0.2
term NN -> NN 1 0.8
term VBD -> saw 1 0.5
term VBD -> VBD 1 0.5
term NP^g|NNP -> NNP 1 1
term . -> . 1 1
binary S^g -> @S^g . 1 1 1 1
binary @S^g -> NP^g|NNP VP^g 1 1 1 1
binary VP^g -> VBD NP^g|NNP 1 1 1 1
binary VP^g -> VBD NN 1 1 1 0
"""


def written(folder, latent=LATENT, prune=PRUNE):
    for name, text in (("latent.txt", latent), ("prune.txt", prune)):
        (folder / name).write_text(SYMBOLS + text, "utf-8")
    return folder / "latent.txt", folder / "prune.txt"


def test_it_parses_and_is_saved(tmp_path):
    save(import_rainbow(*written(tmp_path)), tmp_path / "small.lpcfg")
    parser = Parser(load(tmp_path / "small.lpcfg"), decoder="max-rule", prune=None)
    parse = parser.analyze(words=["Ada", "saw", "Kim", "."])
    assert str(parse.tree) == "(S (NP (NNP Ada)) (VP (VBD saw) (NP (NNP Kim))) (. .))"
    # All of S, then VP in its second state, then the word.
    assert np.exp(parse.sentence_log_probability) == pytest.approx(1.0 * 0.125 * 0.5, rel=1e-4)


def test_rules_without_latent_parameters_are_left_out_and_said(tmp_path):
    grammar = import_rainbow(*written(tmp_path))
    assert len(grammar.binary_rules) == 3
    assert any("1 binary rules have no latent" in note for note in grammar.provenance["notes"])


def test_negative_values_make_a_linear_grammar(tmp_path):
    assert import_rainbow(*written(tmp_path)).latent.kind == "probabilistic"
    turned = LATENT.replace("1,1,2:1", "1,1,2:-1").replace("2,1,1:0.125", "2,1,1:-0.125")
    assert import_rainbow(*written(tmp_path, turned)).latent.kind == "linear"


def test_a_grammar_without_latent_states_needs_no_other(tmp_path):
    latent, prune = written(tmp_path)
    assert import_rainbow(prune).latent is None
    with pytest.raises(InputError, match=r"latent\.txt has latent states; name the file without"):
        import_rainbow(latent)
    with pytest.raises(InputError, match=r"latent\.txt has latent states; the first file"):
        import_rainbow(prune, latent)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("term NN -> cat 2 3:0.5", "3 is outside the latent states"),
        ("term NN -> cat 3 3:0.5", "NN had 2 latent states before"),
        ("term XX -> cat 1 1:0.5", "XX is neither"),
        ("binary S^g -> DT", "too short"),
        ("binary S^g -> DT NN 2 1 2 0.5", "1 values instead of 4"),
        ("term NN cat 2 1:0.5 1", "no arrow"),
        ("lexical NN -> cat", "unknown word lexical"),
        ("term NN -> cat 2 1:inf", "not finite"),
        ("term NN -> cat two 1:1", "invalid literal"),
    ],
)
def test_other_lines_are_refused(tmp_path, line, reason):
    with pytest.raises(InputError, match=rf"latent\.txt:15: .*{reason}"):
        import_rainbow(*written(tmp_path, f"{LATENT}{line}\n"))


def test_other_files_are_refused(tmp_path):
    (tmp_path / "empty.txt").write_text("# nothing\n", "utf-8")
    with pytest.raises(InputError, match="no line that begins with root"):
        import_rainbow(tmp_path / "empty.txt")


def rainbow_text(grammar, latent, dense):
    """A grammar of ours in the format of the Rainbow parser; rare words need tag replacement."""
    states = grammar.latent.states if latent else np.ones(len(grammar.symbols), dtype=int)
    begins = np.concatenate([[0], np.cumsum(states)]).astype(int)

    def name(symbol):
        chain = "|".join(
            label if symbol.preterminal and place == len(symbol.labels) - 1 else label + "^g"
            for place, label in enumerate(symbol.labels)
        )
        return f"@{chain}" if symbol.is_binarization else chain

    def values(array):
        array = np.atleast_1d(array)
        if dense:
            return " ".join(repr(float(value)) for value in array.ravel())
        places = zip(*np.nonzero(array), strict=True)
        return " ".join(
            ",".join(str(axis + 1) for axis in place) + f":{float(array[place])!r}"
            for place in places
        )

    names = [name(symbol) for symbol in grammar.symbols]
    lines = [
        f"{kind} {' '.join(n for n, s in zip(names, grammar.symbols, strict=True) if s[3] == tag)}"
        for kind, tag in (("interminals", False), ("preterminals", True))
    ]
    for symbol, probability in enumerate(grammar.roots):
        if probability > 0:
            own = slice(begins[symbol], begins[symbol + 1])
            vector = grammar.latent.roots[own] if latent else probability
            lines.append(f"root {names[symbol]} {states[symbol]} {values(vector)}")
    lexicon, ratio_begins = grammar.lexicon, grammar.latent.ratio_offsets
    tags = [symbol.labels[-1] for symbol in grammar.symbols]
    known, listed = len(lexicon.words), set()
    for emission in range(len(lexicon.offsets) - 1):
        for entry in range(lexicon.offsets[emission], lexicon.offsets[emission + 1]):
            symbol, probability = lexicon.symbols[entry], lexicon.probabilities[entry]
            word = lexicon.words[emission] if emission < known else tags[symbol]
            if (symbol, word) in listed:
                continue
            listed.add((symbol, word))
            own = slice(*ratio_begins[grammar.latent.entry_ratios[entry] + np.arange(2)])
            ratio = grammar.latent.emission_ratios[own] if latent else 1.0
            lines.append(
                f"term {names[symbol]} -> {word} {states[symbol]} {values(ratio * probability)}"
            )
    tensors = grammar.latent.dense(grammar.binary_rules)
    starts = tensors.tensor_offsets(grammar.binary_rules)
    for row, rule in enumerate(grammar.binary_rules):
        shape = states[rule]
        tensor = grammar.binary_probabilities[row].reshape(1, 1, 1)
        if latent:
            tensor = tensors.binary[starts[row] : starts[row + 1]].reshape(shape)
        parent, left, right = (names[symbol] for symbol in rule)
        lines.append(
            f"binary {parent} -> {left} {right} {' '.join(map(str, shape))} {values(tensor)}"
        )
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(
    ("estimator", "dense"), [(ClusteringEstimator, False), (SpectralEstimator, True)]
)
def test_grammars_in_this_format_parse_as_the_grammars_they_were(tmp_path, estimator, dense):
    transform = Transform(binarize="left", horizontal=0, vertical=0)
    bank = Treebank.from_trees(embedded_trees(200), transform=transform)
    options = {"states": (3, 3), "min_count": 2, "full_count": 20, "random_state": 0}
    grammar = estimator(**options).fit(bank).grammar_
    (tmp_path / "latent.txt").write_text(rainbow_text(grammar, True, dense), "utf-8")
    (tmp_path / "prune.txt").write_text(rainbow_text(grammar, False, dense), "utf-8")
    imported = import_rainbow(tmp_path / "latent.txt", tmp_path / "prune.txt")
    assert imported.latent.kind == grammar.latent.kind
    sentences = [tree.words() for tree in embedded_trees(240)[200:]]
    known = [words for words in sentences if all(word in grammar.lexicon for word in words)]
    assert len(known) > 20
    parsers = [Parser(model, prune=None) for model in (grammar, imported)]
    for ours, theirs in zip(*(parser.analyze_many(words=known) for parser in parsers), strict=True):
        assert ours.tree == theirs.tree
        assert theirs.sentence_log_probability == pytest.approx(
            ours.sentence_log_probability, abs=1e-3
        )

"""Head rules that are learnt from a treebank, or read from a file."""

import numpy as np
import pytest

from lpcfg import (
    InputError,
    PCFGEstimator,
    Reranker,
    SpectralEstimator,
    Tree,
    Treebank,
    embedded_trees,
    load,
)
from lpcfg.treebank.head_rules import COLLINS, HeadRules, resolve_head_rules


def bank(*trees):
    return Treebank.from_trees([Tree.from_string(tree) for tree in trees])


def test_heads_are_learnt_on_both_sides():
    final = bank(
        "(IP (PP (NP (N a)) (P b)) (VB c))",
        "(IP (PP (NP (D d) (N a)) (P b)) (PP (NP (N a)) (P b)) (VB c))",
        "(IP (NP (N a)) (VB c))",
    )
    mirrored = bank(
        "(IP (VB c) (PP (P b) (NP (N a))))",
        "(IP (VB c) (PP (P b) (NP (N a))) (PP (P b) (NP (N a) (D d))))",
        "(IP (VB c) (NP (N a)))",
    )
    for treebank, side in ((final, "right"), (mirrored, "left")):
        table = HeadRules.learn(treebank).table
        assert table["PP"][0] == (side, ("P",))
        assert table["IP"][0] == (side, ("VB",))
        assert table["NP"][0][1] == ("N",)


def test_the_binarisation_does_not_matter():
    treebank = Treebank.from_trees(embedded_trees(200))
    left = treebank.transformed(type(treebank.transform)(binarize="left", vertical=0))
    assert HeadRules.learn(treebank).table == HeadRules.learn(left).table


def test_english_labels_have_the_table_of_collins():
    english = Treebank.from_trees(embedded_trees(50))
    other = bank("(sn (da la) (nc casa))")
    assert resolve_head_rules("auto", english).table is COLLINS
    assert resolve_head_rules("auto", other).table.keys() == {"ROOT", "sn"}
    assert resolve_head_rules("collins", other).table is COLLINS
    assert resolve_head_rules("learnt", english).table is not COLLINS


def test_a_file_says_where_it_is_wrong(tmp_path):
    path = tmp_path / "heads.txt"
    path.write_text("# mine\nNP right NN, left NP\n* right\npunctuation , .\n")
    rules = HeadRules.read(path)
    assert rules.table == {"NP": (("right", ("NN",)), ("left", ("NP",)))}
    assert (rules.default, rules.punctuation) == ("right", {",", "."})
    path.write_text("NP right NN\nPP middle IN\n")
    with pytest.raises(InputError, match="line 2: a step of a search is left or right"):
        HeadRules.read(path)


def test_rules_are_stored_and_checked():
    rules = HeadRules.learn(bank("(sn (da la) (nc casa))"))
    assert HeadRules.from_json(rules.to_json()) == rules
    for damaged in (
        None,
        {},
        {**rules.to_json(), "default": "up"},
        {**rules.to_json(), "table": {"X": [1]}},
    ):
        with pytest.raises(InputError, match="heads"):
            HeadRules.from_json(damaged)


def test_a_reranker_has_the_rules_of_its_treebank(tmp_path):
    labels = str.maketrans("SNVPDT", "snvpdt")
    trees = [Tree.from_string(str(tree).translate(labels)) for tree in embedded_trees(120)]
    reranker = Reranker([PCFGEstimator()], folds=2, candidates=5).fit(trees)
    rules = reranker.model_.heads
    assert rules == HeadRules.learn(Treebank.from_trees(trees))
    reranker.save(tmp_path / "reranked")
    assert load(tmp_path / "reranked").model_.heads == rules


def test_an_estimator_takes_a_file(tmp_path):
    path = tmp_path / "heads.txt"
    path.write_text("NP left DT\n")
    trees = embedded_trees(60)
    by_name = SpectralEstimator(features="full", head_rules=path).fit(trees).grammar_
    given = SpectralEstimator(features="full", head_rules=HeadRules.read(path)).fit(trees).grammar_
    assert np.array_equal(by_name.latent.binary, given.latent.binary)
    assert by_name.provenance == given.provenance


@pytest.mark.parametrize(
    ("name", "tree", "heads"),
    [
        (
            "negra",
            "(S (NP (ART der) (NN Hund)) (VVFIN bellt) (PP (APPR in) (NN Eile)) ($. .))",
            {"NP": "Hund", "S": "bellt", "PP": "in"},
        ),
        (
            "ctb",
            "(IP (NP (NN gou)) (VP (ADVP (AD kuai)) (VP (VV pao) (NP (NN lu)))) (PU .))",
            {"IP": "pao", "VP": "pao"},
        ),
        (
            "ftb",
            "(SENT (NP (DET le) (NC chien) (AP (ADJ noir))) (VN (CLR se) (V va)) (PONCT .))",
            {"NP": "chien", "SENT": "va", "VN": "va"},
        ),
        (
            "keyaki",
            "(IP (PP (NP (D kono) (N inu)) (P wa)) (VB hoe) (AXD ta) (PU .))",
            {"PP": "wa", "IP": "hoe", "NP": "inu"},
        ),
    ],
)
def test_tables_of_other_treebanks(name, tree, heads):
    treebank = bank(tree)
    rules = resolve_head_rules(name, treebank)
    assert rules == HeadRules.named(name)
    depth = np.zeros(len(treebank.symbol), dtype=int)
    for node in reversed(range(len(depth))):
        if treebank.parent[node] >= 0:
            depth[node] = depth[treebank.parent[node]] + 1
    levels = [np.flatnonzero(depth == level) for level in range(depth.max() + 1)]
    head = rules.head_children(treebank, levels)

    def head_word(node):
        while head[node] >= 0:
            node = head[node]
        return treebank.words[treebank.word[node]]

    found = {
        treebank.symbols[treebank.symbol[node]].labels[-1]: head_word(node)
        for node in range(len(head))
        if head[node] >= 0 and not treebank.symbols[treebank.symbol[node]].is_binarization
    }
    assert heads.items() <= found.items()


def test_there_is_no_table_of_that_name():
    with pytest.raises(InputError, match="only ctb, ftb, keyaki, negra"):
        HeadRules.named("wsj")

"""Conditional random fields with features of given tags and dependencies."""

import random

import pytest

from lpcfg import (
    CRFEstimator,
    CRFParser,
    Dependencies,
    DependencyTree,
    Ensemble,
    InputError,
    Parser,
    PCFGEstimator,
    Reranker,
    SelfTrainingEstimator,
    Tree,
    Treebank,
    label_text,
    load,
    mixed_treebank,
    save,
)

NAMES = [f"n{number}" for number in range(40)]
VERBS = [f"v{number}" for number in range(10)]


def attachment(words, is_low):
    """A sentence with a prepositional phrase, attached to its object or to its verb."""
    one, verb, other, preposition, last = words
    phrase = f"(PP (IN {preposition}) (NP (NN {last})))"
    if is_low:
        text = f"(ROOT (S (NP (NN {one})) (VP (VB {verb}) (NP (NP (NN {other})) {phrase}))))"
    else:
        text = f"(ROOT (S (NP (NN {one})) (VP (VB {verb}) (NP (NN {other})) {phrase})))"
    heads = (1, 0, -1, 1, -2 if is_low else -3)
    relations = ("nsubj", "root", "obj", "case", "nmod" if is_low else "obl")
    return Tree.from_string(text), DependencyTree(("NN", "VB", "NN", "IN", "NN"), heads, relations)


def sample(count, seed):
    """Sentences whose attachment is only in their dependencies: words say nothing about it."""
    generator = random.Random(seed)
    found = {}
    while len(found) < count:
        names = generator.sample(NAMES, 3)
        words = (names[0], generator.choice(VERBS), names[1], "with", names[2])
        found[words] = attachment(words, generator.random() < 0.5)
    trees = [tree for tree, _ in found.values()]
    known = Dependencies((words, tree) for words, (_, tree) in found.items())
    return trees, known


TREES, KNOWN = sample(300, seed=1)
DEV, DEV_KNOWN = sample(100, seed=2)


@pytest.fixture(scope="module")
def grammar():
    return CRFEstimator(dependencies=KNOWN, bits=16, epochs=5).fit(TREES).grammar_


def right(parser, trees=DEV):
    parses = parser.parse_many(words=[tree.words() for tree in trees])
    return sum(map(str.__eq__, map(str, parses), map(str, trees)))


def test_heads_decide_what_words_cannot(grammar):
    assert right(Parser(grammar, dependencies=DEV_KNOWN)) == len(DEV)
    words_alone = CRFEstimator(bits=16, epochs=5).fit(TREES).grammar_
    assert 30 <= right(Parser(words_alone)) <= 70
    # Dependencies do not change what a model without features of them finds.
    assert right(Parser(words_alone, dependencies=DEV_KNOWN)) == right(Parser(words_alone))


def test_ensembles_and_saved_models_know_dependencies(grammar, tmp_path):
    assert right(Ensemble([grammar, grammar], dependencies=DEV_KNOWN)) == len(DEV)
    save(grammar, tmp_path / "model.lpcfg")
    assert load(tmp_path / "model.lpcfg").crf_weights.dependencies
    parser = Parser.load(tmp_path / "model.lpcfg", dependencies=DEV_KNOWN)
    assert right(parser) == len(DEV)


def test_estimators_score_and_parse_with_their_dependencies():
    known = Dependencies(
        (tree.words(), source.find(tree.words()))
        for trees, source in ((DEV, DEV_KNOWN), (TREES, KNOWN))
        for tree in trees
    )
    options = {"dependencies": known, "bits": 16, "epochs": 5}
    estimator = CRFEstimator(**options).fit(TREES)
    assert estimator.score(DEV) == 1
    assert right(estimator.parser()) == len(DEV)
    parser = CRFParser(**options).fit(TREES)
    assert parser.score(DEV) == 1
    assert right(parser) == len(DEV)


def test_stored_ensembles_and_rerankers_get_dependencies(grammar, tmp_path):
    save(Ensemble([grammar, PCFGEstimator().fit(TREES).grammar_], weights=[3, 1]), tmp_path / "one")
    save(Ensemble([Parser.load(tmp_path / "one"), grammar]), tmp_path / "nested")
    crf = CRFEstimator(dependencies=KNOWN, bits=16, epochs=5)
    reranker = Reranker([crf], folds=2, candidates=4, dependencies=KNOWN).fit(TREES)
    save(reranker, tmp_path / "reranker")
    lines = "".join(
        "".join(
            f"{word}\t{tag}\t{0 if head == 0 else at + head}\t{relation}\n"
            for at, (word, tag, head, relation) in enumerate(
                zip(tree.words(), *DEV_KNOWN.find(tree.words()), strict=True), start=1
            )
        )
        + "\n"
        for tree in DEV
    )
    (tmp_path / "dev.tsv").write_text(lines)
    for name in ("one", "nested", "reranker"):
        assert right(Parser.load(tmp_path / name)) <= 75
        assert right(Parser.load(tmp_path / name, dependencies=DEV_KNOWN)) >= 98
        assert right(Parser.load(tmp_path / name, dependencies=tmp_path / "dev.tsv")) >= 98
    # Options that are stored can still not be changed.
    with pytest.raises(InputError, match="leave out prune"):
        Parser.load(tmp_path / "one", dependencies=DEV_KNOWN, prune=0)


def test_a_weighted_ensemble_with_dependencies_is_a_teacher(grammar, tmp_path):
    pcfg = PCFGEstimator().fit(TREES).grammar_
    save(Ensemble([grammar, pcfg], weights=[3, 1]), tmp_path / "teacher")
    (tmp_path / "text.txt").write_text("".join(" ".join(tree.words()) + "\n" for tree in DEV))
    label_text(
        tmp_path / "teacher",
        tmp_path / "text.txt",
        tmp_path / "labelled",
        dependencies=DEV_KNOWN,
    )
    mixed = mixed_treebank(Treebank.from_trees(TREES[:1]), tmp_path / "labelled")
    found = map(str, mixed.trees()[1:])
    assert sum(map(str.__eq__, found, map(str, DEV))) >= 98


def test_sentences_without_dependencies_are_parsed_too(grammar):
    some = Dependencies((DEV[at].words(), DEV_KNOWN.find(DEV[at].words())) for at in range(50))
    assert right(Parser(grammar, dependencies=some), DEV[:50]) == 50
    assert len(list(Parser(grammar, dependencies=some).parse_many(words=[["n1", "v1"]]))) == 1


def test_the_tags_of_dependencies_are_given_unless_others_are(grammar):
    words = ["n1", "v1", "n2", "with", "n3"]
    _, tree = attachment(words, is_low=True)
    odd = tree._replace(tags=("NN", "VB", "IN", "IN", "unknown"))
    parser = Parser(grammar, dependencies=Dependencies([(words, odd)]))
    assert parser.parse(words=words).tags()[2] == "IN"
    assert parser.parse([None, None, "NN", None, None], words=words).tags()[2] == "NN"


def test_trees_without_dependencies_are_trained_on_too():
    known = Dependencies((tree.words(), KNOWN.find(tree.words())) for tree in TREES[:200])
    estimator = CRFEstimator(dependencies=known, bits=16).fit(TREES)
    assert estimator.grammar_.provenance["learnt_from"] == len(TREES)
    assert estimator.grammar_.provenance["dependencies"]["sentences"] == 200


def test_dependencies_of_other_sentences_are_refused():
    with pytest.raises(InputError, match="dependencies: none of the sentences of the treebank"):
        CRFEstimator(dependencies=DEV_KNOWN, bits=8).fit(TREES[:3])


def test_a_student_learns_from_a_teacher_with_dependencies(grammar, tmp_path):
    save(grammar, tmp_path / "teacher.lpcfg")
    text = "".join(" ".join(tree.words()) + "\n" for tree in DEV)
    (tmp_path / "text.txt").write_text(text)
    gold = Treebank.from_trees(TREES[:20])
    SelfTrainingEstimator(
        estimator=CRFEstimator(bits=12, epochs=1),
        teacher=tmp_path / "teacher.lpcfg",
        text=tmp_path / "text.txt",
        folder=tmp_path / "labelled",
        dependencies=DEV_KNOWN,
    ).fit(gold)
    mixed = mixed_treebank(gold, tmp_path / "labelled")
    assert [str(tree) for tree in mixed.trees()][20:] == [str(tree) for tree in DEV]

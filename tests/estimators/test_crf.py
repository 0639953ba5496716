"""Trees weighed by features of the words at the borders of their spans."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

from lpcfg import (
    CRFEstimator,
    CRFParser,
    Ensemble,
    GrammarError,
    InputError,
    ModelFileError,
    Parser,
    Pruning,
    Transform,
    Tree,
    Treebank,
    embedded_trees,
    evaluate,
    load,
    save,
)
from lpcfg.cli.main import main
from lpcfg.estimators.crf import TrainingWarning
from lpcfg.grammar.crf_weights import CRFWeights

# A rule of attachment that no PCFG can know: "with" goes to the noun before "spots", and to the
# verb before "forks".
NOUN = "(S (NP (PRP we)) (VP (VBD saw) (NP (NP (DT the) (NN {})) (PP (IN with) (NP (NNS spots))))))"
VERB = "(S (NP (PRP we)) (VP (VBD saw) (NP (DT the) (NN {})) (PP (IN with) (NP (NNS forks)))))"
ANIMALS = ("cat", "dog", "fox", "owl", "cow", "pig")


def attachments(animals=ANIMALS):
    return [Tree.from_string(text.format(animal)) for animal in animals for text in (NOUN, VERB)]


def small(**options):
    return CRFEstimator(**{"bits": 16, "epochs": 8, "learning_rate": 0.1, "n_jobs": 1, **options})


@pytest.fixture(scope="module", params=["crf", "independent"])
def model(request):
    return small(loss=request.param).fit(Treebank.from_trees(attachments())).grammar_


def test_recovers_a_rule_of_attachment(model):
    # The cat is known, the yak is not.
    gold = attachments(["cat", "yak"])
    found = list(Parser(model).parse_many(words=[tree.words() for tree in gold]))
    assert evaluate(gold, found).f1 == 100


def test_probabilities_of_trees_and_spans(model):
    sentence = attachments()[0].words()
    parse = next(Parser(model, prune=None).analyze_many(words=[sentence], marginals=True))
    assert parse.status == "parsed"
    table = parse.marginals
    assert np.all((table["probability"] >= 0) & (table["probability"] <= 1 + 1e-9))
    words = table[table["end"] - table["start"] == 1]
    for place in range(len(sentence)):
        tags = words[(words["start"] == place) & np.isin(words["label"], model.tags)]
        assert tags["probability"].sum() == pytest.approx(1)


def test_probabilities_of_all_trees_sum_to_one():
    model = small().fit(Treebank.from_trees(attachments())).grammar_
    sentence = attachments()[1].words()
    for decoder in ("viterbi", "max-f1", "max-recall", "max-rule"):
        parser = Parser(model, prune=None, decoder=decoder)
        parse = parser.analyze(words=sentence, candidates=1000)
        assert parse.sentence_log_probability == 0
        total = sum(np.exp(log_probability) for _, log_probability in parse.candidates)
        assert total == pytest.approx(1, abs=1e-5)
        if decoder == "viterbi":
            ranked = [log_probability for _, log_probability in parse.candidates]
            assert ranked == sorted(ranked, reverse=True)


def test_learning_raises_the_likelihood():
    estimator = small().fit(Treebank.from_trees(embedded_trees(60)))
    likelihoods = estimator.log_likelihoods_
    assert len(likelihoods) == 8
    assert likelihoods[0] < likelihoods[1] < likelihoods[7] < 0


def test_without_epochs_the_grammar_decides():
    treebank = Treebank.from_trees(embedded_trees(60))
    grammar = CRFEstimator(epochs=0, bits=4).fit(treebank).grammar_
    plain = Parser(grammar.__class__(**{**vars_of(grammar), "crf_weights": None}))
    words = ["the", "dog", "sees", "a", "cat", "."]
    weighed = Parser(grammar).analyze(words=words)
    assert weighed.tree == plain.parse(words=words)
    parse = plain.analyze(words=words)
    expected = parse.log_probability - parse.sentence_log_probability
    assert weighed.log_probability == pytest.approx(expected, abs=0.02)


def vars_of(grammar):
    return {name: getattr(grammar, name) for name in grammar.__dataclass_fields__}


def test_same_seed_same_model_on_any_number_of_threads():
    treebank = Treebank.from_trees(embedded_trees(60))
    fits = [
        small(epochs=2, n_jobs=n_jobs, random_state=seed).fit(treebank).grammar_.crf_weights.weights
        for n_jobs, seed in ((1, 0), (3, 0), (1, 1))
    ]
    assert np.array_equal(fits[0], fits[1])
    assert not np.array_equal(fits[0], fits[2])


def test_save_and_load(model, tmp_path):
    path = tmp_path / "crf.lpcfg"
    save(model, path)
    again = load(path)
    assert again.crf_weights.loss == model.crf_weights.loss
    assert np.array_equal(again.crf_weights.weights, model.crf_weights.weights)
    words = attachments()[0].words()
    first, second = (Parser(grammar).analyze(words=words) for grammar in (model, again))
    assert first == second


def test_words_are_needed_and_tags_are_heeded(model):
    parser = Parser(model)
    with pytest.raises(InputError, match="needs the words") as caught:
        parser.parse(["PRP", "VBD"])
    assert caught.value.argument == "tags"
    words = attachments()[0].words()
    tags = ["PRP", "VBD", "DT", "NN", "IN", "NNS"]
    assert parser.parse(tags, words=words).tags() == tags


def test_long_sentences_and_words_that_no_rule_joins(model):
    parses = Parser(model).analyze_many(words=[["with"] * 40, ["we"]])
    assert [len(parse.tree.words()) for parse in parses] == [40, 1]


def test_sentences_that_do_not_fit_into_memory_are_cut(model):
    words = attachments()[0].words() * 4
    parse = Parser(model, memory=20_000).analyze(words=words)
    assert parse.tree.words() == words


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"loss": "hinge"}, "loss must be 'crf' or 'independent', not 'hinge'"),
        ({"prior_weight": -0.1}, "prior_weight must be a number from 0, not -0.1"),
        ({"epochs": -1}, "epochs must be an integer from 0"),
        ({"batch_size": 0}, "batch_size must be an integer from 1"),
        ({"bits": 31}, "bits must be an integer from 0 to 30, not 31"),
        ({"learning_rate": 0.0}, "learning_rate must be a number above 0, not 0.0"),
        ({"initial_accumulator": float("inf")}, "initial_accumulator must be a number above 0"),
        ({"penalty": -1.0}, "penalty must be a number from 0, not -1.0"),
        ({"prune": 1.0}, "prune must be a number from 0 to below 1 or a Pruning or None, not 1.0"),
        ({"prune": Pruning(1.0)}, "prune: the coarse threshold must be from 0 to below 1"),
    ],
)
def test_options_are_checked(options, message):
    with pytest.raises(InputError, match=message):
        CRFEstimator(**options).fit(Treebank.from_trees([Tree("NN", "rain")]))


def test_unary_rules_are_refused():
    transform = Transform(collapse_root=False, collapse_inside=False)
    treebank = Treebank.from_trees([Tree.from_string("(S (VP (VB go) (RB home)))")])
    treebank = Treebank.from_trees(treebank.trees(), transform=transform)
    with pytest.raises(InputError, match="features of spans cannot be combined with unary rules"):
        CRFEstimator(bits=4).fit(treebank)


def test_pruning_is_given_as_to_a_parser_and_keeps_all_gold_trees():
    treebank = Treebank.from_trees(attachments())
    everything, half, same = (
        small(prune=prune, epochs=1).fit(treebank).grammar_
        for prune in (None, 0.6, Pruning(0.6, 0.6))
    )
    assert str(everything).endswith("trained on 12 of 12 trees")
    assert str(half).endswith("trained on 12 of 12 trees")
    assert not np.array_equal(everything.crf_weights.weights, half.crf_weights.weights)
    assert np.array_equal(half.crf_weights.weights, same.crf_weights.weights)


def test_trees_whose_charts_are_too_large_are_left_out_and_counted():
    long = Tree("S", [Tree("UH", "ha")] * 3000)
    estimator = small(epochs=1, memory=1 << 24)
    with pytest.warns(TrainingWarning, match="2 of 14 trees are not used for training"):
        grammar = estimator.fit([*attachments(), long, long]).grammar_
    assert estimator.too_large_ == 2
    assert grammar.provenance["too_large"] == 2
    assert str(grammar).endswith("trained on 12 of 14 trees")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert small(epochs=1).fit(attachments()).too_large_ == 0


def test_weights_are_checked():
    none = np.zeros(0, dtype=np.uint64)
    with pytest.raises(GrammarError, match="power of two"):
        CRFWeights("crf", 1.0, none, np.zeros(3, dtype=np.float32)).core([])
    with pytest.raises(GrammarError, match="must be between -1e6 and 1e6"):
        CRFWeights("crf", 1.0, none, np.full(2, np.nan, dtype=np.float32)).core([])
    with pytest.raises(GrammarError, match="prior_weight must be"):
        CRFWeights("crf", float("nan"), none, np.zeros(2, dtype=np.float32))
    with pytest.raises(GrammarError, match="loss must be"):
        CRFWeights("hinge", 1.0, none, np.zeros(2, dtype=np.float32))


def test_a_damaged_file_is_refused(model, tmp_path):
    path = tmp_path / "crf.lpcfg"
    weights = np.full(4, np.inf, dtype=np.float32)
    damaged = CRFWeights(model.crf_weights.loss, 1.0, model.crf_weights.vocabulary, weights)
    save(model.__class__(**{**vars_of(model), "crf_weights": damaged}), path)
    with pytest.raises(ModelFileError, match="must be between -1e6 and 1e6"):
        load(path)


def test_command_line(tmp_path, capsys):
    trees, path = tmp_path / "trees.mrg", tmp_path / "crf.lpcfg"
    trees.write_text("\n".join(map(str, attachments())))
    command = ["train", "--estimator", "crf", "--epochs", "2", str(trees), "-o", str(path)]
    assert main(command) == 0
    assert main(["show", str(path)]) == 0
    assert "feature weights" in capsys.readouterr().out
    assert main(["eval", str(path), str(trees)]) == 0
    assert "F1" in capsys.readouterr().out


def test_a_crf_parser_is_its_estimator_with_a_parser():
    treebank = Treebank.from_trees(embedded_trees())
    options = {"epochs": 1, "bits": 14, "n_jobs": 1}
    parser = CRFParser(**options, decoder="viterbi").fit(treebank)
    plain = Parser(CRFEstimator(**options).fit(treebank).grammar_, decoder="viterbi")
    words = [tree.words() for tree in embedded_trees()[:20]]
    assert list(parser.parse_many(words=words)) == list(plain.parse_many(words=words))
    # Another parser among others.
    tables = [own.marginals(words=words[0]) for own in (Ensemble([parser, plain]), parser)]
    ours, theirs = ({tuple(row)[:3]: row["probability"] for row in table} for table in tables)
    assert ours == pytest.approx(theirs)


@pytest.mark.parametrize("decoder", ["viterbi", "max-f1"])
def test_a_crf_parser_is_saved_as_a_parser(decoder, tmp_path):
    options = {"epochs": 1, "bits": 14, "n_jobs": 1}
    parser = CRFParser(**options, decoder=decoder).fit(Treebank.from_trees(embedded_trees()))
    words = [tree.words() for tree in embedded_trees()[:20]]
    save(parser, tmp_path / "alone")
    loaded = Parser.load(tmp_path / "alone", decoder=decoder)
    assert list(loaded.parse_many(words=words)) == list(parser.parse_many(words=words))
    save(Ensemble([parser]), tmp_path / "among")
    (member,) = Parser.load(tmp_path / "among").members
    assert list(member.parse_many(words=words)) == list(parser.parse_many(words=words))


def test_models_keep_the_version_of_their_templates(tmp_path):
    new = small(epochs=1).fit(Treebank.from_trees(embedded_trees(40))).grammar_
    # Weights that older templates have learnt, as far as the parser knows.
    old = replace(new, crf_weights=replace(new.crf_weights, template_version=3))
    save(old, tmp_path / "old.lpcfg")
    again = load(tmp_path / "old.lpcfg")
    assert again.crf_weights.template_version == 3
    words = ["She", "can", "fish", "."]
    first, second, third = (Parser(grammar).analyze(words=words) for grammar in (old, again, new))
    assert first == second
    assert first.log_probability != third.log_probability
    with pytest.raises(InputError, match="from 1 to") as raised:
        replace(new.crf_weights, template_version=0).core(new.symbols)
    assert raised.value.argument == "template_version"

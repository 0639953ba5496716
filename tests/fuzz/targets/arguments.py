"""The Python API with odd arguments."""

import inspect
import io
import math

import numpy as np

import lpcfg
from fuzz.cases import about
from fuzz.samples import samples
from fuzz.soundness import check_message
from lpcfg.errors import InternalError, LpcfgError
from lpcfg.estimators.registry import ESTIMATORS
from lpcfg.lm.aggregate_bigram import AggregateBigram

#: Values of the right or the wrong type, at the borders of what is allowed or beyond.
ODD = [
    *(None, True, False, 0, 1, -1, 2, 3, 1024, 1025, 2**31, 2**32, 2**63, 2**64, -(2**63), 10**30),
    *(0.0, -0.0, 0.5, 1.0, -1.0, 1e-300, 1e308, math.inf, -math.inf, math.nan, 1j),
    *("", "x", "S", "NP", "\x00", "\ud800", "-", "(", "é", "a" * 1000, b"", b"x"),
    *(
        [],
        [[]],
        [None],
        [""],
        ["x"],
        [["x"]],
        [["x"], []],
        [[None]],
        [[1]],
        (),
        ("x",),
        {},
        {"x": 1},
    ),
    *(
        np.array([]),
        np.array([1.5]),
        np.array(["it", "x"]),
        np.array([[1, 2]]),
        np.float32(0.5),
        np.int64(2),
    ),
    *(
        object(),
        int,
        len,
        range(3),
        set(),
        frozenset({"x"}),
        io.BytesIO(b"(S x)"),
        io.StringIO("x"),
    ),
]
#: Wrong types are errors of Python, as the annotations say; a wrong value is one of lpcfg.
REFUSALS = (LpcfgError, OSError, TypeError, AttributeError)


class Arguments:
    """Odd arguments are refused by an error with a message, or work."""

    unit = "calls of the API"

    def __init__(self):
        self.calls = _calls()

    def run(self, draw):
        call, arguments = draw.choice(self.calls)
        arguments = dict(arguments)
        for _ in range(draw.choice((1, 1, 1, 2))):
            arguments[draw.choice(list(arguments))] = _odd(draw)
        name = getattr(call, "__qualname__", repr(call))
        with about(name, arguments):
            try:
                result = call(**arguments)
                if inspect.isgenerator(result):
                    list(result)
            except InternalError:
                raise
            except REFUSALS as error:
                check_message(error)
            except ValueError as error:
                # What numpy says of an array where something else is expected.
                if not str(error).startswith("The truth value of an"):
                    raise
        return 1


def _odd(draw):
    value = draw.choice(ODD)
    kind = draw.random()
    if kind < 0.1:
        return [value]
    if kind < 0.15:
        return _broken_iterator(value)
    return value


def _broken_iterator(value):
    yield value
    raise OSError("the source of the input is gone")


def _calls():
    """Functions and methods with arguments that work."""
    made = samples()
    grammar, trees, sentences = made.grammar("pcfg", tiny=True), made.few_trees, made.sentences[:3]
    parser = lpcfg.Parser(grammar, n_jobs=1)
    spectral = lpcfg.Parser(made.grammar("spectral", tiny=True), n_jobs=1)
    tagger, hmm = made.tiny_models["tagger"], made.tiny_models["hmm"]
    known = [list(hmm.symbols_[:3])]
    options = {"decoder": "max-f1", "combine": "posteriors", "prune": 0.001, "memory": 1 << 26}
    options |= {"max_length": 20, "timeout": None, "n_jobs": 1}
    parsing = {
        "tags": None,
        "words": sentences,
        "candidates": 2,
        "marginals": False,
        "batch_size": 5,
    }
    calls = [
        (lpcfg.Parser, {"grammars": grammar, **options}),
        (lpcfg.Ensemble, {"members": [grammar, grammar], "weights": [1.0, 2.0], **options}),
        *((each.analyze_many, parsing) for each in (parser, spectral, made.parsers["crf"])),
        (made.ensemble.analyze_many, parsing),
        (made.reranker.analyze_many, parsing),
        (parser.analyze, {"tags": None, "words": sentences[0], "candidates": 2}),
        (parser.parse, {"tags": None, "words": sentences[0]}),
        (parser.marginals, {"words": sentences[0]}),
        (parser.check_tags, {"tags": list(grammar.tags[:3])}),
        (lpcfg.Parser.load, {"path": "english", "n_jobs": 1, "decoder": "max-f1"}),
        (lpcfg.Grammar.from_string, {"text": "S -> 'x'", "start": "S"}),
        (lpcfg.Tree, {"label": "S", "content": [lpcfg.Tree("X", "x")]}),
        (lpcfg.Tree.from_string, {"text": "(S x)", "unescape": True}),
        (lpcfg.Transform, {"binarize": "left", "horizontal": 1, "vertical": 1, "annotate": "all"}),
        (lpcfg.Cleaning, {"function_tags": "all", "remove_empty": True, "root_label": "TOP"}),
        (lpcfg.Treebank.from_trees, {"trees": trees, "cleaning": None, "transform": None}),
        (
            lpcfg.read_trees,
            {"sources": io.BytesIO(b"(S x)"), "on_error": "skip", "keep_empty": True},
        ),
        (lpcfg.evaluate, {"gold": trees, "predicted": trees}),
        (lpcfg.load, {"path": "english", "expected": lpcfg.Grammar}),
        (lpcfg.Pruning, {"coarse": 0.1, "fine": 0.1}),
        (tagger.tag, {"words": sentences[0]}),
        (tagger.posteriors, {"words": sentences[0]}),
        (hmm.score_samples, {"sequences": known}),
        (hmm.predict, {"sequences": known}),
        (made.tiny_models["aggregate bigram"].perplexity, {"corpus": sentences}),
    ]
    models = [
        (
            lpcfg.HMM,
            "fit",
            {"n_states": 2, "max_iter": 1, "tol": 0.1, "n_jobs": 1, "pseudocount": 0.1},
        ),
        (lpcfg.SpectralHMM, "fit", {"n_states": 2, "unknown": "error", "random_state": 0}),
        (AggregateBigram, "fit", {"n_states": 2, "min_count": 1, "max_iterations": 2, "n_jobs": 1}),
    ]
    calls += [(_fitting(kind, known * 4), parameters) for kind, _, parameters in models]
    for name, estimator in ESTIMATORS.items():
        parameters = {
            key: value
            for key, value in estimator().get_params(deep=False).items()
            if key not in ("progress", "monitor")
        }
        calls.append((_validating(name), {"name": name, **parameters}))
    return calls


def _fitting(kind, data):
    def fit(**parameters):
        # The numbers of states and iterations that are asked for may be any.
        parameters = {name: _bounded(value) for name, value in parameters.items()}
        return kind(**parameters).fit(data)

    fit.__qualname__ = f"{kind.__name__}.fit"
    return fit


def _bounded(value):
    """As it is, unless it is a valid number that would take hours."""
    too_many = isinstance(value, int) and not isinstance(value, bool) and value > 3
    return value % 3 if too_many and value < 2**63 else value


def _validating(label):
    def make(**parameters):
        lpcfg.make_estimator(**parameters).validate()

    make.__qualname__ = f"make_estimator({label!r})"
    return make

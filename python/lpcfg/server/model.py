"""A parser of the server, and its answers as JSON documents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lpcfg.parsing.base import BaseParser
from lpcfg.parsing.marginals import node_spans, span_probabilities
from lpcfg.parsing.parse import Parse, tree_from_spans
from lpcfg.server._chart import ChartView
from lpcfg.server._states import StatesView
from lpcfg.text.penn import penn_words
from lpcfg.text.segmentation import TextSentence
from lpcfg.treebank.tree import Tree

__all__ = ["ServedModel"]


class ServedModel:
    """A parser with a name, which answers with documents of dicts, lists, strings and numbers.

    >>> from lpcfg import Parser, split_text
    >>> model = ServedModel("english", Parser.load("english"))
    >>> answer = model.analyze(next(split_text("The dog slept.")), candidates=2, chart=True)
    >>> answer["tree"], len(answer["candidates"]), answer["chart"]["passes"]
    ('(ROOT (S (NP (DT The) (NN dog)) (VP (VBD slept)) (. .)))', 2, 1)
    """

    def __init__(self, name: str, parser: BaseParser) -> None:
        self.name = name
        self.parser = parser
        self._chart = ChartView(parser)
        self._states = StatesView(parser.grammar)

    def as_json(self) -> dict[str, Any]:
        """Its name, a description, and whether its states can be shown or why not.

        >>> from lpcfg import Grammar, Parser
        >>> ServedModel("toy", Parser(Grammar.from_string("S -> 'go'"))).as_json()["states"]
        'the grammar has no latent states'
        """
        return {
            "name": self.name,
            "description": repr(self.parser).strip("<>"),
            "states": self._states.problem or True,
        }

    def analyze(
        self,
        sentence: TextSentence,
        *,
        candidates: int = 1,
        chart: bool = False,
    ) -> dict[str, Any]:
        """Parse a sentence.

        >>> from lpcfg import Grammar, Parser, split_text
        >>> grammar = Grammar.from_string("S -> 'go'")
        >>> answer = ServedModel("toy", Parser(grammar)).analyze(next(split_text("go")))
        >>> answer["spans"]
        [{'label': 'S', 'start': 0, 'end': 1, 'probability': 1.0}]
        """
        words = penn_words([token.text for token in sentence.tokens], self.parser.grammar.lexicon)
        parse = self.parser.analyze(words=words, candidates=candidates, marginals=True)
        assert parse.marginals is not None
        answer = sentence.as_json() | {
            "words": words,
            "tree": str(parse.tree),
            "status": parse.status,
            "log_probability": parse.log_probability,
            "sentence_log_probability": parse.sentence_log_probability,
            "conditional": parse.conditional,
            "spans": [_rounded(span._asdict()) for span in parse.spans],
            "candidates": _candidates(parse),
        }
        if chart:
            answer["chart"] = self._chart.as_json(words, parse.marginals)
        return answer

    def add_states(self, answers: Sequence[dict[str, Any]]) -> None:
        """Add the latent states of the best trees to the answers of :meth:`analyze`.

        Several answers take hardly longer than one.

        >>> from lpcfg import ClusteringEstimator, Parser, embedded_trees, split_text
        >>> grammar = ClusteringEstimator().fit(embedded_trees()).grammar_
        >>> model = ServedModel("toy", Parser(grammar))
        >>> answer = model.analyze(next(split_text("The dog slept.")))
        >>> model.add_states([answer])
        >>> [symbol for symbol, state in answer["states"]]
        ['ROOT+S', 'ROOT+S', 'NP', 'DT', 'NN', 'VP+VBD', 'VP+VBD', '.']
        """
        if self._states.problem is not None or not answers:
            return
        trees = []
        for answer in answers:
            spans = [(span["label"], span["start"], span["end"]) for span in answer["spans"]]
            trees.append(tree_from_spans(spans, answer["words"]))
        for answer, states in zip(answers, self._states.of_nodes(trees), strict=True):
            answer["states"] = states

    def explain(self, symbol: str) -> list[dict[str, Any]]:
        """What the latent states of a symbol are used for, the most frequent ones first.

        >>> from lpcfg import ClusteringEstimator, Parser, embedded_trees
        >>> grammar = ClusteringEstimator().fit(embedded_trees()).grammar_
        >>> sorted(ServedModel("toy", Parser(grammar)).explain("PP")[0])
        ['contexts', 'prior', 'rules', 'state', 'words']
        """
        return self._states.explain(symbol)


def _candidates(parse: Parse) -> list[dict[str, Any]]:
    assert parse.marginals is not None
    probabilities = span_probabilities(parse.marginals)

    def spans(tree: Tree) -> list[dict[str, Any]]:
        return [
            _rounded(
                {
                    "label": label,
                    "start": start,
                    "end": end,
                    "probability": probabilities.get((label, start, end, preterminal), 0.0),
                }
            )
            for label, start, end, preterminal in node_spans(tree)
        ]

    return [
        {
            "tree": str(tree),
            "log_probability": log_probability,
            "spans": spans(tree),
        }
        for tree, log_probability in parse.candidates
    ]


def _rounded(span: dict[str, Any]) -> dict[str, Any]:
    return span | {"probability": round(span["probability"], 6)}

"""Grammars of the Berkeley parser, from the text files that it writes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from os import PathLike

import numpy as np
from numpy.typing import NDArray

from lpcfg._columns import offsets
from lpcfg.errors import InputError
from lpcfg.grammar.coarse import coarse_classes
from lpcfg.grammar.grammar import Grammar
from lpcfg.grammar.latent_states import LatentStates
from lpcfg.lexicon.lexicon import Lexicon
from lpcfg.lexicon.word_classes import UNKNOWN, EnglishClasses
from lpcfg.treebank.symbol import Symbol
from lpcfg.treebank.text_lines import numbered_lines

__all__ = ["import_berkeley"]

Floats = NDArray[np.float64]

#: What the files do not have, and the grammar therefore not either.
_NOTES = (
    "a known word has only the tags that it was seen with: the files lack the counts for smoothing",
    "a unary rule less probable than a chain of two is lost: the files have rules after closure",
    "chains of unary rules may be longer than two, the largest number in the Berkeley parser",
)

#: Products of rules that are as close as this are the same path.
_ROUNDING = 1e-9


def import_berkeley(grammar: str | PathLike[str], lexicon: str | PathLike[str]) -> Grammar:
    r"""Read a grammar that the Berkeley parser has written as text.

    ``grammar``: the file of rules, lines such as ``NP_0 -> DT_1 NN_0 0.25``, gzipped or not. Unary
    rules are closed over chains of two there; the rules themselves are recovered from that.
    ``lexicon``: the file of emissions, lines such as ``NN dog [0.1, 0.2]``, with the signatures of
    unknown words.

    Three things cannot be represented, as the files do not have them: a known word has only the
    tags it was seen with; a rule that is less probable than a chain of two others is lost; and
    chains may be longer than two rules. ``provenance["notes"]`` of the grammar says so too.

    >>> import tempfile
    >>> from pathlib import Path
    >>> rules = "TOP_0 -> S_0 1.0\nS_0 -> NN_0 VB_0 1.0\n"
    >>> words = "NN rain [0.9]\nNN UNK [0.1]\nVB falls [0.9]\nVB UNK [0.1]\n"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     first, second = Path(folder, "x.grammar"), Path(folder, "x.lexicon")
    ...     _ = first.write_text(rules), second.write_text(words)
    ...     import_berkeley(first, second)
    <Grammar: Berkeley parser, 4 symbols, 1 binary and 1 unary rules, 2 words, up to 1 ...>
    """
    rules: dict[tuple[str, ...], dict[tuple[int, ...], float]] = defaultdict(dict)
    counts: dict[str, int] = defaultdict(int)
    for number, line in numbered_lines(grammar):
        parts = line.split()
        try:
            if len(parts) not in (4, 5) or parts[1] != "->":
                raise ValueError
            names, states = zip(*(_split(part) for part in (parts[0], *parts[2:-1])), strict=True)
            rules[names][states] = float(parts[-1])
        except ValueError:
            raise InputError(
                f"not a rule of the Berkeley parser: {line!r}",
                argument="grammar",
                path=grammar,
                line=number,
            ) from None
        for name, state in zip(names, states, strict=True):
            counts[name] = max(counts[name], state + 1)
    emissions: dict[tuple[str, str], Floats] = {}
    for number, line in numbered_lines(lexicon):
        tag, word, rest = line.split(" ", 2) if line.count(" ") >= 2 else (line, "", "")
        try:
            emissions[tag, word] = np.array([float(v) for v in rest.strip("[] ").split(",")])
        except ValueError:
            raise InputError(
                f"not an entry of the lexicon: {line!r}",
                argument="lexicon",
                path=lexicon,
                line=number,
            ) from None
        counts[tag] = max(counts[tag], len(emissions[tag, word]))
    return _Import(rules, dict(counts), emissions).result()


def _split(name: str) -> tuple[str, int]:
    symbol, _, state = name.rpartition("_")
    return symbol, int(state)


class _Import:
    """The rules and emissions of the files, with the states of all symbols in one row."""

    def __init__(
        self,
        rules: dict[tuple[str, ...], dict[tuple[int, ...], float]],
        counts: dict[str, int],
        emissions: dict[tuple[str, str], Floats],
    ) -> None:
        self.names = list(counts)
        self.ids = {name: identity for identity, name in enumerate(self.names)}
        self.states = np.array([counts[name] for name in self.names])
        self.begins = offsets(self.states)
        self.emissions = emissions
        self.tags = {tag for tag, _ in emissions}
        self.binary = [
            (tuple(self.ids[name] for name in names), self._array(names, values))
            for names, values in rules.items()
            if len(names) == 3
        ]
        closed = np.zeros((self.begins[-1], self.begins[-1]))
        for names, values in rules.items():
            if len(names) == 2 and names[0] != names[1]:
                closed[self._block(names)] = self._array(names, values)
        self.closed = closed
        self.unary = self._direct(closed)

    def _array(self, names: tuple[str, ...], values: dict[tuple[int, ...], float]) -> Floats:
        array = np.zeros([self.states[self.ids[name]] for name in names])
        for place, value in values.items():
            array[place] = value
        return array

    def _range(self, symbol: int) -> slice:
        return slice(self.begins[symbol], self.begins[symbol + 1])

    def _block(self, names: tuple[str, ...]) -> tuple[slice, ...]:
        return tuple(self._range(self.ids[name]) for name in names)

    def _direct(self, closed: Floats) -> Floats:
        """The rules whose closure is given: values that no path of two other rules explains."""
        direct = closed
        for _ in range(20):
            best = np.zeros_like(closed)
            for middle in np.flatnonzero(direct.any(axis=0) & direct.any(axis=1)):
                np.maximum(best, np.outer(direct[:, middle], direct[middle]), out=best)
            derived = np.abs(closed - best) <= _ROUNDING * closed
            following = np.where(derived, 0.0, closed)
            if np.array_equal(following, direct):
                break
            direct = following
        return direct

    def _weights(self) -> Floats:
        """The expected number of nodes in each state, per tree."""
        size = int(self.begins[-1])
        children = self.unary.T.copy()
        for (parent, left, right), tensor in self.binary:
            children[self._range(left), self._range(parent)] += tensor.sum(axis=2).T
            children[self._range(right), self._range(parent)] += tensor.sum(axis=1).T
        start = np.zeros(size)
        start[self.begins[self.root]] = 1.0
        weights = np.linalg.solve(np.eye(size) - children, start).astype(np.float64)
        return np.maximum(weights, 1e-12)

    def result(self) -> Grammar:
        used = {symbol for (_, *below), _ in self.binary for symbol in below}
        used |= {b for b in range(len(self.names)) if self.closed[:, self._range(b)].any()}
        roots = [i for i in range(len(self.names)) if i not in used]
        if len(roots) != 1:
            raise InputError("the grammar has no single root symbol", argument="grammar")
        self.root = roots[0]
        weights = self._weights()
        totals = np.add.reduceat(weights, self.begins[:-1])

        def mean(symbol: int, values: Floats) -> float:
            own = self._range(symbol)
            return float(min(weights[own] @ values / totals[symbol], 1.0))

        pairs = [
            (a, b)
            for a in range(len(self.names))
            for b in range(len(self.names))
            if self.unary[self._range(a), self._range(b)].any()
        ]
        matrices = [self.unary[self._range(a), self._range(b)] for a, b in pairs]
        symbols = tuple(
            Symbol((name[1:],), siblings=())
            if name.startswith("@") and len(name) > 1 and name not in self.tags
            else Symbol((name,), preterminal=name in self.tags)
            for name in self.names
        )
        latent_roots = np.zeros(int(self.begins[-1]), dtype=np.float32)
        latent_roots[self.begins[self.root]] = 1.0
        lexicon, ratios = self._lexicon(mean)
        tensors = [tensor for _, tensor in self.binary]
        latent = LatentStates(
            kind="probabilistic",
            states=self.states.astype(np.uint32),
            roots=latent_roots,
            binary=_flat(tensors),
            binary_counts=np.array([tensor.size for tensor in tensors], dtype=np.uint32),
            binary_positions=np.zeros(0, dtype=np.uint32),
            emission_ratios=_flat(ratios),
            ratio_symbols=lexicon.symbols.astype(np.uint32),
            entry_ratios=np.arange(len(ratios), dtype=np.uint32),
            tag_emissions=np.repeat([name in self.tags for name in self.names], self.states).astype(
                np.float32
            ),
            unary=_flat(matrices),
        )
        binary_rules = np.array([rule for rule, _ in self.binary], dtype=np.uint32).reshape(-1, 3)
        return Grammar(
            symbols=symbols,
            roots=np.eye(len(self.names))[self.root],
            binary_rules=binary_rules,
            binary_probabilities=np.array(
                [mean(rule[0], tensor.sum(axis=(1, 2))) for rule, tensor in self.binary]
            ),
            unary_rules=np.array(pairs, dtype=np.uint32).reshape(-1, 2),
            unary_probabilities=np.array(
                [
                    mean(a, matrix.sum(axis=1))
                    for (a, _), matrix in zip(pairs, matrices, strict=True)
                ]
            ),
            lexicon=lexicon,
            coarse=coarse_classes(symbols, totals),
            weights=totals,
            latent=latent.sparse(binary_rules),
            provenance={"estimator": "Berkeley parser", "notes": list(_NOTES)},
        )

    def _lexicon(self, mean: Callable[[int, Floats], float]) -> tuple[Lexicon, list[Floats]]:
        classes = sorted({w for _, w in self.emissions if w == UNKNOWN or w.startswith("UNK-")})
        classes = [UNKNOWN, *(name for name in classes if name != UNKNOWN)]
        words = sorted({w for _, w in self.emissions} - set(classes))
        by_word: dict[str, dict[str, Floats]] = defaultdict(dict)
        for (tag, word), values in self.emissions.items():
            by_word[word][tag] = values
        entries, ratios, ends = [], [], [0]
        for word in (*words, *classes):
            for tag in sorted(by_word[word], key=self.ids.__getitem__):
                symbol = self.ids[tag]
                probability = mean(symbol, by_word[word][tag])
                if probability > 0:
                    entries.append((symbol, probability))
                    ratios.append(by_word[word][tag] / probability)
            ends.append(len(entries))
        return Lexicon(
            words=tuple(words),
            classes=tuple(classes),
            classifier=EnglishClasses(),
            offsets=np.array(ends, dtype=np.int64),
            symbols=np.array([symbol for symbol, _ in entries], dtype=np.int32),
            probabilities=np.array([probability for _, probability in entries]),
        ), ratios


def _flat(arrays: list[Floats]) -> NDArray[np.float32]:
    parts = [array.ravel() for array in arrays]
    return np.concatenate([np.zeros(0), *parts]).astype(np.float32)

"""Grammars of the Rainbow parser (Narayan & Cohen 2015, 2016), from the text files that it writes.

A file lists the symbols, then one line for each root, lexical rule and binary rule. The numbers of
latent states stand before the values, which are all values in C order, or the nonzero ones with
their places, counted from 1::

    interminals S^g @S^g NP^g
    preterminals DT NN NP^g|NNP
    root S^g 2 0.9 0.1
    term NN -> dog 2 1:0.02
    binary NP^g -> DT NN 2 1 2 1,1,1:0.3 2,1,2:0.1

``|`` joins the labels of a collapsed unary chain, ``@`` marks binarisation, and a rare word has
been replaced by its tag, so that ``term NN -> NN`` is the rule for all rare nouns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from os import PathLike

import numpy as np
from numpy.typing import NDArray

from lpcfg._columns import offsets
from lpcfg.errors import InputError
from lpcfg.grammar.coarse import coarse_classes
from lpcfg.grammar.grammar import Grammar
from lpcfg.grammar.latent_states import LatentStates
from lpcfg.lexicon.lexicon import Lexicon
from lpcfg.lexicon.word_classes import UNKNOWN, TagClasses
from lpcfg.treebank.symbol import Symbol
from lpcfg.treebank.text_lines import numbered_lines
from lpcfg.treebank.transform import Transform

__all__ = ["import_rainbow"]

Floats = NDArray[np.float64]
Rule = tuple[str, ...]

#: The mark of every phrase label in the files, which trees do not have.
_PHRASE = "^g"

_NOTES = (
    "a word that no rule has is rare, whatever its count: the vocabulary file is not read",
    "a label of the treebank that contains | is read as a unary chain, as in the Rainbow parser",
    "trees have no TOP above their root",
)


def import_rainbow(
    grammar: str | PathLike[str], prune_grammar: str | PathLike[str] | None = None
) -> Grammar:
    r"""Read a grammar that the Rainbow parser has written: spectral, clustering or EM.

    ``grammar``: the file with latent states, ``grammar-....txt`` in a folder ``Standard...``,
    gzipped or not. If a value is negative, as in grammars of the spectral estimator, the latent
    states are ``linear``.
    ``prune_grammar``: the file without latent states, ``grammar-prune.txt``. It becomes the PCFG
    that prunes charts. None (the default) only if ``grammar`` has no latent states itself.

    A rule that only one of the files has cannot be used: the Rainbow parser prunes it too. What
    cannot be represented is listed in ``provenance["notes"]`` of the grammar.

    >>> import tempfile
    >>> from pathlib import Path
    >>> symbols = "interminals S^g\npreterminals DT NN\n"
    >>> rules = "root S^g 1 1\nterm DT -> the 1 1\nterm NN -> NN 1 1\nbinary S^g -> DT NN 1 1 1 1\n"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "grammar-prune.txt")
    ...     _ = path.write_text(symbols + rules)
    ...     import_rainbow(path)
    <Grammar: Rainbow parser, 3 symbols, 1 binary and 0 unary rules, 2 words>
    """
    latent = _read(grammar)
    if prune_grammar is None:
        if latent.has_states():
            raise InputError(
                f"{grammar} has latent states; name the file without them as well, which is "
                "usually grammar-prune.txt",
                argument="prune_grammar",
            )
        return _Import(latent, None).result()
    backbone = _read(prune_grammar)
    if backbone.has_states():
        raise InputError(
            f"{prune_grammar} has latent states; the first file is the one with latent states, the "
            "second the one without",
            argument="prune_grammar",
        )
    return _Import(backbone, latent).result()


@dataclass
class _File:
    """The contents of a file: arrays of one axis, or of three for binary rules."""

    path: str
    interminals: dict[str, None] = field(default_factory=dict)
    preterminals: dict[str, None] = field(default_factory=dict)
    states: dict[str, int] = field(default_factory=dict)
    roots: dict[Rule, Floats] = field(default_factory=dict)
    terms: dict[Rule, Floats] = field(default_factory=dict)
    binary: dict[Rule, Floats] = field(default_factory=dict)

    def has_states(self) -> bool:
        return any(count > 1 for count in self.states.values())

    def set_states(self, names: Sequence[str], numbers: Sequence[int]) -> None:
        for name, number in zip(names, numbers, strict=True):
            if name not in self.interminals and name not in self.preterminals:
                raise ValueError(f"{name} is neither among the interminals nor the preterminals")
            if self.states.setdefault(name, number) != number:
                raise ValueError(f"{name} had {self.states[name]} latent states before")


def _read(path: str | PathLike[str]) -> _File:
    file = _File(str(path))
    for number, line in numbered_lines(path):
        if line.startswith(("#", "[")):
            continue
        try:
            _read_line(file, line.split())
        except (IndexError, ValueError) as error:
            reason = str(error) if isinstance(error, ValueError) else "the line is too short"
            shown = line if len(line) <= 80 else line[:77] + "..."
            raise InputError(
                f"not a line of a grammar of the Rainbow parser ({reason}): {shown!r}",
                argument="grammar",
                path=path,
                line=number,
            ) from None
    if not file.roots or not file.terms:
        raise InputError(
            "not a grammar of the Rainbow parser: there is no line that begins with root or none "
            "that begins with term",
            argument="grammar",
            path=path,
        )
    return file


def _read_line(file: _File, parts: list[str]) -> None:
    kind, *parts = parts
    if kind in ("interminals", "preterminals"):
        getattr(file, kind).update(dict.fromkeys(parts))
        return
    # For each kind of line: the symbols with states, and where their numbers of states begin.
    rule: Rule
    if kind == "root":
        rules, rule, symbols, begin = file.roots, (parts[0],), parts[:1], 1
    elif kind == "term":
        rules, rule, symbols, begin = file.terms, (parts[0], parts[2]), parts[:1], 3
    elif kind == "binary":
        symbols = [parts[0], parts[2], parts[3]]
        rules, rule, begin = file.binary, tuple(symbols), 4
    else:
        raise ValueError(f"unknown word {kind}")
    if kind != "root" and parts[1] != "->":
        raise ValueError("no arrow")
    shape = [int(count) for count in parts[begin : begin + len(symbols)]]
    if min(shape) < 1:
        raise ValueError("a number of latent states is below 1")
    file.set_states(symbols, shape)
    rules[rule] = _values(parts[begin + len(symbols) :], shape)


def _values(parts: list[str], shape: list[int]) -> Floats:
    if parts and ":" not in parts[0]:
        values = np.array(parts, dtype=np.float64)
        if values.size != np.prod(shape):
            raise ValueError(f"{values.size} values instead of {np.prod(shape)}")
        values = values.reshape(shape)
    else:
        values = np.zeros(shape)
        for part in parts:
            place, value = part.split(":")
            index = tuple(int(number) - 1 for number in place.split(","))
            if len(index) != len(shape) or not all(
                0 <= i < n for i, n in zip(index, shape, strict=True)
            ):
                raise ValueError(f"{place} is outside the latent states")
            values[index] = float(value)
    if not np.isfinite(values).all():
        raise ValueError("a value is not finite")
    return values


class _Import:
    """A grammar from its backbone, and the rules with latent states if it has some."""

    def __init__(self, backbone: _File, latent: _File | None) -> None:
        self.backbone, self.latent = backbone, latent
        self.names = [*backbone.interminals, *backbone.preterminals]
        self.ids = {name: identity for identity, name in enumerate(self.names)}
        self.binary = [rule for rule in backbone.binary if not latent or rule in latent.binary]
        self.terms = [rule for rule in backbone.terms if not latent or rule in latent.terms]

    def result(self) -> Grammar:
        count = len(self.names)
        rules = np.array(
            [[self.ids[name] for name in rule] for rule in self.binary], dtype=np.uint32
        ).reshape(-1, 3)
        probabilities = np.array([self.backbone.binary[rule].item() for rule in self.binary])
        roots = np.zeros(count)
        for (name,), value in self.backbone.roots.items():
            roots[self.ids[name]] = value.item()
        symbols = _symbols(self.names, self.backbone.preterminals)
        lexicon, entries = self._lexicon()
        weights = _expected_counts(roots, rules.astype(np.int64), probabilities)
        notes = list(_NOTES)
        lost = len(self.backbone.binary) - len(self.binary)
        if lost:
            notes.append(f"{lost} binary rules have no latent parameters and are left out")
        return Grammar(
            symbols=symbols,
            roots=roots,
            binary_rules=rules,
            binary_probabilities=probabilities,
            unary_rules=np.zeros((0, 2), dtype=np.uint32),
            unary_probabilities=np.zeros(0),
            lexicon=lexicon,
            coarse=coarse_classes(symbols, weights),
            weights=weights,
            latent=None if self.latent is None else self._latent(self.latent, rules, entries),
            provenance={
                "estimator": "Rainbow parser",
                "notes": notes,
                "transform": Transform(binarize="left", horizontal=0, vertical=0).to_dict(),
            },
        )

    def _lexicon(self) -> tuple[Lexicon, list[Rule]]:
        """The lexicon, and the lexical rule of each of its entries."""
        by_word: dict[str, list[Rule]] = {word: [] for _, word in self.terms}
        for rule in self.terms:
            by_word[rule[1]].append(rule)
        # Rare words are known by their tag.
        rare = [rule for rule in self.terms if rule[0].split("|")[-1] == rule[1]]
        listed: list[list[Rule]] = [*by_word.values(), rare]
        entries = [
            rule for rules in listed for rule in sorted(rules, key=lambda rule: self.ids[rule[0]])
        ]
        return Lexicon(
            words=tuple(by_word),
            classes=(UNKNOWN,),
            classifier=TagClasses(),
            offsets=offsets(np.array([len(rules) for rules in listed])),
            symbols=np.array([self.ids[name] for name, _ in entries], dtype=np.int32),
            probabilities=np.array([self.backbone.terms[rule].item() for rule in entries]),
        ), entries

    def _latent(
        self, latent: _File, rules: NDArray[np.uint32], entries: list[Rule]
    ) -> LatentStates:
        states = np.array([latent.states.get(name, 1) for name in self.names])
        begins = offsets(states)
        roots, tags = np.zeros(begins[-1]), np.zeros(begins[-1])
        for (name,), value in latent.roots.items():
            roots[begins[self.ids[name]] :][: len(value)] = value
        for (name, _), value in latent.terms.items():
            tags[begins[self.ids[name]] :][: len(value)] += value
        tensors = [latent.binary[rule] for rule in self.binary]
        ratios = [latent.terms[rule] / self.backbone.terms[rule].item() for rule in entries]
        lowest = min(float(values.min()) for values in (roots, *tensors, *ratios))
        return LatentStates(
            kind="linear" if lowest < 0 else "probabilistic",
            states=states.astype(np.uint32),
            roots=roots.astype(np.float32),
            binary=_flat(tensors),
            binary_counts=np.array([tensor.size for tensor in tensors], dtype=np.uint32),
            binary_positions=np.zeros(0, dtype=np.uint32),
            emission_ratios=_flat(ratios),
            ratio_symbols=np.array([self.ids[name] for name, _ in entries], dtype=np.uint32),
            entry_ratios=np.arange(len(entries), dtype=np.uint32),
            tag_emissions=tags.astype(np.float32),
        ).sparse(rules)


def _symbols(names: Sequence[str], preterminals: dict[str, None]) -> tuple[Symbol, ...]:
    """The symbols of names; a name that would be another one's symbol keeps its marks."""
    found: dict[Symbol, None] = {}
    for name in names:
        tag = name in preterminals
        marked = name.startswith("@") and len(name) > 1 and not tag
        parts = [name[1:]] if marked else name.split("|")
        # A tag may be a bar itself.
        labels = tuple(part.removesuffix(_PHRASE) for part in parts) if all(parts) else (name,)
        symbol = Symbol(labels, siblings=() if marked else None, preterminal=tag)
        found[Symbol((name,), preterminal=tag) if symbol in found else symbol] = None
    return tuple(found)


def _expected_counts(roots: Floats, rules: NDArray[np.int64], probabilities: Floats) -> Floats:
    """The expected number of nodes with each symbol, per tree."""
    children = np.zeros((len(roots), len(roots)))
    for child in (1, 2):
        np.add.at(children, (rules[:, child], rules[:, 0]), probabilities)
    counts = np.linalg.lstsq(np.eye(len(roots)) - children, roots, rcond=None)[0]
    bounded: Floats = np.maximum(counts, 1e-12)
    return bounded


def _flat(arrays: Sequence[Floats]) -> NDArray[np.float32]:
    parts = [array.ravel() for array in arrays]
    return np.concatenate([np.zeros(0), *parts]).astype(np.float32)

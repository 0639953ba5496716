"""The parameters of EVALB: .prm files, and two built-in sets of parameters."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property

from lpcfg.errors import InputError
from lpcfg.treebank.text_lines import numbered_lines

__all__ = ["COLLINS", "NEW", "EvalbParameters", "find_parameters", "read_parameters"]

Pair = tuple[str, str]


@dataclass(frozen=True)
class EvalbParameters:
    """The parameters of EVALB: labels and words that are ignored or treated as equal, and limits.

    The defaults are the defaults of EVALB without a .prm file.

    >>> parameters = EvalbParameters(delete_labels=frozenset({"ROOT"}))
    >>> parameters.deletes_phrase("ROOT"), parameters.cutoff_length
    (True, 40)
    """

    debug: int = 0
    """1 or more: list words and brackets below the line of each sentence."""
    max_error: int | None = 10
    """EVALB stops at the error after the one that exceeds this number; None: never."""
    cutoff_length: int = 40
    """The largest number of words of the sentences in the second summary."""
    labelled: bool = True
    """Whether brackets must agree in their labels."""
    delete_labels: frozenset[str] = frozenset()
    """Tags whose words are deleted, and phrase labels whose brackets are deleted."""
    delete_labels_for_length: frozenset[str] = frozenset()
    """Tags of words that do not count for the length of a sentence."""
    quote_labels: frozenset[str] = frozenset()
    """Tags that one quotation mark may have in one tree and not in the other."""
    equivalent_labels: frozenset[Pair] = frozenset()
    """Pairs of labels (of phrases or tags) that count as the same."""
    equivalent_words: frozenset[Pair] = frozenset()
    """Pairs of words that count as the same."""

    def deletes_phrase(self, label: str) -> bool:
        """Whether brackets with this label, after cutting function tags, are ignored.

        >>> NEW.deletes_phrase("TOP"), NEW.deletes_phrase("NP")
        (True, False)
        """
        return label in self._deleted_phrases

    def same_label(self, first: str, second: str) -> bool:
        """Whether two labels count as the same.

        >>> NEW.same_label("PRT", "ADVP"), NEW.same_label("NP", "ADVP")
        (True, False)
        """
        return first == second or (first, second) in self._label_pairs

    def same_word(self, first: str, second: str) -> bool:
        """Whether two words count as the same.

        >>> NEW.same_word("dog", "dog"), NEW.same_word("dog", "Dog")
        (True, False)
        """
        return first == second or (first, second) in self._word_pairs

    @cached_property
    def label_classes(self) -> dict[str, str]:
        """The labels that have equivalents, each with the name of its equivalence class.

        >>> NEW.label_classes
        {'ADVP': 'ADVP/PRT', 'PRT': 'ADVP/PRT'}
        """
        members: dict[str, set[str]] = {}
        for first, second in self.equivalent_labels:
            union = members.get(first, {first}) | members.get(second, {second})
            members.update(dict.fromkeys(union, union))
        return {label: "/".join(sorted(members[label])) for label in sorted(members)}

    @cached_property
    def _label_pairs(self) -> frozenset[Pair]:
        return _both_ways(self.equivalent_labels)

    @cached_property
    def _word_pairs(self) -> frozenset[Pair]:
        return _both_ways(self.equivalent_words)

    @cached_property
    def _deleted_phrases(self) -> frozenset[str]:
        linked = (first for first, second in self._label_pairs if second in self.delete_labels)
        return self.delete_labels.union(linked)


def _both_ways(pairs: Iterable[Pair]) -> frozenset[Pair]:
    return frozenset(pair for first, second in pairs for pair in ((first, second), (second, first)))


COLLINS = EvalbParameters(
    delete_labels=frozenset({"TOP", "-NONE-", ",", ":", "``", "''", "."}),
    delete_labels_for_length=frozenset({"-NONE-"}),
    equivalent_labels=frozenset({("ADVP", "PRT")}),
)
"""COLLINS.prm, which most published figures for the Penn Treebank were computed with."""

NEW = EvalbParameters(
    max_error=None,
    delete_labels=COLLINS.delete_labels | {"S1", "?", "!"},
    delete_labels_for_length=COLLINS.delete_labels_for_length,
    quote_labels=frozenset({"``", "''", "POS", "NN", "CD", "VBZ", ":"}),
    equivalent_labels=COLLINS.equivalent_labels,
)
"""new.prm, the settings EVALB recommends, but without a limit to the number of errors."""


def _without_punctuation(*tags: str) -> EvalbParameters:
    """Parameters for a tag set: these tags are punctuation, and roots do not count."""
    return EvalbParameters(
        max_error=None,
        delete_labels=frozenset({"TOP", "S1", "ROOT", "VROOT", "-NONE-", *tags}),
        delete_labels_for_length=frozenset({"-NONE-"}),
    )


_EAGLES_MARKS = [
    "aa",
    "at",
    "c",
    "ca",
    "ct",
    "d",
    "e",
    "g",
    "h",
    "ia",
    "it",
    "la",
    "lt",
    "p",
    "pa",
    "pt",
    "ra",
    "rc",
    "s",
    "t",
    "x",
    "z",
]

BUILT_IN = {
    "new": NEW,
    "collins": COLLINS,
    "all-words": _without_punctuation(),
    "cess": _without_punctuation(*(f"F{mark}" for mark in _EAGLES_MARKS)),
    "keyaki": _without_punctuation("PU", "-LRB-", "-RRB-"),
    "icepahc": _without_punctuation(",", ".", '"', "'", ":", "-LRB-", "-RRB-"),
    "negra": _without_punctuation("$,", "$.", "$(", "$[", "$*LRB*", "$*RRB*"),
}
"""Parameters by name: those of EVALB, those of tag sets, and one that counts punctuation too."""


def find_parameters(name: EvalbParameters | str | os.PathLike[str]) -> EvalbParameters:
    """Parameters by name, a key of BUILT_IN, or from a .prm file; an object is returned as is.

    >>> find_parameters("COLLINS").max_error
    10
    """
    if isinstance(name, EvalbParameters):
        return name
    if isinstance(name, str) and name.lower() in BUILT_IN:
        return BUILT_IN[name.lower()]
    return read_parameters(name)


def read_parameters(path: str | os.PathLike[str]) -> EvalbParameters:
    r"""Read a .prm file. Lines that EVALB would warn about or misread are errors here.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "mine.prm")
    ...     _ = file.write_text("# custom\nCUTOFF_LEN 70\nDELETE_LABEL ROOT\n")
    ...     parameters = read_parameters(file)
    >>> parameters.cutoff_length, parameters.delete_labels
    (70, frozenset({'ROOT'}))
    """
    reader = _Reader()
    for number, line in numbered_lines(path):
        if not line.startswith("#"):
            try:
                reader.read(line)
            except ValueError as error:
                raise InputError(str(error), path=path, line=number) from None
    return reader.parameters()


class _Reader:
    """The values of a .prm file read so far; labels and pairs add up, a later number wins."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}
        self.labels: dict[str, set[str]] = {
            "DELETE_LABEL": set(),
            "DELETE_LABEL_FOR_LENGTH": set(),
            "QUOTE_LABEL": set(),
        }
        self.pairs: dict[str, set[Pair]] = {"EQ_LABEL": set(), "EQ_WORD": set()}
        number_readers: dict[str, Callable[[str, str], None]] = dict.fromkeys(
            ("DEBUG", "MAX_ERROR", "CUTOFF_LEN", "LABELED"), self._read_number
        )
        self.readers: dict[str, Callable[[str, str], None]] = (
            number_readers
            | dict.fromkeys(self.labels, self._read_label)
            | dict.fromkeys(self.pairs, self._read_pair)
        )

    def read(self, line: str) -> None:
        if line[0].isspace():
            raise ValueError("a parameter must start at the beginning of its line")
        keyword, *rest = line.split(maxsplit=1)
        if keyword not in self.readers:
            keywords = ", ".join(sorted(self.readers))
            raise ValueError(f"unknown parameter {keyword!r}; the known ones are {keywords}")
        self.readers[keyword](keyword, rest[0].strip() if rest else "")

    def _read_number(self, keyword: str, value: str) -> None:
        if not (value.isascii() and value.isdecimal()):
            raise ValueError(f"{keyword} takes an integer, not {value!r}")
        if keyword == "LABELED" and value not in {"0", "1"}:
            raise ValueError(f"LABELED is 0 (ignore labels) or 1, not {value!r}")
        self.numbers[keyword] = int(value)

    def _read_label(self, keyword: str, value: str) -> None:
        if len(value.split()) != 1:
            raise ValueError(f"{keyword} takes one label, not {value!r}")
        self.labels[keyword].add(value)

    def _read_pair(self, keyword: str, value: str) -> None:
        parts = value.split()
        if len(parts) != 2:
            raise ValueError(f"{keyword} takes two values, not {value!r}")
        self.pairs[keyword].add((parts[0], parts[1]))

    def parameters(self) -> EvalbParameters:
        default = EvalbParameters()
        return EvalbParameters(
            debug=self.numbers.get("DEBUG", default.debug),
            max_error=self.numbers.get("MAX_ERROR", default.max_error),
            cutoff_length=self.numbers.get("CUTOFF_LEN", default.cutoff_length),
            labelled=bool(self.numbers.get("LABELED", default.labelled)),
            delete_labels=frozenset(self.labels["DELETE_LABEL"]),
            delete_labels_for_length=frozenset(self.labels["DELETE_LABEL_FOR_LENGTH"]),
            quote_labels=frozenset(self.labels["QUOTE_LABEL"]),
            equivalent_labels=frozenset(self.pairs["EQ_LABEL"]),
            equivalent_words=frozenset(self.pairs["EQ_WORD"]),
        )

"""The symbols of the nodes of transformed trees."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from lpcfg.errors import InputError

__all__ = ["Symbol"]


class Symbol(NamedTuple):
    """A nonterminal of a transformed tree, in parts, so that labels may have any character.

    ``labels``: the labels of a collapsed unary chain from top to bottom; the last label of a
    preterminal is the tag.
    ``ancestors``: the labels of the parent, the grandparent and so on that vertical Markovisation
    keeps.
    ``siblings``: None for a node of the original tree; for a binarisation node, the sibling labels
    that horizontal Markovisation keeps. A binarisation node has one label, the label of the node
    that was binarised.
    ``preterminal``: whether nodes with this symbol have a word.

    >>> print(Symbol(("S", "VP")), Symbol(("NP",), ("S",)), Symbol(("NP",), (), ("DT",)))
    S+VP NP^S @NP[DT]
    """

    labels: tuple[str, ...]
    ancestors: tuple[str, ...] = ()
    siblings: tuple[str, ...] | None = None
    preterminal: bool = False

    @property
    def is_binarization(self) -> bool:
        """Whether this is a binarisation node, which the original tree does not have.

        >>> Symbol(("NP",)).is_binarization, Symbol(("NP",), siblings=()).is_binarization
        (False, True)
        """
        return self.siblings is not None

    def __str__(self) -> str:
        text = "+".join(self.labels)
        if self.siblings is not None:
            text = f"@{text}[{','.join(self.siblings)}]"
        return "^".join((text, *self.ancestors))

    def to_json(self) -> list[object]:
        """The symbol as a list that JSON can hold.

        >>> Symbol(("NP",), ("S",)).to_json()
        [['NP'], ['S'], None, False]
        """
        siblings = None if self.siblings is None else list(self.siblings)
        return [list(self.labels), list(self.ancestors), siblings, self.preterminal]

    @classmethod
    def from_json(cls, value: object) -> Symbol:
        """Undo :meth:`to_json`, with everything checked.

        ``value``: what :meth:`to_json` returned, or anything else, which is refused.

        >>> Symbol.from_json([["NP"], ["S"], None, False])
        Symbol(labels=('NP',), ancestors=('S',), siblings=None, preterminal=False)
        """
        match value:
            case [labels, ancestors, siblings, bool(preterminal)]:
                names = _labels(labels, value)
                if not names:
                    raise InputError(f"a symbol needs a label: {value!r}", argument="symbol")
                kept = None if siblings is None else _labels(siblings, value)
                return cls(names, _labels(ancestors, value), kept, preterminal)
        raise InputError(f"not a symbol of four parts: {value!r}", argument="symbol")


def _labels(value: object, symbol: object) -> tuple[str, ...]:
    if isinstance(value, Sequence) and not isinstance(value, str):
        labels = tuple(label for label in value if isinstance(label, str))
        if len(labels) == len(value):
            return labels
    raise InputError(f"labels must be lists of strings: {symbol!r}", argument="symbol")

"""Transformed trees as a columnar node table: the input of every estimator."""

from __future__ import annotations

import hashlib
import itertools
import json
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lpcfg import _html
from lpcfg._core import transform_forest, transform_table
from lpcfg.errors import InputError, TreebankError
from lpcfg.treebank.cleaning import Cleaning
from lpcfg.treebank.forest import Forest, gather_trees
from lpcfg.treebank.reader import OnError, ReadReport, TableColumns, TreeReader
from lpcfg.treebank.sources import Sources, source_name
from lpcfg.treebank.symbol import Symbol
from lpcfg.treebank.transform import Transform
from lpcfg.treebank.tree import Tree

#: The largest number of nodes of a binarised tree that notebooks draw.
_LARGEST_DRAWN = 60

__all__ = ["NORMALIZATIONS", "Normalization", "Treebank", "normalized_word"]

#: The Unicode normal forms that words may be brought to.
Normalization: TypeAlias = Literal["NFC", "NFKC"]
NORMALIZATIONS: tuple[Normalization, ...] = get_args(Normalization)


def normalized_word(word: str, form: Normalization | None) -> str:
    """A word in a Unicode normal form; None leaves it as it is.

    >>> normalized_word("\uff21\uff22", "NFKC"), normalized_word("e\u0301", "NFC") == "\u00e9"
    ('AB', True)
    """
    return word if form is None else unicodedata.normalize(form, word)


InvertibleColumns: TypeAlias = tuple[
    NDArray[np.uint32],
    NDArray[np.int32],
    NDArray[np.int32],
    NDArray[np.int32],
    NDArray[np.int64],
]


@dataclass(frozen=True, eq=False, slots=True)
class Treebank:
    """Binarised trees as a node table: trees in order, nodes in post-order, an array per column.

    ``symbol`` is an index into ``symbols``, and ``word`` one into ``words``. The nodes of tree i
    begin at ``tree_offsets[i]``. ``transform`` is the transform of the trees.
    ``left``, ``right`` and ``parent`` are indices into the whole table, -1 where there is none: a
    unary node has only a left child, a preterminal has no children, a root has no parent. ``start``
    and ``end`` count tokens within the sentence, ``end`` exclusive. ``word`` is -1 except for
    preterminals. ``cleaning`` is None if the trees were not cleaned. ``weights`` has the weight of
    each tree: in the counts of an estimator, a tree with weight 2 is a tree that occurs twice. None
    stands for weights of 1; see :meth:`weighted`. ``normalization`` is the Unicode normal form that
    words were brought to, None if they were not; see :meth:`normalized`.

    >>> bank = Treebank.from_trees([Tree.from_string("(S (NP (PRP it)) (VP (VBD rained)))")])
    >>> bank.left.tolist(), bank.right.tolist(), bank.parent.tolist()
    ([-1, -1, 0], [-1, -1, 1], [2, 2, -1])
    >>> [str(bank.symbols[symbol]) for symbol in bank.symbol]
    ['NP+PRP^S', 'VP+VBD^S', 'ROOT+S']
    """

    symbol: NDArray[np.uint32]
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    parent: NDArray[np.int32]
    start: NDArray[np.int32]
    end: NDArray[np.int32]
    word: NDArray[np.int32]
    tree_offsets: NDArray[np.int64]
    symbols: tuple[Symbol, ...]
    words: tuple[str, ...]
    transform: Transform
    cleaning: Cleaning | None = None
    weights: NDArray[np.float64] | None = None
    normalization: Normalization | None = None

    @classmethod
    def read(
        cls,
        sources: Sources,
        *,
        cleaning: Cleaning | Literal[False] | None = None,
        transform: Transform | None = None,
        on_error: OnError = "raise",
        style: str = "penn",
        encoding: str | None = None,
        report: ReadReport | None = None,
    ) -> Treebank:
        """Read, clean and transform trees without building a Python object for each.

        ``sources``, ``on_error``, ``style``, ``encoding`` and ``report`` are the arguments of
        :func:`~lpcfg.treebank.reader.read_trees`. ``cleaning`` and ``transform`` default to
        ``Cleaning()`` and ``Transform()``; ``cleaning=False`` keeps trees as they are. Trees that
        have no nodes after cleaning are dropped and counted in the report.

        >>> import io
        >>> bank = Treebank.read(io.BytesIO(b"( (S (NP-SBJ (PRP we)) (VP (VBP sing))))"))
        >>> print(bank.symbols[bank.symbol[-1]])
        ROOT+S
        """
        transform = transform or Transform()
        reader = TreeReader(sources, on_error, True, style, encoding, report)
        chosen = reader.style.cleaning(_cleaning(cleaning))
        treebank = cls.from_table(reader.table(chosen, transform), transform, chosen)
        if not len(treebank):
            names = ", ".join(map(source_name, reader.sources))
            raise TreebankError(f"no trees in {names or 'an empty list of files'}")
        return treebank

    @classmethod
    def from_trees(
        cls,
        trees: Iterable[Tree],
        *,
        cleaning: Cleaning | Literal[False] | None = None,
        transform: Transform | None = None,
    ) -> Treebank:
        """Clean and transform trees, as :meth:`read` does with the trees of files.

        >>> bank = Treebank.from_trees([Tree.from_string("(NP-1 (NN rain))")])
        >>> print(*bank.trees())
        (ROOT (NP (NN rain)))
        >>> bank = Treebank.from_trees([Tree.from_string("(NP-1 (NN rain))")], cleaning=False)
        >>> print(*bank.trees())
        (NP-1 (NN rain))
        """
        cleaning, transform = _cleaning(cleaning), transform or Transform()
        forest = Forest.from_trees(trees)
        table = transform_forest(forest.columns, cleaning, transform)
        return cls.from_table(table, transform, cleaning)

    @classmethod
    def from_table(
        cls, table: TableColumns, transform: Transform, cleaning: Cleaning | None
    ) -> Treebank:
        """A treebank from the columns, symbols and words that the core computes.

        ``transform``, ``cleaning``: how the trees were transformed and cleaned; None if they were
        not cleaned.

        >>> import io
        >>> from lpcfg.treebank.reader import read_table
        >>> table = read_table(io.BytesIO(b"(NN rain)"), None, Transform())
        >>> Treebank.from_table(table, Transform(), None).words
        ('rain',)
        """
        columns, symbols, words = table
        return cls(
            *columns,
            symbols=tuple(
                Symbol(
                    tuple(labels),
                    tuple(ancestors),
                    None if siblings is None else tuple(siblings),
                    preterminal,
                )
                for labels, ancestors, siblings, preterminal in symbols
            ),
            words=tuple(words),
            transform=transform,
            cleaning=cleaning,
        )

    def __len__(self) -> int:
        return len(self.tree_offsets) - 1

    def __repr__(self) -> str:
        return (
            f"<Treebank of {len(self)} trees, {len(self.symbol)} nodes, "
            f"{len(self.symbols)} symbols, {len(self.words)} words>"
        )

    @property
    def columns(self) -> InvertibleColumns:
        """The columns that the trees can be restored from, as the core takes them.

        >>> len(Treebank.from_trees([Tree("NN", "rain")]).columns)
        5
        """
        return self.symbol, self.left, self.right, self.word, self.tree_offsets

    def _repr_html_(self) -> str:
        """A summary as notebooks show it, with the first tree that is not large."""
        rows: list[tuple[object, ...]] = [
            ("trees", len(self)),
            ("words", len(self.words)),
            ("nodes", len(self.symbol)),
            ("symbols", len(self.symbols)),
            ("binarisation", self.transform.binarize),
            ("ancestors, siblings", f"{self.transform.vertical}, {self.transform.horizontal}"),
        ]
        shown = _html.table(rows)
        lengths = np.diff(self.tree_offsets)
        small = np.flatnonzero(lengths <= _LARGEST_DRAWN)[:1]
        if small.size:
            tree = self.subset(small).trees()[0]
            shown += _html.caption(f"tree {small[0]}:") + _html.drawing(tree.to_svg())
        return shown

    def subset(self, trees: ArrayLike) -> Treebank:
        """The trees with these indices, in the given order; symbols and words stay.

        >>> bank = Treebank.from_trees([Tree("NN", "rain"), Tree("NN", "sun")])
        >>> bank.subset([1]).trees()
        [Tree.from_string('(ROOT (NN sun))')]
        """
        nodes, offsets = gather_trees(self.tree_offsets, trees)
        shift = (np.arange(len(nodes)) - nodes).astype(np.int32)

        def moved(column: NDArray[np.int32]) -> NDArray[np.int32]:
            return np.where(column[nodes] < 0, np.int32(-1), column[nodes] + shift)

        return replace(
            self,
            symbol=self.symbol[nodes],
            left=moved(self.left),
            right=moved(self.right),
            parent=moved(self.parent),
            start=self.start[nodes],
            end=self.end[nodes],
            word=self.word[nodes],
            tree_offsets=offsets,
            weights=None if self.weights is None else self.weights[np.asarray(trees)],
        )

    def weighted(self, weights: ArrayLike) -> Treebank:
        """The trees with these weights, in place of any that they had.

        An estimator counts a tree with weight 2 as two trees. Trees with weight 0 are left out.

        >>> bank = Treebank.from_trees([Tree("NN", "rain"), Tree("NN", "sun"), Tree("NN", "fog")])
        >>> bank.weighted([3, 0, 0.5])
        <Treebank of 2 trees, 2 nodes, 1 symbols, 3 words>
        >>> bank.weighted([3, 0, 0.5]).weights
        array([3. , 0.5])
        """
        values = np.array(weights, dtype=np.float64)
        if values.shape != (len(self),):
            raise InputError(
                f"must be a number for each of the {len(self)} trees, not of shape {values.shape}",
                argument="weights",
            )
        if not np.all((values >= 0) & (values < np.inf)):
            tree = int(np.flatnonzero(~((values >= 0) & (values < np.inf)))[0])
            raise InputError(
                f"must be finite and not negative; tree {tree + 1} has {values[tree]}",
                argument="weights",
            )
        weighted = replace(self, weights=values)
        return weighted if np.all(values > 0) else weighted.subset(np.flatnonzero(values))

    def node_weights(self, nodes: NDArray[Any] | None = None) -> NDArray[np.float64] | None:
        """The weight of the tree of each node; None if trees have no weights.

        ``nodes``: indices of nodes, or a Boolean for each node; all nodes by default.

        >>> bank = Treebank.from_trees([Tree.from_string("(NP (DT the) (NN rain))")] * 2)
        >>> bank.weighted([1, 2]).node_weights()
        array([1., 1., 1., 2., 2., 2.])
        >>> bank.weighted([1, 2]).node_weights(bank.parent < 0)
        array([1., 2.])
        """
        if self.weights is None:
            return None
        weights = np.repeat(self.weights, np.diff(self.tree_offsets))
        return weights if nodes is None else weights[nodes]

    def trees(self) -> list[Tree]:
        """The trees before the transform.

        >>> Treebank.from_trees([Tree("NN", "rain")]).trees()
        [Tree.from_string('(ROOT (NN rain))')]
        """
        return self.transform.invert(self)

    def transformed(self, transform: Transform) -> Treebank:
        """The same trees with another transform.

        >>> bank = Treebank.from_trees([Tree.from_string("(X (A a) (B b) (C c))")])
        >>> print(*bank.transformed(Transform(binarize="left")).symbols)
        A^X B^X @X[B] C^X ROOT+X
        """
        table = transform_table(self.columns, self.symbols, self.words, transform)
        transformed = Treebank.from_table(table, transform, self.cleaning)
        return replace(transformed, weights=self.weights, normalization=self.normalization)

    def normalized(self, form: Normalization | None) -> Treebank:
        """The same trees with words in a Unicode normal form; None leaves them as they are.

        A grammar that is learnt from them brings the words of sentences to the same form before it
        looks them up. The trees that it finds have the words as they were given.

        >>> bank = Treebank.from_trees([Tree("NN", "\uff21"), Tree("NN", "A")]).normalized("NFKC")
        >>> bank.words, bank.normalization
        (('A',), 'NFKC')
        """
        if form is None:
            return self
        if form not in NORMALIZATIONS:
            choices = " or ".join(NORMALIZATIONS)
            raise InputError(f"must be {choices}, not {form!r}", argument="normalize")
        numbers: dict[str, int] = {}
        words = (normalized_word(word, form) for word in self.words)
        new = np.array([numbers.setdefault(word, len(numbers)) for word in words], dtype=np.int32)
        word = np.where(self.word < 0, np.int32(-1), new[self.word]) if len(new) else self.word
        return replace(self, word=word, words=tuple(numbers), normalization=form)

    def sentences(self) -> list[tuple[list[str], list[str]]]:
        """The words and the tags of each sentence.

        >>> Treebank.from_trees([Tree.from_string("(NP (DT the) (NN rain))")]).sentences()
        [(['the', 'rain'], ['DT', 'NN'])]
        """
        leaves = np.flatnonzero(self.word >= 0)
        words = [self.words[word] for word in self.word[leaves].tolist()]
        symbol_tags = [symbol.labels[-1] for symbol in self.symbols]
        tags = [symbol_tags[symbol] for symbol in self.symbol[leaves].tolist()]
        bounds = np.searchsorted(leaves, self.tree_offsets).tolist()
        return [(words[start:end], tags[start:end]) for start, end in itertools.pairwise(bounds)]

    @property
    def digest(self) -> str:
        """A hash of the content, the same on every machine, for provenance.

        >>> Treebank.from_trees([Tree("NN", "rain")], cleaning=False).digest[:8]
        '8c74c669'
        """
        digest = hashlib.sha256()
        for column in self.columns:
            digest.update(column.astype("<i8").tobytes())
        if self.weights is not None:
            digest.update(self.weights.astype("<f8").tobytes())
        vocabulary = [[symbol.to_json() for symbol in self.symbols], self.words]
        digest.update(json.dumps(vocabulary).encode())
        return digest.hexdigest()

    @property
    def provenance(self) -> dict[str, Any]:
        """The provenance that a grammar stores about its training trees.

        >>> Treebank.from_trees([Tree("NN", "rain")]).provenance["trees"]
        1
        """
        return {
            "trees": len(self),
            **({} if self.weights is None else {"weighted_trees": float(self.weights.sum())}),
            "treebank": self.digest,
            "transform": self.transform.to_dict(),
            "cleaning": {} if self.cleaning is None else self.cleaning.to_dict(),
            **({} if self.normalization is None else {"normalization": self.normalization}),
        }


def _cleaning(cleaning: Cleaning | Literal[False] | None) -> Cleaning | None:
    """The cleaning for an argument of :meth:`Treebank.read`: None is the default, False none."""
    if cleaning is False:
        return None
    return Cleaning() if cleaning is None else cleaning

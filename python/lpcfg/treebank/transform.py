"""Tree transforms: binarisation, Markovisation, collapsed unary chains, and the exact inverse."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

from lpcfg._core import invert_table, transform_forest
from lpcfg._options import build_options
from lpcfg.errors import InputError
from lpcfg.treebank.forest import Forest
from lpcfg.treebank.tree import Tree

if TYPE_CHECKING:
    from lpcfg.treebank.treebank import Treebank

__all__ = ["Transform"]

Direction = Literal["left", "right"]
Annotated = Literal["original", "all"]


@dataclass(frozen=True, slots=True)
class Transform:
    """A tree transform: binarisation, Markovisation and collapsing of unary chains.

    The default is the two-stage scheme, (v < 1, h = 1).

    ``binarize``: the side to which binarisation nodes branch. For a node ``X`` with children ``c1``
    to ``cn``, ``"right"`` (default) gives ``X -> c1 @X`` with ``@X`` over the other children, and
    ``"left"`` gives ``X -> @X cn``.

    ``horizontal``: the number of sibling labels in the symbol of a binarisation node (default 1).
    They are the labels of the first children it covers, in the order of generation; None for all.

    ``vertical``: the number of ancestor labels in the symbol of a node (default 1).

    ``annotate``: the nodes that have ancestor labels: nodes of the ``"original"`` tree (default;
    two-stage: vertical Markovisation before binarisation) or ``"all"``, with binarisation nodes.

    ``annotate_preterminals``: whether preterminals have ancestor labels, too (default True).

    ``collapse_root``, ``collapse_inside``, ``collapse_preterminals``: the unary chains that become
    one node (default: all): chains that start at the root of a tree, chains that end in a node with
    several children, chains that end in a preterminal. Without ``collapse_root`` the root stays a
    separate node and the chain below it is like any other. So a one-word sentence becomes a
    single preterminal with ``collapse_root``, and a root above a preterminal without.

    >>> tree = Tree.from_string("(S (NP (DT a) (JJ big) (NN dog)) (VP (VBD barked)))")
    >>> bank = Transform().apply([tree])
    >>> [str(bank.symbols[symbol]) for symbol in bank.symbol]
    ['DT^NP', 'JJ^NP', 'NN^NP', '@NP[JJ]', 'NP^S', 'VP+VBD^S', 'S']
    >>> Transform().invert(bank) == [tree]
    True
    """

    binarize: Direction = "right"
    horizontal: int | None = 1
    vertical: int = 1
    annotate: Annotated = "original"
    annotate_preterminals: bool = True
    collapse_root: bool = True
    collapse_inside: bool = True
    collapse_preterminals: bool = True

    def __post_init__(self) -> None:
        for name, choices in (("binarize", Direction), ("annotate", Annotated)):
            if getattr(self, name) not in get_args(choices):
                allowed = " or ".join(map(repr, get_args(choices)))
                raise InputError(
                    f"{name} must be {allowed}, not {getattr(self, name)!r}", argument=name
                )
        if not _is_count(self.vertical):
            raise InputError(
                f"vertical must be an integer from 0, not {self.vertical!r}", argument="vertical"
            )
        if self.horizontal is not None and not _is_count(self.horizontal):
            raise InputError(
                f"horizontal must be an integer from 0, or None, not {self.horizontal!r}",
                argument="horizontal",
            )

    def apply(self, trees: Forest | Iterable[Tree]) -> Treebank:
        """The node table of trees as they are, without cleaning; empty trees are left out.

        >>> len(Transform().apply([Tree("NN", "rain")]))
        1
        """
        # The module of Treebank imports this one.
        from lpcfg.treebank.treebank import Treebank

        forest = trees if isinstance(trees, Forest) else Forest.from_trees(trees)
        return Treebank.from_table(transform_forest(forest.columns, None, self), self, None)

    def invert(self, treebank: Treebank) -> list[Tree]:
        """The trees before the transform.

        ``treebank``: a table that this transform has made, or a part of it.

        >>> Transform().invert(Transform().apply([Tree("NN", "rain")]))
        [Tree.from_string('(NN rain)')]
        """
        return [tree for tree in self.invert_columns(treebank).trees() if tree is not None]

    def invert_columns(self, treebank: Treebank) -> Forest:
        """The trees before the transform, as columns.

        ``treebank``: a table that this transform has made, or a part of it.

        >>> Transform().invert_columns(Transform().apply([Tree("NN", "rain")])).word_names
        ['rain']
        """
        return Forest(*invert_table(treebank.columns, treebank.symbols, treebank.words))

    def to_dict(self) -> dict[str, Any]:
        """The options as a dictionary that JSON can represent.

        >>> Transform(horizontal=None).to_dict()["horizontal"] is None
        True
        """
        return asdict(self)

    @classmethod
    def from_dict(cls, options: Mapping[str, Any]) -> Transform:
        """Undo :meth:`to_dict`; ``options`` that are absent have their defaults.

        >>> Transform.from_dict({"vertical": 2}).vertical
        2
        """
        return build_options(cls, options)


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0

"""Cleaning of trees before training: function tags, empty elements, repeated labels, roots."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

from lpcfg._core import clean_forest
from lpcfg._options import build_options
from lpcfg.errors import InputError
from lpcfg.treebank.forest import Forest
from lpcfg.treebank.tree import Tree

__all__ = ["Cleaning"]

FunctionTags = Literal["phrases", "all", "keep"]


@dataclass(frozen=True, slots=True)
class Cleaning:
    """Treebank cleaning: function tags, empty elements, repeated labels and roots.

    By default all steps are applied.

    ``function_tags``: cut function tags and indices from the labels of ``"phrases"`` (default), of
    ``"all"`` nodes, or ``"keep"`` them. Tags of words are left alone by default, because many tag
    sets have hyphens in them.

    ``separators``: function tags follow the first of these characters in a label. None stands for
    those of the style of the treebank (see :func:`~lpcfg.read_trees`), which are ``-`` and ``=`` in
    most. Labels like ``-LRB-`` always stay whole.

    ``remove_empty``: remove traces (``-NONE-``), and phrases that have no words left.

    ``merge_repeated``: merge a phrase with its only child if that is a phrase with the same label.

    ``root_label``: give every tree exactly one root of this label. A root with the label ROOT, TOP
    or S1, or without a label, is renamed; any other gets a parent. With None, roots stay as they
    are, except that a root without a label is dropped if it has one child.

    >>> tree = Tree.from_string("( (S (NP-SBJ (PRP we)) (VP (VBP sing) (NP (-NONE- *)))))")
    >>> print(Cleaning().clean(tree))
    (ROOT (S (NP (PRP we)) (VP (VBP sing))))
    """

    function_tags: FunctionTags = "phrases"
    separators: str | None = None
    remove_empty: bool = True
    merge_repeated: bool = True
    root_label: str | None = "ROOT"

    def __post_init__(self) -> None:
        if self.function_tags not in get_args(FunctionTags):
            choices = ", ".join(map(repr, get_args(FunctionTags)))
            raise InputError(
                f"function_tags must be one of {choices}, not {self.function_tags!r}",
                argument="function_tags",
            )
        if self.separators is not None and not isinstance(self.separators, str):
            raise InputError(
                f"separators must be a string of characters or None, not {self.separators!r}",
                argument="separators",
            )
        for name in ("remove_empty", "merge_repeated"):
            if not isinstance(getattr(self, name), bool):
                raise InputError(
                    f"{name} must be True or False, not {getattr(self, name)!r}", argument=name
                )
        if self.root_label is not None and not isinstance(self.root_label, str):
            raise InputError(
                f"root_label must be a string or None, not {self.root_label!r}",
                argument="root_label",
            )
        if self.root_label == "":
            raise InputError(
                "root_label must not be empty; None leaves roots as they are",
                argument="root_label",
            )

    def apply(self, forest: Forest) -> Forest:
        """Clean every tree. A tree that has no nodes left becomes an empty tree.

        >>> forest = Forest.from_trees([Tree.from_string("(NP-1 (NN rain))")])
        >>> [str(tree) for tree in Cleaning().apply(forest).trees()]
        ['(ROOT (NP (NN rain)))']
        """
        return Forest(*clean_forest(forest.columns, self))

    def clean(self, tree: Tree) -> Tree | None:
        """Clean one tree; None if it has no nodes left.

        >>> Cleaning().clean(Tree.from_string("(NP (-NONE- *))")) is None
        True
        """
        return next(self.apply(Forest.from_trees([tree])).trees())

    def to_dict(self) -> dict[str, Any]:
        """The options as a dictionary that JSON can represent.

        >>> Cleaning.from_dict(Cleaning(root_label="TOP").to_dict()).root_label
        'TOP'
        """
        return asdict(self)

    @classmethod
    def from_dict(cls, options: Mapping[str, Any]) -> Cleaning:
        """Undo :meth:`to_dict`; ``options`` that are absent have their defaults.

        >>> Cleaning.from_dict({"function_tags": "keep"}).function_tags
        'keep'
        """
        return build_options(cls, options)

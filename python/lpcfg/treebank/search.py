"""Subtrees by their label or by a pattern of tgrep."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from lpcfg.errors import InputError, MissingPackageError
from lpcfg.treebank._nltk import import_nltk
from lpcfg.treebank.tree import Tree

__all__ = ["Match", "find_label", "search_trees"]


class Match(NamedTuple):
    """A subtree that was found, with its place: it covers the words from ``start`` to ``end``.

    ``tree``: the subtree.
    ``start``, ``end``: the number of its first word, from 0, and of the one after its last.

    >>> Match(Tree("NN", "cat"), 1, 2).tree.word
    'cat'
    """

    tree: Tree
    start: int
    end: int


def find_label(tree: Tree, label: str) -> list[Match]:
    """The subtrees with a label in pre-order; :meth:`Tree.find` calls this.

    >>> find_label(Tree.from_string("(NP (NN cat))"), "NN")
    [Match(tree=Tree.from_string('(NN cat)'), start=0, end=1)]
    """
    return [match for match in _matches(tree) if match.tree.label == label]


def search_trees(trees: Iterable[Tree], pattern: str) -> Iterator[tuple[int, Match]]:
    """Search trees for a pattern of tgrep, lazily.

    The pattern is compiled once. This needs nltk; ``nltk.tgrep`` describes patterns.

    Parameters
    ----------
    trees : iterable of Tree
        The trees, in any number: one is in memory at a time.
    pattern : str
        The pattern, such as ``NP < PP``; a word that matches stands for its preterminal.

    Yields
    ------
    number : int
        The number of the tree, from 0.
    match : Match
        The subtree and its place.

    Examples
    --------
    >>> trees = [Tree.from_string("(NP (NP (NN news)) (PP (IN of) (NP (NN rain))))")]
    >>> [(number, match.start, match.end) for number, match in search_trees(trees, "NP < PP")]
    [(0, 0, 3)]

    """
    nltk = import_nltk("searching trees by patterns")
    return _found(nltk, trees, pattern, _compiled(pattern))


def _found(
    nltk: Any,  # noqa: ANN401 - nltk has no types
    trees: Iterable[Tree],
    pattern: str,
    matches: Callable[[Any], bool],
) -> Iterator[tuple[int, Match]]:
    for number, tree in enumerate(trees):
        try:
            copy = nltk.ParentedTree.convert(tree.to_nltk())
            all_places = copy.treepositions()
        except RecursionError:
            raise InputError(
                f"tree {number + 1} is too deep to be searched", argument="trees"
            ) from None
        with _pattern_errors(pattern):
            places = {_node_place(copy, place) for place in all_places if matches(copy[place])}
        for place, match in zip(all_places, _with_words(tree), strict=True):
            if place in places and match is not None:
                yield number, match


def _compiled(pattern: str) -> Callable[[Any], bool]:
    """A function that says whether a node of an nltk tree matches."""
    if not isinstance(pattern, str):
        raise InputError(f"expected a string, not {pattern!r}", argument="pattern")
    with _pattern_errors(pattern), warnings.catch_warnings():
        # nltk calls functions of pyparsing by their old names.
        warnings.simplefilter("ignore", DeprecationWarning)
        from nltk import tgrep

        compiled: Callable[[Any], bool] = tgrep.tgrep_compile(pattern)
        return compiled


@contextmanager
def _pattern_errors(pattern: str) -> Iterator[None]:
    """Errors of a pattern, some of which appear only when it is applied."""
    try:
        import pyparsing
    except ImportError as error:
        raise MissingPackageError(
            "searching trees by patterns", package="pyparsing", extra="nltk"
        ) from error
    from nltk.tgrep import TgrepException

    try:
        yield
    except pyparsing.ParseBaseException as error:
        raise InputError(
            f"{pattern!r} is no pattern of tgrep from column {error.column} on; nltk.tgrep "
            "describes them",
            argument="pattern",
        ) from None
    except (TgrepException, ValueError, re.error) as error:
        raise InputError(
            f"{pattern!r} is no pattern of tgrep: {error}", argument="pattern"
        ) from None


def _node_place(tree: Any, place: tuple[int, ...]) -> tuple[int, ...]:  # noqa: ANN401
    return place[:-1] if isinstance(tree[place], str) else place


def _matches(tree: Tree) -> Iterator[Match]:
    spans = tree.spans(preterminals=True)
    for node, (_, start, end) in zip(tree.nodes(), spans, strict=True):
        yield Match(node, start, end)


def _with_words(tree: Tree) -> Iterator[Match | None]:
    """The nodes in pre-order, and None for each word, as nltk counts them."""
    for match in _matches(tree):
        yield match
        if match.tree.is_preterminal:
            yield None

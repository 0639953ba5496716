"""The data of the package: trees sampled from a hand-written grammar, and a model of English."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from lpcfg.grammar.notation import RuleSet, read_rules
from lpcfg.grammar.sampling import sample_trees
from lpcfg.treebank.tree import Tree

__all__ = ["embedded_models", "embedded_rules", "embedded_trees"]

# Longer sentences are rare and hard to read.
_MAX_LENGTH = 25


def embedded_rules() -> RuleSet:
    """The rules of ``data/english.pcfg``, with refined labels such as ``NN/p``.

    >>> embedded_rules().start
    'ROOT'
    """
    text = files("lpcfg.datasets").joinpath("data", "english.pcfg").read_text(encoding="utf-8")
    return read_rules(text)


def embedded_trees(n: int = 400, seed: int = 0) -> list[Tree]:
    """Trees sampled from the embedded rules, with plain labels instead of refined ones.

    The refinements are latent states for an estimator to discover.

    ``n``: the number of trees (default 400). ``seed``: another seed gives other trees (default 0).

    >>> tree = embedded_trees(1)[0]
    >>> tree.label, len(tree.words()) > 1
    ('ROOT', True)
    """
    trees = sample_trees(embedded_rules(), n, seed, _MAX_LENGTH)
    return [_finish(tree, first=True) for tree in trees]


def _finish(tree: Tree, first: bool) -> Tree:
    """Remove the refinements from the labels, and capitalise the first word.

    Recursion is safe here: sentences are short and chains of unary rules shorter.
    """
    label = tree.label.partition("/")[0]
    if tree.word is not None:
        return Tree(label, tree.word[0].upper() + tree.word[1:] if first else tree.word)
    children = enumerate(tree.children)
    return Tree(label, [_finish(child, first and position == 0) for position, child in children])


def embedded_models() -> dict[str, Path]:
    """The models that come with the package: their names, and their files.

    ``lpcfg.Parser.load("english")`` loads the default model of ``lpcfg parse``.

    >>> list(embedded_models())
    ['english']
    """
    return {"english": Path(str(files("lpcfg.datasets").joinpath("data", "english.lpcfg")))}

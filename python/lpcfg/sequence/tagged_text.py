"""Tagged text as further sentences for a tagger."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from lpcfg.errors import InputError
from lpcfg.formats.dependencies import Dependencies
from lpcfg.treebank.escaping import escape, escape_brackets
from lpcfg.treebank.treebank import Treebank

__all__ = ["with_tagged_text"]


def with_tagged_text(treebank: Treebank, text: Dependencies) -> Treebank:
    """The trees of a treebank, and the sentences of tagged text as flat trees.

    A tagger that is trained on them knows more words than the treebank has. Sentences in which a
    word has no tag are left out.

    - ``treebank``: trees; their cleaning is applied to all.
    - ``text``: sentences with tags; what they have beside tags is not used.

    >>> from lpcfg import DependencyTree, Tagger, Tree
    >>> trees = Treebank.from_trees([Tree.from_string("(S (PRP it) (VBD rained))")])
    >>> rain = DependencyTree(("PRP", "VBD"), (1, 0), ("nsubj", "root"))
    >>> both = with_tagged_text(trees, Dependencies([(["it", "snowed"], rain)]))
    >>> both.sentences()
    [(['it', 'rained'], ['PRP', 'VBD']), (['it', 'snowed'], ['PRP', 'VBD'])]
    """
    with TemporaryDirectory() as place:
        gold, flat = Path(place, "gold.mrg"), Path(place, "flat.mrg")
        with gold.open("w", encoding="utf-8") as file:
            file.writelines(f"{tree}\n" for tree in treebank.trees())
        found = 0
        with flat.open("w", encoding="utf-8") as file:
            for words, tree in text.items():
                if None not in tree.tags:
                    pairs = zip(tree.tags, words, strict=True)
                    leaves = " ".join(
                        f"({_token(tag or '')} {_token(word)})" for tag, word in pairs
                    )
                    file.write(f"(X {leaves})\n")
                    found += 1
        if not found:
            raise InputError("no sentence has a tag for each of its words", argument="text")
        return Treebank.read(
            [gold, flat], cleaning=treebank.cleaning or False, transform=treebank.transform
        )


def _token(text: str) -> str:
    return escape_brackets(escape(text))

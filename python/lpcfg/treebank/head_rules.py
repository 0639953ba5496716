"""Head rules: which child of a phrase is its head."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from lpcfg.errors import InputError
from lpcfg.treebank._head_tables import HEAD_TABLES
from lpcfg.treebank._learnt_heads import learn_head_table
from lpcfg.treebank.text_lines import read_text
from lpcfg.treebank.treebank import Treebank

__all__ = ["COLLINS", "HEAD_RULES", "HeadRules", "resolve_head_rules"]

#: Names of head rules: Collins's table for English, rules that are learnt from the treebank,
#: whichever of these suits its labels, or the tables of other treebanks.
HEAD_RULES = ("auto", "collins", "learnt", *HEAD_TABLES)

Side = Literal["left", "right"]

#: A step of a search: from which side it starts, and the labels any of which it looks for.
Step = tuple[Side, tuple[str, ...]]


def _steps(side: Side, labels: str) -> tuple[Step, ...]:
    """A search for one label after the other, then for any child, always from the same side."""
    return (*((side, (label,)) for label in labels.split()), (side, ()))


#: The head table of Collins (1999, appendix A); an empty tuple of labels stands for any child.
COLLINS: Mapping[str, tuple[Step, ...]] = {
    "ADJP": _steps("left", "NNS QP NN $ ADVP JJ VBN VBG ADJP JJR NP JJS DT FW RBR RBS SBAR RB"),
    "ADVP": _steps("right", "RB RBR RBS FW ADVP TO CD JJR JJ IN NP JJS NN"),
    "CONJP": _steps("right", "CC RB IN"),
    "FRAG": _steps("right", ""),
    "INTJ": _steps("left", ""),
    "LST": _steps("right", "LS :"),
    "NAC": _steps("left", "NN NNS NNP NNPS NP NAC EX $ CD QP PRP VBG JJ JJS JJR ADJP FW"),
    "NP": (
        ("right", ("NN", "NNP", "NNPS", "NNS", "NX", "POS", "JJR")),
        ("left", ("NP",)),
        ("right", ("$", "ADJP", "PRN")),
        ("right", ("CD",)),
        ("right", ("JJ", "JJS", "RB", "QP")),
        ("right", ()),
    ),
    "PP": _steps("right", "IN TO VBG VBN RP FW"),
    "PRN": _steps("left", ""),
    "PRT": _steps("right", "RP"),
    "QP": _steps("left", "$ IN NNS NN JJ RB DT CD NCD QP JJR JJS"),
    "RRC": _steps("right", "VP NP ADVP ADJP PP"),
    "S": _steps("left", "TO IN VP S SBAR ADJP UCP NP"),
    "SBAR": _steps("left", "WHNP WHPP WHADVP WHADJP IN DT S SQ SINV SBAR FRAG"),
    "SBARQ": _steps("left", "SQ S SINV SBARQ FRAG"),
    "SINV": _steps("left", "VBZ VBD VBP VB MD VP S SINV ADJP NP"),
    "SQ": _steps("left", "VBZ VBD VBP VB MD VP SQ"),
    "UCP": _steps("right", ""),
    "VP": _steps("left", "TO VBD VBN MD VBZ VB VBG VBP VP ADJP NN NNS NP"),
    "WHADJP": _steps("left", "CC WRB JJ ADJP"),
    "WHADVP": _steps("right", "CC WRB"),
    "WHNP": _steps("left", "WDT WP WP$ WHADJP WHPP WHNP"),
    "WHPP": _steps("right", "IN TO FW"),
}

#: Tags that are heads only if there are no other children.
PUNCTUATION = frozenset([",", ".", ":", "``", "''", "-LRB-", "-RRB-", "HYPH", "$,", "$.", "$("])


@dataclass(frozen=True)
class HeadRules:
    """Head percolation rules: the search for the head child of a phrase.

    ``table`` maps each label to the steps of a search, which ends with the first step that finds
    a child. For other labels the generic rule applies: a child of the same label, else any
    child, from the side of ``default``. Punctuation is a head only if there are no other children.

    >>> HeadRules().table["PP"][0]
    ('right', ('IN',))
    """

    table: Mapping[str, Sequence[Step]] = field(default_factory=lambda: COLLINS)
    default: Side = "left"
    punctuation: frozenset[str] = PUNCTUATION

    @classmethod
    def learn(cls, treebank: Treebank) -> Self:
        """Rules for the labels of a treebank of any language, learnt from its trees.

        The head is the child that phrases of a label are seldom without and that few other phrases
        have.

        >>> from lpcfg import Tree
        >>> trees = "(PP (NP (D 今) (N 度)) (P は))", "(X (NP (N 雨)) (Y 。))"
        >>> rules = HeadRules.learn(Treebank.from_trees(map(Tree.from_string, trees)))
        >>> rules.table["PP"][0], rules.table["NP"][0]
        (('right', ('P',)), ('right', ('N',)))
        """
        return cls(learn_head_table(treebank), punctuation=frozenset())

    @classmethod
    def read(cls, path: str | PathLike[str]) -> Self:
        r"""Rules from a file with a line for each label, such as ``NP right NN NNS, left NP``.

        After the label, the steps of the search are separated by commas: the side it starts from,
        and the labels any of which it looks for; none stand for any child. A line ``* right`` sets
        the side of the generic rule for other labels, and ``punctuation , .`` names tags that
        are no heads. Text after ``#`` is a comment.

        >>> import pathlib, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = pathlib.Path(folder, "heads.txt")
        ...     _ = file.write_text("PP right P  # Japanese\nIP right VB ADJI, right\n* right\n")
        ...     HeadRules.read(file).table
        {'PP': (('right', ('P',)),), 'IP': (('right', ('VB', 'ADJI')), ('right', ()))}
        """
        return cls._parsed(read_text(path), path)

    @classmethod
    def named(cls, name: str) -> Self:
        """The rules of a treebank: ``ctb`` (Chinese), ``ftb`` (French), ``keyaki`` or ``negra``.

        >>> HeadRules.named("keyaki").table["PP"][0], HeadRules.named("negra").default
        (('right', ('P',)), 'right')
        """
        if name not in HEAD_TABLES:
            choices = ", ".join(HEAD_TABLES)
            raise InputError(f"there is no head table {name!r}, only {choices}", argument="name")
        return cls._parsed(HEAD_TABLES[name], name)

    @classmethod
    def _parsed(cls, text: str, path: str | PathLike[str]) -> Self:
        table: dict[str, tuple[Step, ...]] = {}
        default: Side = "left"
        punctuation = PUNCTUATION
        for number, line in enumerate(text.split("\n"), start=1):
            label, _, rest = line.partition("#")[0].strip().partition(" ")
            if label == "punctuation":
                punctuation = frozenset(rest.split())
            elif label:
                steps = tuple(_read_step(step.split(), path, number) for step in rest.split(", "))
                if label == "*":
                    default = steps[0][0]
                else:
                    table[label] = steps
        return cls(table, default, punctuation)

    def to_json(self) -> dict[str, Any]:
        """The rules as a dictionary that JSON can hold.

        >>> HeadRules({"PP": (("left", ("P",)),)}, punctuation=frozenset([","])).to_json()
        {'table': {'PP': [['left', ['P']]]}, 'default': 'left', 'punctuation': [',']}
        """
        return {
            "table": {
                label: [[side, list(labels)] for side, labels in steps]
                for label, steps in self.table.items()
            },
            "default": self.default,
            "punctuation": sorted(self.punctuation),
        }

    @classmethod
    def from_json(cls, value: object) -> Self:
        """Undo :meth:`to_json`, with everything checked.

        >>> HeadRules.from_json(HeadRules().to_json()) == HeadRules()
        True
        """
        match value:
            case {
                "table": dict(table),
                "default": "left" | "right" as side,
                "punctuation": list(tags),
            }:
                rules = {str(label): tuple(map(_step, steps)) for label, steps in table.items()}
                return cls(rules, side, frozenset(map(str, tags)))
        raise InputError("they need a table, a default side and punctuation", argument="heads")

    def head_children(
        self, treebank: Treebank, levels: Sequence[NDArray[np.int64]]
    ) -> NDArray[np.int64]:
        """The head child of each node of a binary table, -1 for preterminals.

        ``levels`` are the nodes of each depth, roots first. A binarisation node ranks as the best
        of the children it covers.

        >>> from lpcfg import Tree
        >>> bank = Treebank.from_trees([Tree.from_string("(NP (DT the) (NN dog))")])
        >>> [str(bank.symbols[symbol]) for symbol in bank.symbol]
        ['DT^NP', 'NN^NP', 'ROOT+NP']
        >>> HeadRules().head_children(bank, [np.array([2]), np.array([0, 1])])
        array([-1, -1,  1])
        """
        symbols = treebank.symbols
        tops = sorted({symbol.labels[0] for symbol in symbols})
        parents = sorted({symbol.labels[-1] for symbol in symbols})
        step, from_right = self.tables(parents, tops)
        symbol = treebank.symbol
        top = np.array([tops.index(s.labels[0]) for s in symbols])[symbol]
        bottom = np.array([parents.index(s.labels[-1]) for s in symbols])[symbol]
        binarization = np.array([s.is_binarization for s in symbols])[symbol]

        # The step of the search that finds the best child of each node.
        best = np.zeros(len(symbol), dtype=np.int64)
        head = treebank.left.astype(np.int64)
        for nodes in reversed(levels):
            pairs = nodes[treebank.right[nodes] >= 0]
            left, right, label = treebank.left[pairs], treebank.right[pairs], bottom[pairs]
            rank_left = np.where(binarization[left], best[left], step[label, top[left]])
            rank_right = np.where(binarization[right], best[right], step[label, top[right]])
            tie = (rank_left == rank_right) & from_right[label, rank_left]
            take_right = (rank_right < rank_left) | tie
            head[pairs] = np.where(take_right, right, left)
            best[pairs] = np.minimum(rank_left, rank_right)
        return head

    def tables(
        self, parents: Sequence[str], children: Sequence[str]
    ) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """By parent label: the step that finds each child label, and whether it is from the right.

        >>> step, from_right = HeadRules().tables(["PP"], ["NP", "TO", "IN"])
        >>> step.tolist(), from_right[0, :2].tolist()
        ([[6, 1, 0]], [True, True])
        """
        searches = [self.table.get(parent) or self._generic(parent) for parent in parents]
        last = max(map(len, searches), default=0)
        step = np.full((len(parents), len(children)), last, dtype=np.int64)
        from_right = np.zeros((len(parents), last + 1), dtype=bool)
        for row, search in enumerate(searches):
            from_right[row] = search[-1][0] == "right"
            for number, (side, labels) in reversed(list(enumerate(search))):
                from_right[row, number] = side == "right"
                for column, child in enumerate(children):
                    anything = not labels and child not in self.punctuation
                    if anything or child in labels:
                        step[row, column] = number
        return step, from_right

    def _generic(self, label: str) -> Sequence[Step]:
        return ((self.default, (label,)), (self.default, ()))


def _step(value: object) -> Step:
    match value:
        case ["left" | "right" as side, list(labels)]:
            return side, tuple(map(str, labels))
    raise InputError(f"a step has a side and labels, not {value!r}", argument="heads")


def _read_step(words: Sequence[str], path: str | PathLike[str], line: int) -> Step:
    match words:
        case ["left" | "right" as side, *labels]:
            return side, tuple(labels)
    raise InputError(
        f"line {line}: a step of a search is left or right and labels, as in NP right NN NNS, "
        f"left NP; not {' '.join(words)!r}",
        path=path,
    )


def resolve_head_rules(rules: HeadRules | str | PathLike[str], treebank: Treebank) -> HeadRules:
    """The rules for a treebank, given as they are, by one of the names above, or by a file.

    ``auto`` stands for Collins's table if it has most of the treebank's phrases, and for learnt
    rules otherwise.

    >>> from lpcfg import embedded_trees
    >>> resolve_head_rules("auto", Treebank.from_trees(embedded_trees(20))) == HeadRules()
    True
    """
    if isinstance(rules, HeadRules):
        return rules
    if rules == "collins" or (rules == "auto" and _is_penn(treebank)):
        return HeadRules()
    if rules in HEAD_TABLES:
        return HeadRules.named(str(rules))
    if rules in HEAD_RULES:
        return HeadRules.learn(treebank)
    return HeadRules.read(rules)


def _is_penn(treebank: Treebank) -> bool:
    """Whether Collins's table has the labels of more than half of the phrases."""
    phrases = np.array([not symbol.preterminal for symbol in treebank.symbols])
    known = np.array([symbol.labels[-1] in COLLINS for symbol in treebank.symbols])
    counts = np.bincount(treebank.symbol, minlength=len(treebank.symbols))
    return bool(2 * counts[known & phrases].sum() >= counts[phrases].sum())

"""Trees and treebanks: reading, cleaning, transforms, the node table, drawing."""

from lpcfg.treebank.cleaning import Cleaning
from lpcfg.treebank.head_rules import HeadRules
from lpcfg.treebank.reader import ReadReport, TreebankWarning, read_trees
from lpcfg.treebank.symbol import Symbol
from lpcfg.treebank.transform import Transform
from lpcfg.treebank.tree import Tree
from lpcfg.treebank.treebank import Treebank

__all__ = [
    "Cleaning",
    "HeadRules",
    "ReadReport",
    "Symbol",
    "Transform",
    "Tree",
    "Treebank",
    "TreebankWarning",
    "read_trees",
]

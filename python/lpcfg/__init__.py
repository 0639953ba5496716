"""Learn PCFGs and latent-variable PCFGs from treebanks, and parse with them.

>>> import lpcfg
>>> treebank = lpcfg.Treebank.from_trees(lpcfg.embedded_trees())
>>> grammar = lpcfg.PCFGEstimator().fit(treebank).grammar_
>>> print(lpcfg.Parser(grammar).parse(["DT", "NN", "VBD", "PRP", "."]))
(ROOT (S (NP (DT DT) (NN NN)) (VP (VBD VBD) (NP (PRP PRP))) (. .)))

The public names are listed in ``__init__.pyi``. Each is imported when it is first used, so that
``import lpcfg`` and ``lpcfg --help`` are quick.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

"""Spectral estimation of L-PCFGs (Cohen et al. 2012, 2013; Peng 2021)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from lpcfg.errors import InputError
from lpcfg.feature_matrix import FeatureMatrix
from lpcfg.features import FeatureSet
from lpcfg.grammar import Grammar
from lpcfg.head_rules import HeadRules
from lpcfg.latent import LatentStates, refuse_unary_rules
from lpcfg.lexicon_options import LexiconOptions
from lpcfg.pcfg import PCFGEstimator
from lpcfg.spectral_moments import RuleMoments, RuleNodes
from lpcfg.spectral_projection import Projections, project, states_by_frequency
from lpcfg.state_profiles import StateProfiles
from lpcfg.threads import one_thread
from lpcfg.tree_nodes import TreeNodes
from lpcfg.treebank import Treebank
from lpcfg.word_rows import WordRows

__all__ = ["SpectralCut", "SpectralEstimator", "SpectralPath"]


@dataclass(frozen=True)
class SpectralCut:
    """What can be chosen after the projections are made, without much work.

    ``states``: most latent states of an interminal and of a preterminal.
    ``smoothing``: C of the interpolation weight sqrt(n) / (C + sqrt(n)) of rules seen n times.
    ``tolerance``: directions with a singular value below this part of the largest are dropped.
    ``ridge``: directions with a relative singular value s count s^2 / (s^2 + ridge^2) as much.
    ``few``, ``many``: symbols with up to so many nodes have one state, from so many all of them.
    ``word_smoothing``, ``class_smoothing``: strengths, in tokens, of the priors of what a word, or
    a class of words, tells about the state.

    The defaults were chosen on the development part of GUM.

    >>> SpectralCut().states
    (8, 8)
    """

    states: tuple[int, int] = (8, 8)
    smoothing: float = 5.0
    tolerance: float = 0.01
    ridge: float = 0.4
    few: int = 10
    many: int = 100
    word_smoothing: float = 2.0
    class_smoothing: float = 2.0

    def __post_init__(self) -> None:
        if min(self.states) < 1:
            raise InputError(f"numbers of states start at 1, not {min(self.states)}")
        if not 0 <= self.few <= self.many:
            raise InputError(f"few ({self.few}) must be between 0 and many ({self.many})")
        for name in ("smoothing", "tolerance", "ridge", "word_smoothing", "class_smoothing"):
            if not getattr(self, name) >= 0:
                raise InputError(f"{name} must not be negative, but is {getattr(self, name)}")

    @classmethod
    def plain(cls) -> SpectralCut:
        """The numbers of states and the smoothing of Peng (2021), who has no ridge.

        >>> SpectralCut.plain().smoothing
        12.2
        """
        return cls(states=(13, 16), smoothing=12.2, ridge=0.0)


@dataclass(frozen=True, eq=False)
class SpectralPath:
    """Everything about a treebank that does not depend on the choices of a :class:`SpectralCut`.

    It keeps the backbone with its lexicon, the projections at the highest rank, to be truncated
    (Peng 2021, chapter 9), the nodes of each rule, and for each word and class of words the sum of
    its projections. The moments of rules are made anew by each cut: at the highest rank they would
    take many times the memory of the projections, and making them takes a fraction of a second.

    >>> from lpcfg import embedded_trees
    >>> path = SpectralEstimator(features="compact").path(Treebank.from_trees(embedded_trees()))
    >>> path.cut(SpectralCut(states=(2, 2))).latent.states.max() <= 2
    np.True_
    """

    treebank: Treebank
    backbone: Grammar
    projections: Projections
    rule_nodes: RuleNodes
    profiles: StateProfiles

    def states(self, cut: SpectralCut) -> NDArray[np.int64]:
        """How many states each symbol gets.

        >>> from lpcfg import Tree
        >>> path = SpectralEstimator().path(Treebank.from_trees([Tree("NN", "rain")]))
        >>> path.states(SpectralCut())
        array([1])
        """
        symbols = self.treebank.symbols
        most = np.array([cut.states[symbol.preterminal] for symbol in symbols])
        counts = np.bincount(self.treebank.symbol, minlength=len(symbols))
        allowed = states_by_frequency(counts, most, cut.few, cut.many)
        found = np.count_nonzero(self.projections.strength > cut.tolerance, axis=1)
        states: NDArray[np.int64] = np.minimum(allowed, np.maximum(found, 1))
        return states

    def cut(self, cut: SpectralCut | None = None) -> Grammar:
        """A grammar with the given numbers of states and smoothing.

        >>> from lpcfg import Tree
        >>> path = SpectralEstimator().path(Treebank.from_trees([Tree("NN", "rain")]))
        >>> path.cut().latent.kind
        'linear'
        """
        chosen = cut or SpectralCut()
        states = self.states(chosen)
        grammar = self.backbone
        kept = np.arange(self.projections.inside.shape[1]) < states[:, None]
        trust = self.projections.trust(chosen.ridge)
        emissions = self.profiles.emission_vectors(
            states, chosen.word_smoothing, chosen.class_smoothing, trust=trust
        )
        moments = RuleMoments(
            self.treebank, self.rule_nodes, self.projections, states, trust, chosen.smoothing
        )
        with one_thread():
            latent = LatentStates(
                kind="linear",
                states=states.astype(np.uint32),
                roots=moments.roots(grammar.roots)[kept],
                binary=moments.binary(grammar.binary_rules, grammar.binary_probabilities),
                binary_counts=states[grammar.binary_rules].prod(axis=1).astype(np.uint32),
                binary_positions=np.zeros(0, dtype=np.uint32),
                **emissions._asdict(),
            )
        provenance = {**grammar.provenance, "estimator": "spectral", "cut": asdict(chosen)}
        return replace(grammar, latent=latent, provenance=provenance)


@dataclass
class SpectralEstimator:
    """L-PCFGs by the spectral method: statistically consistent, without local optima, fast.

    ``features``: ``"compact"`` (Peng 2021), ``"full"`` (Cohen et al. 2013), or a set of one's own.
    ``cut``: numbers of states and smoothing; to try several, keep the :class:`SpectralPath`.
    ``kappa``, ``cutoff``: see :class:`~lpcfg.feature_matrix.FeatureMatrix`.
    ``random_state``: the seed; the same seed gives the same grammar.

    >>> from lpcfg import embedded_trees
    >>> treebank = Treebank.from_trees(embedded_trees())
    >>> SpectralEstimator().fit(treebank).grammar_.provenance["estimator"]
    'spectral'
    """

    features: str | FeatureSet = "compact"
    cut: SpectralCut = field(default_factory=SpectralCut)
    kappa: float = 5.0
    cutoff: int = 1
    head_rules: HeadRules = field(default_factory=HeadRules)
    lexicon: LexiconOptions = field(default_factory=LexiconOptions)
    random_state: int = 0
    progress: Callable[[Iterable[int]], Iterable[int]] = iter

    grammar_: Grammar = field(init=False, repr=False, compare=False)

    def fit(self, treebank: Treebank) -> Self:
        """Estimate :attr:`grammar_` from a treebank.

        >>> from lpcfg import Tree
        >>> SpectralEstimator().fit(Treebank.from_trees([Tree("NN", "rain")])).grammar_.tags
        ('NN',)
        """
        self.grammar_ = self.path(treebank).cut(self.cut)
        return self

    def path(self, treebank: Treebank, states: tuple[int, int] | None = None) -> SpectralPath:
        """Everything up to the cut, with room for so many states, by default those of ``cut``.

        Cuts of the path may ask for less, but not for more states than these, nor for states of
        symbols that ``few`` and ``many`` of ``cut`` give none.

        >>> from lpcfg import Tree
        >>> treebank = Treebank.from_trees([Tree("NN", "rain")])
        >>> SpectralEstimator().path(treebank, states=(32, 32)).projections.inside.shape
        (1, 1)
        """
        features = self.features
        if isinstance(features, str):
            features = FeatureSet.named(features)
        backbone = PCFGEstimator(self.lexicon).fit(treebank).grammar_
        refuse_unary_rules(backbone.unary_rules)
        room = SpectralCut(states or self.cut.states, few=self.cut.few, many=self.cut.many)
        most = np.array([room.states[symbol.preterminal] for symbol in treebank.symbols])
        counts = np.bincount(treebank.symbol, minlength=len(treebank.symbols))
        nodes = TreeNodes(treebank, self.head_rules)
        inside, outside = (
            FeatureMatrix.build(treebank.symbol, keys, kappa=self.kappa, cutoff=self.cutoff)
            for keys in (features.inside_keys(nodes), features.outside_keys(nodes))
        )
        with one_thread():
            projections = project(
                treebank.symbol,
                inside,
                outside,
                states_by_frequency(counts, most, room.few, room.many),
                np.random.default_rng(self.random_state),
                self.progress,
            )
        provenance: dict[str, Any] = {
            "features": features.names,
            "kappa": self.kappa,
            "cutoff": self.cutoff,
            "random_state": self.random_state,
        }
        # The first column of the projections is 1, the others have no mean.
        mean = np.eye(1, projections.outside.shape[1])[0]
        return SpectralPath(
            treebank=treebank,
            backbone=replace(backbone, provenance={**backbone.provenance, **provenance}),
            projections=projections,
            rule_nodes=RuleNodes.find(treebank, backbone.binary_rules),
            profiles=StateProfiles(
                WordRows(treebank, backbone.lexicon, self.lexicon.rare),
                projections.outside[treebank.word >= 0],
                mean,
            ),
        )

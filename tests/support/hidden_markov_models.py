"""Known hidden Markov models."""

import numpy as np

from lpcfg import HMM

KNOWN = (
    [0.6, 0.3, 0.1],
    [[0.8, 0.15, 0.05], [0.1, 0.7, 0.2], [0.25, 0.05, 0.7]],
    [[0.7, 0.2, 0.05, 0.05], [0.05, 0.1, 0.8, 0.05], [0.1, 0.05, 0.05, 0.8]],
)
SYMBOLS = ["a", "b", "c", "d"]


def known(**names):
    return HMM.from_parameters(*KNOWN, symbols=SYMBOLS, **names)


def known_with_end():
    ends = np.array([0.05, 0.1, 0.2])
    return HMM.from_parameters(
        KNOWN[0], KNOWN[1] * (1 - ends[:, None]), KNOWN[2], ends, symbols=SYMBOLS
    )

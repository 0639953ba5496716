"""Constraints: the values that a parameter may have, and how they are read from text."""

import numpy as np
import pytest

from lpcfg import InputError, Noise
from lpcfg.parameters.constraints import Instance, Interval, Options, Pair, Several


@pytest.mark.parametrize(
    ("constraint", "allowed", "refused"),
    [
        (Interval(int, 1), [1, np.int64(5)], [0, 1.0, True, "1", None, 10**10]),
        (Interval(float, 0), [0, 0.5, np.float32(2)], [-1, float("nan"), float("inf"), "1", False]),
        (Interval(float, 0, 1), [0, 1], [1.1]),
        (Interval(float, 0, 1, "left"), [0, 0.99], [1]),
        (Interval(float, 0, closed="neither"), [1e-9], [0]),
        (Options("a", "b"), ["a"], ["c", None, 1]),
        (Pair(Interval(int, 1)), [(1, 2), [3, 4]], [1, (1,), (1, 2, 3), (0, 1)]),
        (Several(Options("a", "b"), at_least=1), [["a"], ("a", "b")], [[], ["a", "a"], "a", ["c"]]),
        (Instance(Noise, None), [None, Noise("add", 0.1)], ["add"]),
    ],
    ids=str,
)
def test_constraints(constraint, allowed, refused):
    assert all(constraint.allows(value) for value in allowed)
    assert not any(constraint.allows(value) for value in refused)


@pytest.mark.parametrize(
    ("constraint", "text"),
    [
        (Interval(int, 1), "1.5"),
        (Interval(float, 0), "-1"),
        (Options("a", "b"), "c"),
        (Pair(Interval(int, 1)), "1,0"),
        (Several(Interval(float, 0)), "1,1"),
    ],
    ids=str,
)
def test_constraints_refuse_text(constraint, text):
    with pytest.raises(InputError, match=r"^expected "):
        constraint.parse(text)

"""Batches of iterators."""

import pytest

from lpcfg._batches import batches


def broken(number):
    yield from range(number)
    raise LookupError(number)


@pytest.mark.parametrize("number", range(7))
def test_an_exception_arrives_after_all_items_before_it(number):
    found = []
    with pytest.raises(LookupError):
        found.extend(batches(broken(number), 3))
    expected = list(range(number))
    assert found == [expected[at : at + 3] for at in range(0, number, 3)]


def test_items_are_taken_when_they_are_needed():
    items = iter(range(10))
    assert next(batches(items, 4)) == [0, 1, 2, 3]
    assert next(items) == 4

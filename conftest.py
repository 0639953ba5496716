"""Fitted models that doctests share, so that each is fitted once and examples stay short.

A doctest of a module named here can use the names without making them. The docstring of the class
shows how they are made.
"""

import pytest

import lpcfg

#: The fixtures that the doctests of a module may use by their names.
SHARED_BY_DOCTESTS = {"lpcfg.reranking.reranker": ["reranker"]}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Modules with slow tests come first: at the end, one process would wait for another."""
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)


@pytest.fixture(autouse=True)
def shared_models(request: pytest.FixtureRequest) -> None:
    """Put the shared fixtures among the names of a doctest."""
    if isinstance(request.node, pytest.DoctestItem):
        names = request.node.dtest.globs
        for fixture in SHARED_BY_DOCTESTS.get(names["__name__"], ()):
            names[fixture] = request.getfixturevalue(fixture)


@pytest.fixture(scope="session")
def reranker() -> lpcfg.Reranker:
    """The one of the example of :class:`lpcfg.Reranker`."""
    treebank = lpcfg.Treebank.from_trees(lpcfg.embedded_trees())
    return lpcfg.Reranker([lpcfg.PCFGEstimator()], folds=2, candidates=5).fit(treebank)

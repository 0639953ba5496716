"""A few cases of every target; ``make soak`` runs more of them."""

import pytest

from fuzz.cases import run_case
from fuzz.targets import TARGETS

#: The number of cases of each target: about five seconds of processor time.
CASES = {
    "sentences": 300,
    "model-files": 1000,
    "model-folders": 1000,
    "treebanks": 300,
    "grammar-texts": 600,
    "arguments": 4000,
    "streams": 80,
    "kills": 50,
    "disks": 40,
    "threads": 100,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", TARGETS)
def test_nothing_is_found(name):
    target = TARGETS[name][0]()
    found = [run_case(target, name, seed=0, case=case) for case in range(CASES[name])]
    assert [str(finding) for _, finding in found if finding is not None] == []
    assert sum(units for units, _ in found) >= CASES[name]

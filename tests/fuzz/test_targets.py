"""A few cases of every target; ``make soak`` runs more of them."""

import pytest

from fuzz.cases import run_case
from fuzz.targets import TARGETS

#: The number of cases of each target: about two minutes of processor time in all.
CASES = {
    "sentences": 900,
    "model-files": 3000,
    "model-folders": 3000,
    "treebanks": 900,
    "grammar-texts": 1800,
    "arguments": 9000,
    "streams": 240,
    "kills": 150,
    "disks": 120,
    "threads": 300,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", TARGETS)
def test_nothing_is_found(name):
    target = TARGETS[name][0]()
    found = [run_case(target, name, seed=1, case=case) for case in range(CASES[name])]
    assert [str(finding) for _, finding in found if finding is not None] == []
    assert sum(units for units, _ in found) >= CASES[name]

"""The values that a search tries."""

from itertools import product

import optuna
import pytest

from lpcfg import InputError
from lpcfg.estimators.registry import ESTIMATORS, make_estimator
from lpcfg.parameters.constraints import Pair
from lpcfg.tuning import Choice, Range, SearchSpace
from lpcfg.tuning.space import _declared

SPECTRAL = make_estimator("spectral", min_count=1, full_count=50)


@pytest.mark.parametrize("name", [name for name in ESTIMATORS if name != "pcfg"])
def test_declared_values_are_allowed_and_include_the_defaults(name):
    estimator = make_estimator(name)
    space = SearchSpace.of(estimator)
    declared = dict(_declared(estimator))
    for parameter, values in space.values.items():
        constraint = declared[parameter].constraint
        one = constraint.each if isinstance(constraint, Pair) else constraint
        assert all(map(one.allows, values.ends)), parameter
    assert repr(space.chosen(space.defaults())) == repr(estimator)
    space.chosen(space.defaults()).validate()


def test_other_values_replace_the_declared_ones_and_fixed_parameters_stay():
    space = SearchSpace.of(
        SPECTRAL, {"kappa": Range(1.0, 9.0), "states": Choice((2, 4))}, fixed=("ridge",)
    )
    assert space.values["kappa"] == Range(1.0, 9.0)
    assert "ridge" not in space.values
    assert space.largest_models()["states"] == (4, 4)
    # The default is not among the values.
    assert "states_tags" not in space.defaults()


@pytest.mark.parametrize(
    ("search", "message"),
    [
        ({"rigde": Range(0, 1)}, "no parameter 'rigde'"),
        ({"ridge": Range(-1, 1)}, "ridge must be a number from 0, not -1"),
        ({"features": Choice(("all",))}, "features must be 'compact' or 'full'"),
        ({"states": Range(0, 4)}, "states must be an integer from 1 to 1024, not 0"),
        ({"vertical": Range(-1, 1)}, "vertical must be an integer from 0 to 1000000000, not -1"),
        ({"binarize": Choice(("both",))}, "binarize must be 'left' or 'right', not 'both'"),
    ],
)
def test_values_that_a_parameter_does_not_allow_are_refused(search, message):
    with pytest.raises(InputError, match=message):
        SearchSpace.of(SPECTRAL, search)


def test_a_range_has_all_numbers_of_its_parameter():
    neural = SearchSpace.of(make_estimator("neural"), {"epochs": Range(1, 3)})
    assert isinstance(neural.values["epochs"].high, int)
    space = SearchSpace.of(SPECTRAL, {"ridge": Range(0, 2), "vertical": Range(0, 2)})
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0))
    tried = [study.ask() for _ in range(20)]
    for trial in tried:
        space.suggest(trial)
    assert {trial.params["vertical"] for trial in tried} == {0, 1, 2}
    assert len({trial.params["ridge"] for trial in tried}) == 20


def test_a_range_goes_upwards_and_a_pcfg_has_nothing_to_search():
    with pytest.raises(InputError, match="low: must be at most high, 1, not 2"):
        Range(2, 1)
    with pytest.raises(InputError, match="nothing to search"):
        SearchSpace.of(make_estimator("pcfg"))


@pytest.mark.parametrize(
    ("own", "search"),
    [
        ({"min_count": 80}, {}),
        ({"min_count": 80, "full_count": 90}, {"full_count": Choice((85, 60))}),
        ({"min_count": 1, "full_count": 30}, {}),
        ({"min_count": 1, "full_count": 30}, {"min_count": Range(40, 200)}),
        ({}, {"min_count": Range(1, 200)}),
        ({}, {"min_count": Range(100, 200), "full_count": Range(20, 60)}),
        ({}, {"min_count": Choice((10, 300)), "full_count": Choice((20, 60))}),
    ],
)
@pytest.mark.parametrize("name", ["spectral", "em"])
def test_all_values_of_a_space_are_valid_together(name, own, search):
    estimator = make_estimator(name, **own)
    fixed = tuple(own.keys() - search.keys())
    space = SearchSpace.of(estimator, search, fixed=fixed)
    counts = [each for each in ("min_count", "full_count") if each in space.values]
    widest = estimator.with_params(**space.largest_models())
    widest.validate()
    for ends in product(*(space.values[each].ends for each in counts)):
        values = space.defaults() | dict(zip(counts, ends, strict=True))
        chosen = space.chosen(values)
        chosen.validate()
        assert all(getattr(chosen, each) == own[each] for each in fixed)
        assert all(getattr(chosen, each) == space.used(values)[each] for each in counts)
        # All grammars of a search are cut from the widest one.
        assert widest.min_count <= chosen.min_count
        assert widest.full_count <= chosen.full_count

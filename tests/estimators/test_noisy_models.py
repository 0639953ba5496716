"""Noise on features and projections, and families of models that differ by it."""

from __future__ import annotations

from dataclasses import replace

import joblib
import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

import lpcfg
import support.latent_trees as known
from lpcfg import ClusteringEstimator, InputError, Noise, NoisyModels, SpectralEstimator, Treebank
from lpcfg.estimators.features.node_projections import NodeProjections
from lpcfg.estimators.spectral._projections import Projections

BANK = Treebank.from_trees(lpcfg.embedded_trees())
CLUSTERING = ClusteringEstimator(states=(3, 3), min_count=5, full_count=50, restarts=1)
SPECTRAL = SpectralEstimator(min_count=5, full_count=50)


def test_dropout_leaves_features_out_and_keeps_their_mean():
    features = scipy.sparse.csr_array(np.full((1000, 20), 3.0))
    dropped = Noise("dropout", 0.2).drop_features(features, np.random.default_rng(0)).toarray()
    assert set(np.unique(dropped)) == {0.0, 3.0 / 0.8}
    assert (dropped == 0).mean() == pytest.approx(0.2, abs=0.01)
    assert dropped.mean() == pytest.approx(3, rel=0.02)


def test_where_nothing_is_left_to_compare_nodes_by_there_is_one_state():
    noise = Noise("dropout", 1 - 1e-9)
    grammar = replace(CLUSTERING, noise=noise).fit(BANK).grammar_
    assert grammar.latent.states.max() == 1


@pytest.mark.parametrize("kind", ["add", "mul"])
def test_gaussian_noise_is_as_large_as_sigma_says(kind):
    generator = np.random.default_rng(0)
    rows = generator.normal(scale=[0.1, 10], size=(20_000, 2)).astype(np.float32)
    rows -= rows.mean(axis=0)
    noise = Noise(kind, 0.15).perturb_projections(rows, generator) - rows
    expected = 0.15 * rows.std(axis=0)
    np.testing.assert_allclose(noise.std(axis=0), expected, rtol=0.03)
    np.testing.assert_allclose(noise.mean(axis=0), 0, atol=1e-3)
    # What is added knows nothing of the value; what is multiplied grows with it.
    small = np.abs(rows[:, 0]) < 0.01
    near = noise[small, 0].std() / expected[0]
    assert near == pytest.approx(1, abs=0.1) if kind == "add" else near < 0.1


@pytest.mark.parametrize(("kind", "sigma"), [("dropout", 1.0), ("add", -0.1), ("salt", 0.1)])
def test_impossible_noise_is_refused(kind, sigma):
    with pytest.raises(InputError):
        Noise(kind, sigma)


@given(st.integers(0, 100), st.sampled_from(["add", "mul"]))
def test_aligned_projections_correlate_in_pairs_only(seed, kind):
    generator = np.random.default_rng(seed)
    symbol = generator.integers(2, size=200)
    latent = generator.normal(size=(200, 3))
    rows = [(latent + generator.normal(size=latent.shape)).astype(np.float32) for _ in range(2)]
    projections = NodeProjections(*rows, np.array([[1.0, 1, 1], [1, 1, 0]]), *np.ones((2, 2)))
    noisy = projections.with_noise(symbol, Noise(kind, 0.2), generator).aligned(symbol)
    result = Projections.from_nodes(symbol, noisy)
    for chosen, rank in enumerate((3, 2)):
        own = symbol == chosen
        moment = result.inside[own].T @ result.outside[own] / own.sum()
        expected = np.diag(np.arange(4) <= rank)
        np.testing.assert_allclose(moment, expected, atol=2e-3)


# Dropout looks for the directions again, by a decomposition that draws random numbers.
@pytest.mark.parametrize(("kind", "error"), [("dropout", 0.2), ("add", 0.01), ("mul", 0.01)])
def test_without_any_noise_a_noisy_spectral_grammar_is_the_plain_one(kind, error):
    plain = SPECTRAL.fit(BANK).grammar_
    noisy = replace(SPECTRAL, noise=Noise(kind, 0.0)).fit(BANK).grammar_
    np.testing.assert_array_equal(noisy.latent.states, plain.latent.states)
    # Directions may be turned, which changes parameters but not probabilities.
    trees = BANK.subset(np.arange(100))
    np.testing.assert_allclose(
        known.latent_probabilities(noisy, trees),
        known.latent_probabilities(plain, trees),
        rtol=error,
        atol=1e-12,
    )


@pytest.mark.parametrize("estimator", [CLUSTERING, SPECTRAL], ids=["clustering", "spectral"])
def test_models_differ_by_their_noise_and_not_by_the_threads(estimator):
    families = [
        NoisyModels(estimator, sigmas=(0.1, 0.2), models=6, n_jobs=jobs).fit(BANK).grammars_
        for jobs in (1, 3)
    ]
    for one, other in zip(*families, strict=True):
        for name, values in one.latent.arrays.items():
            assert values.tobytes() == other.latent.arrays[name].tobytes(), name
    assert len({grammar.latent.binary.tobytes() for grammar in families[0]}) == 6
    # Each can be had alone.
    noise = Noise("mul", 0.2, seed=5)
    alone = replace(estimator, noise=noise).fit(BANK).grammar_
    assert alone.provenance == families[0][5].provenance
    assert alone.latent.binary.tobytes() == families[0][5].latent.binary.tobytes()
    lpcfg.Parser(families[0]).parse(words=["It", "rained", "."])


def test_models_as_jobs_are_those_of_this_process(tmp_path):
    """What jobs need is pickled for threads too."""
    family = NoisyModels(CLUSTERING, models=3, features=("compact", "full"))
    bank = Treebank.from_trees(lpcfg.embedded_trees(40))
    expected = [file.read_bytes() for file in family.train(bank, tmp_path / "here")]
    finished = []

    def counted(models):
        for number in models:
            finished.append(number)
            yield number

    with joblib.parallel_config("threading", n_jobs=2):
        files = replace(family, progress=counted).train(bank, tmp_path / "elsewhere")
    assert [file.read_bytes() for file in files] == expected
    assert finished == list(range(3))


SIDES = [lpcfg.Transform(vertical=0, binarize=side) for side in ("left", "right")]


@pytest.mark.slow
def test_models_take_turns_with_trees_features_and_noise(tmp_path):
    family = NoisyModels(CLUSTERING, models=9, transforms=SIDES, features=("compact", "full"))
    members = family.members()
    turns = [(own.transform.binarize, own.estimator.features) for own in members]
    assert turns[:4] == [(s, f) for f in ("compact", "full") for s in ("left", "right")]
    assert turns[4:8] == turns[:4]
    # The next time, the same trees and features meet another noise.
    kinds = [own.estimator.noise.kind for own in members]
    assert all(first != second for first, second in zip(kinds[:4], kinds[4:8], strict=True))
    # What is learnt is what each member learns by itself, whatever is shared and by how many.
    families = [replace(family, n_jobs=jobs).fit(BANK).grammars_ for jobs in (1, 3)]
    for grammar, other, member in zip(*families, members, strict=True):
        assert grammar.transform == member.transform
        bank = Treebank.from_trees(BANK.trees(), transform=member.transform)
        alone = member.estimator.fit(bank).grammar_
        assert grammar.provenance == other.provenance == alone.provenance
        for name, values in grammar.latent.arrays.items():
            assert values.tobytes() == other.latent.arrays[name].tobytes(), name
            assert values.tobytes() == alone.latent.arrays[name].tobytes(), name
    files = family.train(BANK, tmp_path)
    times = [file.stat().st_mtime_ns for file in files]
    assert family.train(BANK, tmp_path) == files
    assert [file.stat().st_mtime_ns for file in files] == times
    joint = lpcfg.Ensemble(lpcfg.load(tmp_path))
    assert len(joint.members) == 2
    joint.parse(words=["It", "rained", "."])


def test_training_is_taken_up_where_it_was_left(tmp_path):
    family = NoisyModels(CLUSTERING, models=4)
    files = family.train(BANK, tmp_path)
    times = [file.stat().st_mtime_ns for file in files]
    files[1].unlink()
    files[2].write_bytes(b"broken")
    assert family.train(BANK, tmp_path) == files
    again = [file.stat().st_mtime_ns for file in files]
    assert [old == new for old, new in zip(times, again, strict=True)] == [True, False, False, True]
    # More models are added; other options or another treebank train all anew, and say so.
    said = []
    more = replace(family, models=5).train(BANK, tmp_path, report=said.append)
    assert more[:4] == files
    assert [file.stat().st_mtime_ns for file in files] == again
    assert said == []
    other = replace(family, estimator=replace(CLUSTERING, rank=3))
    other.train(BANK, tmp_path, report=said.append)
    assert all(file.stat().st_mtime_ns > old for file, old in zip(files, again, strict=True))
    assert lpcfg.load(files[0]).provenance["rank"] == 3
    assert said[0].endswith("4 models are trained again with other options (rank)")
    assert said[1].endswith(f"other models that are here will be used too: {more[4].name}")
    other.train(BANK.subset(np.arange(200)), tmp_path)
    assert lpcfg.load(files[0]).provenance["trees"] == 200


@pytest.mark.parametrize("jobs", [1, 2])
def test_what_is_interrupted_is_whole_or_not_there(tmp_path, jobs):
    def interrupt(models):
        for model in models:
            if model == 2:
                raise KeyboardInterrupt
            yield model

    family = NoisyModels(CLUSTERING, models=6, n_jobs=jobs)
    with pytest.raises(KeyboardInterrupt):
        replace(family, progress=interrupt).train(BANK, tmp_path)
    left = sorted(tmp_path.iterdir())
    assert 2 <= len(left) < 6
    assert len(lpcfg.load(tmp_path)) == len(left)
    assert len(family.train(BANK, tmp_path)) == len(lpcfg.load(tmp_path)) == 6


def test_saved_models_are_those_of_fit(tmp_path):
    family = NoisyModels(CLUSTERING, kinds=("dropout",), models=2).fit(BANK)
    family.train(BANK, tmp_path)
    for saved, fitted in zip(lpcfg.load(tmp_path), family.grammars_, strict=True):
        assert saved.latent.binary.tobytes() == fitted.latent.binary.tobytes()


def test_other_estimators_are_refused(tmp_path):
    family = NoisyModels(lpcfg.PCFGEstimator())
    with pytest.raises(InputError, match="spectral, clustering and pivot"):
        family.fit(BANK)
    with pytest.raises(InputError, match="spectral, clustering and pivot"):
        family.train(BANK, tmp_path / "models")
    assert not (tmp_path / "models").exists()


def test_every_form_meets_every_noise():
    family = NoisyModels(
        CLUSTERING, kinds=("add", "mul"), sigmas=(0.05, 0.2), models=16, transforms=SIDES
    )
    met = {
        (own.transform, own.estimator.noise.kind, own.estimator.noise.sigma)
        for own in family.members()
    }
    assert len(met) == 8


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"transforms": SIDES[0]}, "transforms must be a list"),
        ({"transforms": ["left"]}, r"each a Transform, not \['left'\]"),
        ({"transforms": [SIDES[0]] * 2}, "all different"),
        ({"features": "full"}, "features must be a list"),
        ({"features": ["fully"]}, r"not \['fully'\]"),
        ({"features": [3]}, r"each 'compact' or 'full' or 'four' or a FeatureSet, not \[3\]"),
    ],
)
def test_forms_and_features_are_checked(options, message):
    with pytest.raises(InputError, match=message):
        NoisyModels(CLUSTERING, **options).fit(BANK)


def test_what_is_interrupted_in_several_forms_is_whole_or_not_there(tmp_path):
    def interrupt(models):
        yield from range(1)
        raise KeyboardInterrupt

    family = NoisyModels(CLUSTERING, models=6, transforms=SIDES, n_jobs=3, progress=interrupt)
    with pytest.raises(KeyboardInterrupt):
        family.train(BANK, tmp_path)
    assert len(lpcfg.load(tmp_path)) == len(list(tmp_path.iterdir()))


@pytest.mark.parametrize("options", [{"kinds": ()}, {"sigmas": ()}, {"models": 0}])
def test_families_without_members_are_refused(options):
    with pytest.raises(InputError):
        NoisyModels(CLUSTERING, **options).fit(BANK)


def test_literal_noise_has_the_size_that_the_paper_says():
    generator = np.random.default_rng(0)
    rows = 100 * generator.standard_normal((4000, 2)).astype(np.float32)
    # As projections are, the rows are centred.
    rows -= rows.mean(axis=0)
    for literal, size in ((True, 0.1), (False, 10.0)):
        noise = Noise("add", 0.1, literal=literal)
        added = noise.perturb_projections(rows, np.random.default_rng(1)) - rows
        assert added.std() == pytest.approx(size, rel=0.1)


def test_literal_dropout_leaves_values_as_they_are_and_projects_what_is_left():
    features = scipy.sparse.csr_array(np.full((50, 20), 3.0))
    kept = Noise("dropout", 0.3, literal=True).drop_features(features, np.random.default_rng(0))
    assert set(np.unique(kept.toarray())) == {0.0, 3.0}
    bank = lpcfg.Treebank.from_trees(lpcfg.embedded_trees(60))
    estimator = lpcfg.ClusteringEstimator(states=(2, 2), min_count=5, full_count=50)
    clean = estimator.project(bank)
    spread = {}
    for literal in (False, True):
        noise = Noise("dropout", 0.5, literal=literal)
        noisy = clean.with_noise(noise, np.random.default_rng(3)).projections.inside
        # Nodes with the same features stay together unless their own features were dropped.
        _, place = np.unique(clean.projections.inside.round(3), axis=0, return_inverse=True)
        spread[literal] = len(np.unique(noisy.round(3), axis=0)) / (place.max() + 1)
    assert spread[False] <= 1.05
    assert spread[True] > 1.1


def test_literal_noise_is_in_the_name_and_the_record():
    family = NoisyModels(lpcfg.ClusteringEstimator(), kinds=("mul",), models=1, literal=True)
    assert str(family.noises()[0]) == "mul-0.05-literal"

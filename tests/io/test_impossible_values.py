"""Model files with numbers that cannot be probabilities are refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import lpcfg
from lpcfg import Grammar, ModelFileError, Treebank, embedded_trees, load, save
from lpcfg.io.model_file import ModelFile, read_document, write_model_file


@pytest.fixture(scope="module")
def grammars() -> dict[str, Grammar]:
    treebank = Treebank.from_trees(embedded_trees(60))
    estimators = {
        "linear": lpcfg.SpectralEstimator(),
        "probabilistic": lpcfg.ClusteringEstimator(),
        "crf": lpcfg.CRFEstimator(bits=8, epochs=1),
    }
    return {name: own.fit(treebank).grammar_ for name, own in estimators.items()}


NAN, HUGE = float("nan"), 1e308
PROBABILITIES = ["roots", "binary_probabilities", "emission_probabilities"]
CASES = [
    *[("probabilistic", name, value) for name in PROBABILITIES for value in (HUGE, 2, -0.1, NAN)],
    *[("probabilistic", "weights", value) for value in (HUGE, -1, NAN)],
    *[
        (kind, f"latent.{name}", value)
        for kind in ("probabilistic", "linear")
        for name in ("roots", "binary", "emission_ratios", "tag_emissions")
        for value in (1e30, -1e30, NAN)
    ],
    *[("probabilistic", f"latent.{name}", 2) for name in ("roots", "binary", "tag_emissions")],
    *[("probabilistic", "latent.emission_ratios", -0.1)],
    *[("crf", "crf.weights", value) for value in (1e30, -1e30, NAN)],
]


@pytest.mark.parametrize(("kind", "name", "value"), CASES)
def test_values_that_cannot_be_are_refused(
    kind: str, name: str, value: float, grammars: dict[str, Grammar], tmp_path: Path
) -> None:
    path = tmp_path / "model.lpcfg"
    save(grammars[kind], path)
    file = ModelFile(path)
    arrays = {own: np.array(file.array(own)) for own in file.names()}
    arrays[name][len(arrays[name]) // 2] = value
    write_model_file(tmp_path / "changed.lpcfg", arrays, read_document(file, {}))
    with pytest.raises(ModelFileError, match=r"changed\.lpcfg: .*(must|finite)"):
        load(tmp_path / "changed.lpcfg")


def test_signs_and_ratios_of_linear_models_are_kept(
    grammars: dict[str, Grammar], tmp_path: Path
) -> None:
    save(grammars["linear"], tmp_path / "model.lpcfg")
    latent = load(tmp_path / "model.lpcfg", Grammar).latent
    assert latent is not None
    assert latent.binary.min() < 0
    assert latent.emission_ratios.max() > 1


def test_words_belong_to_preterminals(grammars: dict[str, Grammar], tmp_path: Path) -> None:
    """Under a binarisation symbol, which has no node, a word would be missing from the tree."""
    grammar = grammars["probabilistic"]
    path = tmp_path / "model.lpcfg"
    save(grammar, path)
    file = ModelFile(path)
    arrays = {own: np.array(file.array(own)) for own in file.names()}
    for number, symbol in enumerate(grammar.symbols):
        if symbol.preterminal:
            continue
        arrays["emission_symbols"][0] = number
        write_model_file(tmp_path / "changed.lpcfg", arrays, read_document(file, {}))
        with pytest.raises(ModelFileError, match=r"changed\.lpcfg: .* which is no preterminal"):
            load(tmp_path / "changed.lpcfg")

"""Hidden Markov models: options, files, and how mistakes are explained."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import lpcfg
from lpcfg import HMM, InputError, ModelFileError
from lpcfg.io.model_file import ModelFile, write_model_file
from support.hidden_markov_models import known, known_with_end


def test_options_are_stored_and_cloned():
    hmm = HMM(n_states=3, pseudocount=0.5)
    assert clone(hmm).get_params() == hmm.get_params()
    assert repr(hmm) == "HMM(n_states=3, pseudocount=0.5)"
    with pytest.raises(NotFittedError):
        hmm.predict([["a"]])


# Files


@pytest.mark.parametrize(
    "hmm",
    [
        known(states=["X", "Y", "Z"]),
        known_with_end(),
        HMM.from_bigrams([0.5, 0.5], [[0.9, 0.1], [0.4, 0.6]]),
    ],
    ids=["names", "end", "numbers"],
)
def test_what_is_saved_is_loaded(hmm, tmp_path):
    path = tmp_path / "model.lpcfg"
    hmm.set_params(decoder="posterior", unknown="ignore", count_transitions=True).save(path)
    loaded = HMM.load(path)
    for name in ("n_states", "model_end", "decoder", "unknown", "count_transitions"):
        assert getattr(loaded, name) == getattr(hmm, name)
    assert (loaded.symbols_, loaded.states_) == (hmm.symbols_, hmm.states_)
    sequences, _ = hmm.sample(5, length=6)
    np.testing.assert_array_equal(loaded.score_samples(sequences), hmm.score_samples(sequences))
    loaded.save(tmp_path / "again.lpcfg")
    assert path.read_bytes() == (tmp_path / "again.lpcfg").read_bytes()


def test_files_that_hold_no_hmm(tmp_path):
    path = tmp_path / "model.lpcfg"
    lpcfg.save(lpcfg.Grammar.from_string("S -> 'go'"), path)
    with pytest.raises(ModelFileError, match="holds a grammar, not a hidden Markov model"):
        HMM.load(path)
    known().save(path)
    with pytest.raises(ModelFileError, match="holds a hidden Markov model, not a grammar"):
        lpcfg.load(path, lpcfg.Grammar)


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("initial", lambda array: array * 2, "initial must sum to 1"),
        ("initial", lambda array: array[:2], "transitions must have shape"),
        ("transitions", lambda array: array - 0.5, "no negative numbers"),
        ("transitions", lambda array: array * np.nan, "no negative numbers"),
        ("emissions", lambda array: array.T.copy(), "emissions must have shape"),
        ("emissions", lambda array: array.astype(np.float32), "emissions"),
        ("states", lambda array: array[:1], "states must be 3 names"),
        ("states", lambda array: array * 0, "more than once"),
        ("symbols.ends", lambda array: array[:2], "symbols"),
    ],
)
def test_damaged_files_are_refused(tmp_path, name, change, message):
    path = tmp_path / "model.lpcfg"
    known().save(path)
    file = ModelFile(path)
    arrays = {key: file.array(key).copy() for key in file.names()}
    arrays[name] = change(arrays[name])
    document = {"kind": "hidden Markov model", "parameters": {}}
    write_model_file(path, arrays, document)
    with pytest.raises(ModelFileError, match=message):
        HMM.load(path)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"steps": 3}, "no parameters steps"),
        ({"n_jobs": 3}, "no parameters n_jobs"),
        ({"n_states": 7}, "n_states is 7"),
        ({"decoder": "guess"}, "decoder must be"),
    ],
)
def test_damaged_parameters_are_refused(tmp_path, parameters, message):
    path = tmp_path / "model.lpcfg"
    HMM(n_states=2).fit([["a", "b", "a"]]).save(path)
    file = ModelFile(path)
    arrays = {name: file.array(name).copy() for name in file.names()}
    write_model_file(path, arrays, {"kind": "hidden Markov model", "parameters": parameters})
    with pytest.raises(ModelFileError, match=message):
        HMM.load(path)


def test_files_record_the_parameters_of_training(tmp_path):
    path = tmp_path / "model.lpcfg"
    hmm = HMM(n_states=2, vocabulary=["a", "b", "z"], max_iter=3, tol=0.5, pseudocount=1)
    hmm.fit([["a", "b", "a"]]).save(path)
    assert HMM.load(path).get_params() == hmm.get_params()


# Mistakes


@pytest.mark.parametrize(
    ("options", "sequences", "states", "message"),
    [
        ({}, [["a"]], None, "n_states must be given"),
        ({"n_states": 0}, [["a"]], None, "HMM: n_states must be an integer from 1"),
        ({"n_states": 2, "n_init": 0}, [["a"]], None, "HMM: n_init must be an integer from 1"),
        ({"n_states": 2, "pseudocount": -1}, [["a"]], None, "pseudocount"),
        ({"n_states": 2, "decoder": "guess"}, [["a"]], None, "decoder must be 'viterbi' or"),
        ({"n_states": 2, "unknown": "guess"}, [["a"]], None, "unknown must be 'error' or"),
        ({"n_states": 2, "n_jobs": 0}, [["a"]], None, "n_jobs"),
        ({"n_states": 2}, [], None, "no sequences"),
        ({"n_states": 2}, [["a"], []], None, "sequence 2 is empty"),
        ({"n_states": 2}, ["a b"], None, "sequence 1 must be a list"),
        ({"n_states": 2}, [["a", 1]], None, "all strings or all integers"),
        ({"n_states": 2}, [[0.5]], None, "all strings or all integers"),
        ({}, [["a", "b"]], [["X"]], "sequence 1 has 2 symbols but 1 states"),
        ({}, [["a"], ["b"]], [["X"]], "2 sequences, but the states of 1"),
        ({}, [["a"]], ["X"], "states 1 must be a list"),
        ({"n_states": 3}, [["a"]], [["X"]], "n_states is 3, but there are 1 states"),
        ({"n_states": 1, "vocabulary": ["b"]}, [["a"]], None, "'a' was never seen"),
        ({"n_states": 1, "vocabulary": ["b", "b"]}, [["b"]], None, "more than once"),
    ],
)
def test_mistakes_are_explained(options, sequences, states, message):
    with pytest.raises(InputError, match=message):
        HMM(**options).fit(sequences, states)


def test_impossible_sequences():
    hmm = HMM.from_parameters([1, 0], np.eye(2), np.eye(2))
    np.testing.assert_array_equal(hmm.score_samples([[0], [1], [0, 1]]), [0, -np.inf, -np.inf])
    for method in (hmm.predict, hmm.predict_proba, hmm.transform):
        with pytest.raises(InputError, match="sequence 2 has no probability under the model"):
            method([[0], [1]])


def test_the_length_of_samples():
    with pytest.raises(InputError, match="length must be given"):
        known().sample(1)

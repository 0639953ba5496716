"""Classification of texts by the expected counts of an HMM (del Canto 2021, part 1, figure 1)."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from functools import partial
from itertools import pairwise
from os import PathLike
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lpcfg.errors import InputError
from lpcfg.experiments.trials import Trial, digest
from lpcfg.sequence.hmm import HMM
from lpcfg.treebank.text_lines import read_lines

__all__ = ["LabelledTexts", "read_labelled_texts", "sequence_trials"]

Features = Callable[[Sequence[Sequence[str]]], Any]


class LabelledTexts(NamedTuple):
    """Texts as sequences of symbols, and the class of each.

    >>> LabelledTexts([["rain", "today"]], ["weather"]).labels
    ['weather']
    """

    texts: list[list[str]]
    labels: list[str]


def read_labelled_texts(path: str | PathLike[str], *, characters: bool = False) -> LabelledTexts:
    r"""Read a file with a line for each text: its class, a tab, and words with spaces between them.

    ``characters``: whether the symbols are characters, spaces included, instead of words.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "texts.tsv")
    ...     _ = path.write_text("en\tgood morning\nes\tbuenos dias\n")
    ...     print(read_labelled_texts(path).texts)
    [['good', 'morning'], ['buenos', 'dias']]
    """
    found = LabelledTexts([], [])
    for number, line in enumerate(read_lines(path), start=1):
        label, tab, text = line.partition("\t")
        if not tab or not text.strip():
            raise InputError(
                f"expected a class, a tab and a text, not {line.rstrip()!r}",
                path=path,
                line=number,
            )
        found.texts.append(list(text.strip()) if characters else text.split())
        found.labels.append(label)
    if len(set(found.labels)) < 2:
        raise InputError("there must be texts of two classes or more", path=path)
    return found


def sequence_trials(
    train: LabelledTexts,
    test: LabelledTexts,
    *,
    sizes: Sequence[int],
    states: Sequence[int] = (10,),
    seed: int = 0,
    n_jobs: int = -1,
) -> Iterator[Trial]:
    """Accuracy of classifiers by the number of texts whose class is known.

    A logistic regression has as features the expected number of times that the text is in each
    state of an HMM, these and the expected numbers of transitions, the bag of symbols, or the bag
    of pairs of neighbours. The HMM is trained on all training texts without their classes for ten
    iterations, as in the document. The last classifier has an HMM for each class, and chooses the
    class whose HMM gives the text the highest probability.

    ``sizes``: the numbers of labelled texts, which are random subsets.
    ``states``: the numbers of states of the HMMs.

    >>> texts = LabelledTexts([["a", "b"], ["b", "c"]] * 5, ["first", "second"] * 5)
    >>> for trial in sequence_trials(texts, texts, sizes=[10], states=[2]):
    ...     print(trial.settings["features"], trial.measure()["accuracy"])
    symbols 100.0
    pairs of symbols 100.0
    HMM, 2 states 100.0
    HMM, 2 states, transitions 100.0
    an HMM for each class, 2 states 100.0
    """
    data = digest(train, test)
    order = np.random.default_rng(seed).permutation(len(train.texts))
    hmms: dict[int, HMM] = {}

    def expected_counts(number: int, transitions: bool) -> Features:
        if number not in hmms:
            hmms[number] = _hmm(number, seed, n_jobs).fit(train.texts)
        hmm = copy(hmms[number])
        hmm.count_transitions = transitions
        return hmm.transform

    def trial(size: int, name: str, classify: Callable[[LabelledTexts], Any]) -> Trial:
        chosen = np.sort(order[:size])
        sample = LabelledTexts(
            [train.texts[place] for place in chosen], [train.labels[place] for place in chosen]
        )

        def measure() -> dict[str, Any]:
            started = time.process_time()
            predicted = classify(sample)
            right = np.mean([a == b for a, b in zip(predicted, test.labels, strict=True)])
            return {"accuracy": 100 * float(right), "CPU s": time.process_time() - started}

        settings = {"features": name, "texts": len(chosen)}
        return Trial(settings, digest(data, seed), measure)

    def linear(sample: LabelledTexts, features: Callable[[], Features]) -> Any:  # noqa: ANN401
        return _classify_linearly(features(), sample, test.texts)

    for size in sizes:
        bags: Mapping[str, Callable[[], Features]] = {
            "symbols": lambda: _bag(train.texts, list),
            "pairs of symbols": lambda: _bag(train.texts, pairwise),
        }
        for name, features in bags.items():
            yield trial(size, name, partial(linear, features=features))
        for number in states:
            for transitions in (False, True):
                name = f"HMM, {number} states{', transitions' if transitions else ''}"
                features = partial(expected_counts, number, transitions)
                yield trial(size, name, partial(linear, features=features))
            name = f"an HMM for each class, {number} states"
            generative = partial(
                _classify_by_likelihood, test=test.texts, hmm=partial(_hmm, number, seed, n_jobs)
            )
            yield trial(size, name, generative)


def _hmm(states: int, seed: int, n_jobs: int) -> HMM:
    return HMM(
        states,
        max_iter=10,
        unknown="ignore",
        pseudocount=0.01,
        random_state=seed,
        n_jobs=n_jobs,
    )


def _bag(
    texts: Sequence[Sequence[str]], parts: Callable[[Sequence[str]], Iterable[Any]]
) -> Features:
    """Counts of the parts of texts, as sparse rows."""
    from sklearn.feature_extraction import DictVectorizer

    def counts(some: Sequence[Sequence[str]]) -> Iterator[dict[str, int]]:
        for text in some:
            found: dict[str, int] = {}
            for part in parts(text):
                found[str(part)] = found.get(str(part), 0) + 1
            yield found

    vectorizer = DictVectorizer().fit(counts(texts))
    return lambda some: vectorizer.transform(counts(some))


def _classify_linearly(
    features: Features, sample: LabelledTexts, test: Sequence[Sequence[str]]
) -> Any:  # noqa: ANN401 - labels
    """The classes of texts by logistic regression on features of equal scale."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import MaxAbsScaler

    if len(set(sample.labels)) == 1:
        return [sample.labels[0]] * len(test)
    model = make_pipeline(MaxAbsScaler(), LogisticRegression(C=10, max_iter=1000))
    return model.fit(features(sample.texts), sample.labels).predict(features(test))


def _classify_by_likelihood(
    sample: LabelledTexts, test: Sequence[Sequence[str]], hmm: Callable[[], HMM]
) -> list[str]:
    """The classes whose HMMs give texts the highest joint probability."""
    classes = sorted(set(sample.labels))
    vocabulary = sorted({symbol for text in sample.texts for symbol in text})
    scores: list[NDArray[np.float64]] = []
    for name in classes:
        own = [t for t, label in zip(sample.texts, sample.labels, strict=True) if label == name]
        model = hmm()
        model.vocabulary = vocabulary
        model.fit(own)
        prior = np.log(len(own) / len(sample.texts))
        scores.append(prior + np.asarray(model.score_samples(test)))
    return [classes[best] for best in np.argmax(scores, axis=0)]

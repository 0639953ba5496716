"""Jobs on a dask cluster whose workers are killed."""

import pickle

import joblib
import pytest

from lpcfg import (
    ClusteringEstimator,
    LpcfgError,
    NoisyModels,
    PCFGEstimator,
    Reranker,
    SpectralEstimator,
    Transform,
    Treebank,
    embedded_trees,
    parse_corpus,
    save,
    tune,
)
from lpcfg.cli.main import main
from lpcfg.experiments.learning import Subject, learning_trial
from lpcfg.experiments.trials import run_trials
from lpcfg.jobs import Shared, run_jobs
from lpcfg.treebank.forest import Forest
from support.corpora import check_manifest, contents
from support.dask_cluster import dask_cluster
from support.grammars import embedded_grammar
from support.worker_jobs import (
    die,
    die_once,
    load_and_count,
    number_of_kept_values,
    process_and_threads,
)

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def cluster():
    with dask_cluster() as cluster, joblib.parallel_config("dask", client=cluster.client):
        cluster.workers(2)
        yield cluster


@pytest.fixture
def corpus(tmp_path, monkeypatch):
    """A model, a file of sentences, and their parses by one process."""
    monkeypatch.chdir(tmp_path)
    save(embedded_grammar(), "model.lpcfg")
    lines = [" ".join(tree.words()) for tree in embedded_trees(300, seed=2)]
    (tmp_path / "corpus.txt").write_text("\n".join(lines), "utf-8")
    with joblib.parallel_config("sequential"):
        parse_corpus("model.lpcfg", "corpus.txt", "one", part_lines=10)
    return tmp_path


def test_a_corpus_survives_the_death_of_a_worker(cluster, corpus):
    victim, _ = cluster.workers(2)

    def kill_in_the_middle(parts):
        for number in parts:
            if number == 5:
                cluster.kill(victim)
            yield number

    report = parse_corpus(
        "model.lpcfg", "corpus.txt", "two", part_lines=10, progress=kill_in_the_middle
    )
    assert report.complete
    assert contents(corpus / "two") == contents(corpus / "one")
    check_manifest(corpus / "two")


def test_the_command_line_uses_the_cluster(cluster, corpus):
    cluster.workers(1)
    arguments = ["parse", "model.lpcfg", "--corpus", "corpus.txt", "--part-lines", "10", "-q"]
    assert main([*arguments, "-o", "two", "--scheduler", cluster.address]) == 0
    assert contents(corpus / "two") == contents(corpus / "one")


def test_values_travel_once_to_each_worker_and_are_forgotten(cluster, tmp_path):
    shared = Shared(load_and_count, str(tmp_path).encode())
    found = [result for _, result in run_jobs(process_and_threads, range(20), shared)]
    assert {threads for _, threads in found} == {1}
    used = {pid for pid, _ in found}
    assert {int(path.name) for path in tmp_path.iterdir()} == used
    assert {path.read_text() for path in tmp_path.iterdir()} == {"loaded\n"}
    assert set(cluster.client.run(number_of_kept_values).values()) == {0}


def test_a_job_that_ends_with_its_worker_is_run_again(cluster, tmp_path):
    cluster.workers(2)
    found = run_jobs(die_once, range(6), Shared.of(str(tmp_path)))
    assert sorted(found) == [(job, job) for job in range(6)]
    assert (tmp_path / "died").exists()


def test_a_job_that_ends_every_worker_is_an_error_not_a_wait(cluster):
    cluster.workers(3)
    with pytest.raises(LpcfgError, match="job 1 was given up: each worker that ran it was lost"):
        list(run_jobs(die, range(2), Shared.of(0)))


def test_errors_of_jobs_arrive(cluster):
    cluster.workers(1)
    with pytest.raises(ZeroDivisionError):
        list(run_jobs(lambda one, job: one // job, [1, 0], Shared.of(1)))


def test_models_folds_and_trials_are_the_same_on_the_cluster(cluster, tmp_path):
    """Families of noisy models, cross-fitting and experiments, against one process."""
    cluster.workers(2)
    trees = embedded_trees(40)
    clustering = ClusteringEstimator(states=(2, 2), min_count=5, full_count=50, restarts=1)
    estimator = PCFGEstimator()

    def trial(vertical):
        subject = Subject(estimator, Transform(vertical=vertical))
        return learning_trial({"vertical": vertical}, subject, Forest.from_trees(trees), trees[:9])

    def everything(name):
        family = NoisyModels(clustering, models=2).fit(trees)
        reranker = Reranker([(estimator, estimator)], folds=2, candidates=3, min_count=1)
        fitted = reranker.fit(trees)
        rows = list(run_trials(map(trial, (1, 2)), tmp_path / name))
        return (
            [pickle.dumps(grammar) for grammar in family.grammars_],
            fitted.model_.weights.tolist(),
            fitted.model_.score_weights.tolist(),
            [(row["vertical"], row["F1"], row["parameters"]) for row in rows],
        )

    with joblib.parallel_config("sequential"):
        expected = everything("one.jsonl")
    assert everything("two.jsonl") == expected
    assert len((tmp_path / "two.jsonl").read_text().splitlines()) == 2


def test_trials_of_a_search_run_on_the_cluster_and_survive_the_death_of_a_worker(cluster, tmp_path):
    victim, _ = cluster.workers(2)
    trees = embedded_trees(60)
    estimator, treebank = SpectralEstimator(states=(2, 2)), Treebank.from_trees(trees[:40])
    ended = []

    def kill_in_the_middle(rows):
        for row in rows:
            ended.append(row["trial"])
            if len(ended) == 2:
                cluster.kill(victim)
            yield row

    result = tune(
        estimator, treebank, trees[40:], tmp_path / "many", trials=6, progress=kill_in_the_middle
    )
    assert sorted(ended) == list(range(6))
    assert len(result.rows) + result.stopped == 6
    with joblib.parallel_config("sequential"):
        alone = tune(estimator, treebank, trees[40:], tmp_path / "one", trials=6)
    # The first trials are random, so they do not depend on the order of results.
    assert {row["trial"]: row["F1"] for row in result.rows} == {
        row["trial"]: row["F1"] for row in alone.rows
    }
    assert result.estimator.get_params() == alone.estimator.get_params()


def test_the_older_name_of_joblib_chooses_the_cluster_too(cluster, corpus):
    with joblib.parallel_config("sequential"), joblib.parallel_backend("dask"):
        parse_corpus("model.lpcfg", "corpus.txt", "two", part_lines=10)
    assert contents(corpus / "two") == contents(corpus / "one")

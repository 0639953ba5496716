"""lpcfg parse --corpus: options, messages, and runs that are killed."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lpcfg import embedded_trees, parse_corpus, save
from lpcfg.cli.main import main
from lpcfg.corpus.parse_corpus import PART_LINES
from support.commands import refused
from support.corpora import check_manifest, contents, write_corpus
from support.grammars import embedded_grammar

COMMAND = [sys.executable, "-m", "lpcfg"]


@pytest.fixture
def corpus(files):
    """The corpus, beside the files of all tests of commands."""
    write_corpus(files / "corpus")
    return "corpus/*"


def test_a_corpus_is_parsed_and_counted(run, corpus):
    code, output, message = run("parse", "model.lpcfg", "--corpus", corpus, "-o", "out", "--json")
    assert (code, output) == (0, "")
    assert message.startswith("out: 3 of 3 parts, 60 sentences (2 loosened, 58 parsed), 4 blank ")
    check_manifest(Path("out"))


def test_shards_and_processes_give_what_one_run_gives(run, corpus, files):
    arguments = ["parse", "model.lpcfg", "--corpus", corpus, "--part-lines", "9", "-q"]
    assert run(*arguments, "-o", "one")[0] == 0
    assert run(*arguments, "-o", "two", "--plan-only")[0] == 0
    for shard in ("2/2", "1/2"):
        assert run(*arguments, "-o", "two", "--shard", shard, "--processes", "2")[0] == 0
    assert contents(files / "one") == contents(files / "two")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--corpus", "corpus/*"], "name a folder for the parsed corpus with -o"),
        (["--corpus", "corpus/*", "-o", "out", "--pretty"], "--pretty: cannot be used"),
        (["--corpus", "corpus/*", "-o", "out", "-i", "text.txt"], "--input: cannot be used"),
        (["--corpus", "corpus/*", "-o", "out", "--raw"], "--raw: cannot be used with --corpus"),
        (["--corpus", "corpus/*", "-o", "out", "--language", "en"], "--language: cannot be used"),
        (["--corpus", "corpus/*", "-o", "out", "--paragraphs", "lines"], "--paragraphs: cannot"),
        (["--corpus", "corpus/*", "-o", "out", "--timeout", "-1"], "--timeout: must be a positive"),
        (["--corpus", "none/*", "-o", "out"], "none/*: no file matches this pattern"),
        (["--plan-only"], "--plan-only: this option is for a corpus"),
        (["--shard", "1/2"], "--shard: this option is for a corpus"),
        (["--parquet"], "--parquet: this option is for a corpus"),
        (
            ["--corpus", "a", "-o", "b", "--scheduler", "tcp://localhost:1", "--processes", "2"],
            "choose either",
        ),
    ],
)
def test_options_that_do_not_fit(run, corpus, arguments, message):
    assert message in refused(run("parse", "model.lpcfg", *arguments))


def test_going_on_with_other_options_is_refused(run, corpus):
    arguments = ["parse", "model.lpcfg", "--corpus", corpus, "-o", "out"]
    assert run(*arguments)[0] == 0
    assert 'was {}, is {"decoder": "viterbi"}' in refused(run(*arguments, "--decoder", "viterbi"))


def test_long_and_slow_sentences(run, corpus, tmp_path):
    arguments = ["parse", "model.lpcfg", "--corpus", corpus, "-j", "1"]
    manifests = []
    for name, limits in (("short", ["--max-length", "3"]), ("late", ["--timeout", "1e-9"])):
        assert run(*arguments, "-o", name, *limits)[0] == 0
        manifests.append(check_manifest(tmp_path / name))
    short, late = manifests
    assert sum(part["statuses"].get("split", 0) for part in short["parts"]) > 0
    assert {status for part in late["parts"] for status in part["statuses"]} == {"timeout"}
    recorded = [
        [each["settings"][name] for name in ("max_length", "timeout")] for each in manifests
    ]
    assert recorded == [[3, None], [200, 1e-9]]
    assert "--max-length was 3, is 200" in refused(run(*arguments, "-o", "short"))


@pytest.mark.slow
def test_a_killed_run_goes_on_where_it_was(tmp_path, monkeypatch):
    """SIGKILL at two moments; the finished folder has the bytes of an undisturbed run."""
    save(embedded_grammar(), tmp_path / "model.lpcfg")
    lines = [" ".join(tree.words()) for tree in embedded_trees(4000, seed=2)]
    (tmp_path / "corpus.txt").write_text("\n".join(lines), "utf-8")
    command = [*COMMAND, "parse", "model.lpcfg", "--corpus", "corpus.txt", "--part-lines", "50"]

    def parse(folder):
        return subprocess.Popen([*command, "-o", folder, "-q"])

    monkeypatch.chdir(tmp_path)
    parse_corpus("model.lpcfg", "corpus.txt", "whole", part_lines=50)
    done, manifest = tmp_path / "killed" / "done", tmp_path / "killed" / "manifest.json"
    finished = 0
    for _ in range(2):
        process = parse("killed")
        # Some parts further than before.
        while len(list(done.glob("[!.]*"))) < finished + 5:
            assert process.poll() is None
            time.sleep(0.001)
        process.send_signal(signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
        assert not manifest.exists()
        records = {path: path.stat().st_mtime_ns for path in done.glob("[!.]*")}
        finished = len(records)
    assert parse("killed").wait() == 0
    assert contents(tmp_path / "killed") == contents(tmp_path / "whole")
    # What had been finished was not done again.
    assert {path: path.stat().st_mtime_ns for path in records} == records
    check_manifest(tmp_path / "killed")


def test_help_has_the_default_number_of_lines(capsys):
    with pytest.raises(SystemExit):
        main(["parse", "--help"])
    assert f"(default: {PART_LINES})" in " ".join(capsys.readouterr().out.split())

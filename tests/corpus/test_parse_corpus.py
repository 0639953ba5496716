"""Corpora: what is written, and what is refused."""

import gzip
import hashlib
import itertools
import json

import joblib
import pyarrow.parquet
import pytest
import zstandard

from lpcfg import InputError, Parser, Tagger, Tree, embedded_trees, parse_corpus, save
from lpcfg.corpus._plan import Plan, read_parts
from lpcfg.parsing.records import parse_record
from support.corpora import LINES, check_manifest, contents, write_corpus
from support.grammars import embedded_grammar


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "model.lpcfg"
    save(embedded_grammar(), path)
    return path


@pytest.fixture
def corpus(tmp_path):
    """The patterns of a corpus, and the lines of its files."""
    files = write_corpus(tmp_path / "corpus")
    return [tmp_path / "corpus" / "a.txt", tmp_path / "corpus" / "[bc].txt.*"], files


def expected(files, **options):
    """The parse of each line, by the library."""
    parser = Parser(embedded_grammar())
    for line in itertools.chain(*files):
        yield parser.analyze(words=line.split(), **options) if line else None


def unzstd(data):
    return zstandard.ZstdDecompressor().decompressobj().decompress(data)


def lines_of(folder, decompress=gzip.decompress):
    return [
        line
        for path in sorted((folder / "parts").iterdir())
        for line in decompress(path.read_bytes()).decode().splitlines()
    ]


@pytest.mark.parametrize("part_lines", [1, 4, 1000])
def test_trees_stand_in_the_order_of_lines_whatever_the_size_of_parts(
    model, corpus, tmp_path, part_lines
):
    patterns, files = corpus
    report = parse_corpus(model, patterns, tmp_path / "out", part_lines=part_lines)
    trees = ["(())" if parse is None else str(parse.tree) for parse in expected(files)]
    assert lines_of(tmp_path / "out") == trees
    assert report.complete
    assert (report.lines, report.blank, report.sentences) == (len(trees), 4, len(LINES))
    assert report.parts == sum(-(-len(lines) // part_lines) for lines in files)
    manifest = check_manifest(tmp_path / "out")
    assert manifest["settings"]["model"] == hashlib.sha256(model.read_bytes()).hexdigest()
    assert manifest["totals"]["statuses"] == report.statuses
    assert sum(report.statuses.values()) == len(LINES)
    assert [file["lines"] for file in manifest["files"]] == [len(lines) for lines in files]


def test_json_with_zstd_is_what_parse_prints(model, corpus, tmp_path):
    patterns, files = corpus
    out = tmp_path / "out"
    parse_corpus(model, patterns, out, format="json", compression="zstd", candidates=3)
    records = [
        None if parse is None else json.loads(json.dumps(parse_record(parse)))
        for parse in expected(files, candidates=3)
    ]
    assert [json.loads(line) for line in lines_of(out, unzstd)] == records


def test_parquet_has_the_spans_and_words_of_all_trees(model, corpus, tmp_path):
    patterns, files = corpus
    parse_corpus(model, patterns, tmp_path / "out", format="parquet", part_lines=7)
    check_manifest(tmp_path / "out")
    paths = sorted((tmp_path / "out" / "parts").iterdir())
    rows = [row for path in paths for row in pyarrow.parquet.read_table(path).to_pylist()]
    numbers = [number for lines in files for number in range(1, len(lines) + 1)]
    wanted = [
        (number, *span, parse.status)
        for number, parse in zip(numbers, expected(files), strict=True)
        if parse is not None
        for span in parse.spans
    ]
    columns = ("line", "label", "start", "end", "probability", "status")
    assert [tuple(row[name] for name in columns) for row in rows] == wanted
    assert " ".join(row["word"] for row in rows if row["word"] is not None) == " ".join(LINES)


@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_other_processes_and_threads_write_the_same_bytes(model, corpus, tmp_path, backend):
    patterns, _ = corpus
    parse_corpus(model, patterns, tmp_path / "one", part_lines=5, n_jobs=1)
    with joblib.parallel_config(backend, n_jobs=2):
        parse_corpus(model, patterns, tmp_path / "two", part_lines=5)
    assert contents(tmp_path / "one") == contents(tmp_path / "two")


def test_shards_together_are_the_whole(model, corpus, tmp_path):
    patterns, _ = corpus
    whole, sharded = tmp_path / "whole", tmp_path / "sharded"
    parse_corpus(model, patterns, whole, part_lines=3)
    planned = parse_corpus(model, patterns, sharded, part_lines=3, plan_only=True)
    assert (planned.finished, planned.parts) == (0, len(list((whole / "parts").iterdir())))
    for index in (2, 5, 1, 4, 3):
        assert not (sharded / "manifest.json").exists()
        parse_corpus(model, patterns, sharded, part_lines=3, shard=(index, 5))
    assert contents(whole) == contents(sharded)


def test_a_run_goes_on_with_what_is_missing_or_damaged(model, corpus, tmp_path):
    patterns, _ = corpus
    out = tmp_path / "out"
    parse_corpus(model, patterns, out, part_lines=10)
    before = contents(out)
    times = {path: path.stat().st_mtime_ns for path in (out / "parts").iterdir()}
    lost, cut, *_ = sorted(times)
    lost.unlink()
    cut.write_bytes(cut.read_bytes()[:-5])
    (out / "done" / "0000002.json").write_text("{", "utf-8")
    (out / "parts" / ".lpcfg-0123456789abcdef.tmp.gz").write_bytes(b"")
    parse_corpus(model, patterns, out, part_lines=10)
    assert contents(out) == before
    again = {path for path, time in times.items() if path.stat().st_mtime_ns != time}
    assert again == set(sorted(times)[:3])


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"decoder": "viterbi"}, 'options was {}, is {"decoder": "viterbi"}'),
        ({"part_lines": 7}, "part_lines was 5, is 7"),
        ({"on_error": "skip"}, 'on_error was "raise", is "skip"'),
        ({"compression": "none"}, 'compression was "gzip", is "none"'),
        ({"model": "english"}, 'model was "'),
        ({"corpus": "a.txt"}, "was begun with other files, 3 of them, not 1"),
    ],
)
def test_other_options_are_refused_in_the_same_folder(
    model, corpus, tmp_path, monkeypatch, changed, message
):
    monkeypatch.chdir(tmp_path / "corpus")
    call = {"model": model, "corpus": ["a.txt", "[bc].txt.*"], "folder": "out", "part_lines": 5}
    parse_corpus(**call)
    before = contents(tmp_path / "corpus")
    with pytest.raises(InputError) as refusal:
        parse_corpus(**{**call, **changed})
    assert message in str(refusal.value)
    assert str(refusal.value).startswith("out: ")
    assert contents(tmp_path / "corpus") == before


def test_a_changed_file_is_refused(model, corpus, tmp_path):
    patterns, _ = corpus
    parse_corpus(model, patterns, tmp_path / "out", plan_only=True)
    file = patterns[0]
    text = file.read_bytes()
    file.write_bytes(text + b"more\n")
    with pytest.raises(InputError, match=r"a\.txt: the file has changed .* it had \d+ bytes"):
        parse_corpus(model, patterns, tmp_path / "out")
    file.write_bytes(text.replace(b"\n", b" "))
    with pytest.raises(InputError, match="it has fewer lines"):
        parse_corpus(model, patterns, tmp_path / "out")


def test_a_folder_of_other_things_is_refused(model, corpus, tmp_path):
    patterns, _ = corpus
    with pytest.raises(InputError, match="something already, "):
        parse_corpus(model, patterns, tmp_path / "corpus")
    with pytest.raises(InputError, match="something already"):
        parse_corpus(model, patterns, patterns[0])


BAD = "\n".join([LINES[0], "é", "", LINES[1]]).encode("latin-1") + b"\n"


@pytest.mark.parametrize(("on_error", "trees"), [("empty", 4), ("skip", 3)])
def test_a_line_that_is_not_utf8_costs_nothing_else(model, tmp_path, on_error, trees):
    (tmp_path / "bad.txt").write_bytes(BAD)
    report = parse_corpus(model, tmp_path / "bad.txt", tmp_path / "out", on_error=on_error)
    assert (report.bad, report.sentences, report.blank) == (1, 2, 1)
    lines = lines_of(tmp_path / "out")
    assert len(lines) == trees
    assert [Tree.from_string(line).words() for line in (lines[0], lines[-1])] == [
        line.split() for line in LINES[:2]
    ]
    (part,) = check_manifest(tmp_path / "out")["parts"]
    assert [line for line, _ in part["bad_lines"]] == [2]


def test_an_error_names_the_line_and_keeps_all_other_parts(model, corpus, tmp_path):
    _, files = corpus
    bad, out = tmp_path / "corpus" / "a.txt", tmp_path / "out"
    good = bad.read_bytes()
    bad.write_bytes(good + BAD)
    with pytest.raises(InputError, match=rf"a\.txt:{len(files[0]) + 2}: the text is not UTF-8"):
        parse_corpus(model, tmp_path / "corpus" / "*", out, part_lines=4)
    done = len(list((out / "parts").iterdir()))
    assert done == len(files[0]) // 4
    assert len(list((out / "done").iterdir())) == done


def test_an_unknown_tag_is_a_bad_line(model, tmp_path):
    (tmp_path / "tags.txt").write_text("DT NN VBD .\nDT NX\nPRP VBD .\n", "utf-8")
    out = tmp_path / "out"
    report = parse_corpus(model, tmp_path / "tags.txt", out, tags=True, on_error="empty")
    assert (report.sentences, report.bad) == (2, 1)
    lines = lines_of(out)
    assert [line == "(())" for line in lines] == [False, True, False]
    ((line, message),) = check_manifest(out)["parts"][0]["bad_lines"]
    assert line == 2
    assert "no tag 'NX'" in message


def test_a_tagger_fixes_tags_as_in_parse(model, corpus, tmp_path):
    patterns, files = corpus
    tagger = Tagger().fit(embedded_trees(80))
    save(tagger, tmp_path / "tagger.lpcfg")
    parse_corpus(model, patterns, tmp_path / "out", tagger=tmp_path / "tagger.lpcfg")
    words = [line.split() for line in itertools.chain(*files) if line]
    trees = Parser(embedded_grammar()).parse_many(tagger.sure_tags(words), words=words)
    found = [line for line in lines_of(tmp_path / "out") if line != "(())"]
    assert found == list(map(str, trees))


def test_a_folder_of_models(model, corpus, tmp_path):
    patterns, _ = corpus
    models = tmp_path / "models"
    models.mkdir()
    for name in ("1.lpcfg", "2.lpcfg"):
        (models / name).write_bytes(model.read_bytes())
    (models / "notes.txt").write_text("no model", "utf-8")
    with joblib.parallel_config("threading", n_jobs=2):
        parse_corpus(models, patterns, tmp_path / "out")
    parse_corpus(model, patterns, tmp_path / "single")
    assert lines_of(tmp_path / "out") == lines_of(tmp_path / "single")
    digests = [check_manifest(tmp_path / name)["settings"]["model"] for name in ("out", "single")]
    assert digests[0] != digests[1]


@pytest.mark.parametrize("name", ["b.txt.gz", "c.txt.zst"])
def test_a_file_that_is_cut_short_is_an_error(model, corpus, tmp_path, name):
    file = tmp_path / "corpus" / name
    file.write_bytes(file.read_bytes()[:-9])
    with pytest.raises(InputError, match=rf"{name}: the (gzip|zstd) file is cut short"):
        parse_corpus(model, file, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"format": "xml"}, "format: must be one of"),
        ({"compression": "rar"}, "compression: must be one of"),
        ({"on_error": "ignore"}, "on_error: must be one of"),
        ({"candidates": 2}, "only be written as json"),
        ({"part_lines": 0}, "part_lines: must be a positive integer"),
        ({"shard": (4, 3)}, "shard: must be a number from 1"),
        ({"shard": (0, 3)}, "shard: must be a number from 1"),
        ({"memory": 0}, "memory: must be"),
        ({"max_length": 0}, "max_length: must be"),
        ({"timeout": 0}, "timeout: must be"),
        ({"decoder": "best"}, "decoder: must be one of"),
    ],
)
def test_bad_options_are_refused_before_anything_is_written(
    model, corpus, tmp_path, options, message
):
    with pytest.raises(InputError, match=message):
        parse_corpus(model, corpus[0], tmp_path / "out", **options)
    assert not (tmp_path / "out").exists()


def test_patterns_that_match_nothing_and_folders(model, tmp_path):
    with pytest.raises(FileNotFoundError, match="no file matches"):
        parse_corpus(model, tmp_path / "*.txt", tmp_path / "out")
    with pytest.raises(InputError, match="this is a folder"):
        parse_corpus(model, tmp_path, tmp_path / "out")


def test_parts_can_be_read_from_anywhere_in_a_corpus(corpus, tmp_path):
    _, files = corpus
    names = [str(tmp_path / "corpus" / name) for name in ("a.txt", "b.txt.gz", "c.txt.zst")]
    plan = Plan.make({}, names, 3, n_jobs=2)
    texts = {job.part.number: job.text for job in read_parts(plan.parts)}
    lines = [line for text in texts.values() for line in text.decode().splitlines()]
    assert lines == list(itertools.chain(*files))
    some = [part for part in plan.parts if part.number % 3 == 2]
    assert {job.part.number: job.text for job in read_parts(some)} == {
        part.number: texts[part.number] for part in some
    }


def test_empty_files_have_no_parts(model, tmp_path):
    (tmp_path / "empty.txt").write_bytes(b"")
    report = parse_corpus(model, tmp_path / "empty.txt", tmp_path / "out")
    assert (report.parts, report.complete) == (0, True)
    assert check_manifest(tmp_path / "out")["parts"] == []

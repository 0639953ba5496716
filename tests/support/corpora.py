"""What the tests of corpora share: files of sentences, and a look at what was parsed."""

import gzip
import hashlib
import json

import zstandard

from lpcfg import embedded_trees

LINES = [" ".join(tree.words()) for tree in embedded_trees(60, seed=5)]


def write_corpus(folder):
    """Three files, plain, gzipped and compressed by zstd, with blank lines and a last one cut."""
    folder.mkdir()
    first = "".join(f"{line}\n" for line in [*LINES[:10], "", *LINES[10:21]])
    second = "\n".join(["", *LINES[21:43], "", ""]) + "\n"
    third = "\n".join(LINES[43:])
    (folder / "a.txt").write_text(first, "utf-8")
    (folder / "b.txt.gz").write_bytes(gzip.compress(second.encode()))
    packed = zstandard.ZstdCompressor().compress(third.encode())
    (folder / "c.txt.zst").write_bytes(packed)
    return [text.split("\n")[: text.count("\n") or None] for text in (first, second, third + "\n")]


def contents(folder):
    """The files of a folder with their bytes, but for hidden ones."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def check_manifest(folder):
    """The manifest, after its checksums and counts have been compared with the parts."""
    manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
    for part in manifest["parts"]:
        data = (folder / part["part"]).read_bytes()
        assert (len(data), hashlib.sha256(data).hexdigest()) == (part["bytes"], part["sha256"])
    for name in ("lines", "sentences", "words", "blank", "bytes"):
        assert manifest["totals"][name] == sum(part[name] for part in manifest["parts"])
    names = {path.relative_to(folder).as_posix() for path in (folder / "parts").iterdir()}
    assert names == {part["part"] for part in manifest["parts"]}
    return manifest

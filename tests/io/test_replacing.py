"""Files are written completely or not at all."""

import os
import stat

import pytest

from lpcfg.io.replacing import replacing, write_text


def write_and_fail(path, text, error, **options):
    before = path.read_text() if path.exists() else None
    with replacing(path, **options) as temporary:
        temporary.write_text(text)
        assert (path.read_text() if path.exists() else None) == before
        raise error


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_after_an_error_the_old_file_is_there(tmp_path, error):
    path = tmp_path / "out.txt"
    path.write_text("old")
    with pytest.raises(error):
        write_and_fail(path, "new", error)
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [("out.txt", "old")]


def test_an_interrupt_while_the_temporary_file_is_made_leaves_nothing(tmp_path, monkeypatch):
    close = os.close

    def interrupted(file):
        close(file)
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "close", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_text(tmp_path / "out.txt", "new")
    assert list(tmp_path.iterdir()) == []


def test_partial_results_are_kept_where_this_is_asked_for(tmp_path):
    path = tmp_path / "out.txt"
    for text in ("", "a part"):
        with pytest.raises(LookupError):
            write_and_fail(path, text, LookupError, partial=True)
    assert [file.name for file in tmp_path.iterdir()] == ["out.txt.partial"]
    assert (tmp_path / "out.txt.partial").read_text() == "a part"


def test_permissions_and_links_stay(tmp_path):
    path, link = tmp_path / "out.txt", tmp_path / "link.txt"
    write_text(path, "old")
    usual = tmp_path / "usual.txt"
    usual.write_text("")
    assert path.stat().st_mode == usual.stat().st_mode
    path.chmod(0o640)
    link.symlink_to(path)
    write_text(link, "new")
    assert link.is_symlink()
    assert path.read_text() == "new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_devices_are_written_to():
    write_text(os.devnull, "nothing")
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)  # noqa: PTH116 - of the device


def test_errors_name_the_file(tmp_path):
    path = tmp_path / "no" / "out.txt"
    with pytest.raises(FileNotFoundError) as caught:
        write_text(path, "text")
    assert caught.value.filename == str(path)
    if os.path.exists("/dev/full"):  # noqa: PTH110 - Linux
        with pytest.raises(OSError, match="No space left") as full:
            write_text("/dev/full", "text")
        assert full.value.filename == "/dev/full"

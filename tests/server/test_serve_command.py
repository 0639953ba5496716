"""The command: what it refuses, and how it ends."""

import signal
import sys
import urllib.request

import pytest

from lpcfg.cli.main import main


def test_a_missing_extra_is_named(monkeypatch, capsys):
    for name in [name for name in sys.modules if name.startswith("lpcfg.server.")]:
        if not name.endswith("limits"):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "starlette.requests", None)
    monkeypatch.setitem(sys.modules, "starlette.applications", None)
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    assert main(["serve"]) == 1
    assert "pip install 'lpcfg[serve]'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["missing.lpcfg"], "missing.lpcfg: No such file or directory"),
        (["--max-words", "0"], "words: must be an integer from 1"),
        (["--host", "192.0.2.1"], "Cannot assign requested address"),
    ],
)
def test_what_cannot_be_served(options, message, capsys):
    assert main(["serve", *options]) == 1
    assert message in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_stop_the_server_without_an_error(start, number):
    server = start("english", "--allowed-host", "example.org")
    with urllib.request.urlopen(f"{server.address}/api") as answer:
        # Two models with one name are told apart.
        assert b'"english-2"' in answer.read()
    named = urllib.request.Request(f"{server.address}/api", headers={"host": "example.org"})
    with urllib.request.urlopen(named) as answer:
        assert answer.status == 200
    code, messages, seconds = server.stop(number)
    assert code == 0
    assert messages == ""
    assert seconds < 10

"""The real server under load: answers or clear refusals, and no client stops the others."""

import asyncio
import json
import signal
import socket
import threading
import time

import pytest

from support.load import Clients

pytestmark = pytest.mark.slow
REFUSALS = {400, 404, 405, 408, 413, 415, 421, 429}


def test_all_get_answers_and_memory_is_given_back(start):
    server = start("--max-words", "60")
    asyncio.run(Clients(server.host, server.port, seconds=2, seed=1).run(connections=50))
    before = server.memory()
    clients = Clients(server.host, server.port, seconds=12, seed=2)
    statuses = asyncio.run(clients.run(connections=150)).statuses
    assert set(statuses["ordinary"]) == {200}
    # A client that is still sending may see the connection reset before it reads the refusal.
    assert set(statuses["hostile"]) <= {200, "closed", *REFUSALS}
    assert statuses["hostile"].total() > statuses["hostile"]["closed"]
    assert set(statuses["oversized"]) == {413}
    assert set(statuses["slow body"]) == {408}
    assert set(statuses["idle connection"]) == {"closed"}
    assert server.memory() - before < 100 << 20
    code, messages, _ = server.stop(signal.SIGTERM)
    assert (code, messages) == (0, "")


def test_too_many_requests_are_refused_at_once(start):
    server = start("--max-requests", "1")
    with socket.create_connection((server.host, server.port)) as waiting:
        clients = Clients(server.host, server.port, seconds=1)
        waiting.sendall(clients.header(100) + b" ")
        time.sleep(0.5)
        status, body = asyncio.run(clients.post(b'{"text": "Go."}'))
    assert status == 429
    assert "try again" in json.loads(body)["error"]


def test_a_request_that_has_begun_is_answered_before_the_end(start):
    server = start("--jobs", "1")
    clients = Clients(server.host, server.port, seconds=1)
    text = " ".join(clients.sentence(100) for _ in range(8))
    answers = []
    body = json.dumps({"text": text, "chart": True}).encode()
    asking = threading.Thread(target=lambda: answers.append(asyncio.run(clients.post(body))))
    asking.start()
    time.sleep(0.5)
    code, messages, _ = server.stop(signal.SIGTERM)
    asking.join()
    assert (code, messages) == (0, "")
    ((status, document),) = answers
    assert status == 200
    assert json.loads(document)["sentences"]

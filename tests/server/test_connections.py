"""Bounds on what slow and many clients can hold."""

import socket
import threading
import time

import pytest
import uvicorn

from lpcfg.server._connections import connection_class

SECONDS = 0.4
MOST = 3
LARGE = b"x" * (64 << 20)


async def app(scope, receive, send):
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send(
        {"type": "http.response.body", "body": LARGE if scope["path"] == "/large" else b"ok"}
    )


@pytest.fixture
def connect():
    """Open connections to a server; all are closed with the test."""
    listener = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(
        app, http=connection_class(SECONDS, MOST), ws="none", lifespan="off", log_level="error"
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    opened = []

    def connect():
        opened.append(socket.create_connection(listener.getsockname(), timeout=10))
        return opened[-1]

    yield connect
    for connection in opened:
        connection.close()
    server.should_exit = True
    thread.join()
    listener.close()


def ends(connection):
    """Read until the end of a connection: the bytes, and the seconds that it took."""
    started, size = time.monotonic(), 0
    try:
        while chunk := connection.recv(1 << 20):
            size += len(chunk)
    except ConnectionError:
        pass
    return size, time.monotonic() - started


def test_half_a_header_is_not_waited_for(connect):
    connection = connect()
    connection.sendall(b"GET / HTTP/1.1\r\nhost: ")
    size, seconds = ends(connection)
    assert size == 0
    assert seconds < 8 * SECONDS


def test_an_answer_that_is_not_read_is_dropped(connect):
    connection = connect()
    connection.sendall(b"GET /large HTTP/1.1\r\nhost: a\r\n\r\n")
    time.sleep(8 * SECONDS)
    assert ends(connection)[0] < len(LARGE)


def test_an_answer_that_is_read_slowly_arrives(connect):
    connection = connect()
    connection.sendall(b"GET /large HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n")
    size = 0
    while chunk := connection.recv(4 << 20, socket.MSG_WAITALL):
        size += len(chunk)
        time.sleep(SECONDS / 4)
    assert size > len(LARGE)


def test_the_oldest_idle_connection_makes_room(connect):
    idle = [connect() for _ in range(MOST)]
    time.sleep(SECONDS / 4)
    newest = connect()
    newest.sendall(b"GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n")
    assert newest.recv(100).startswith(b"HTTP/1.1 200")
    assert ends(idle[0])[1] < SECONDS

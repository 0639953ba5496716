"""Data that all jobs use: it travels once to each worker, and is kept there while jobs run."""

from __future__ import annotations

import hashlib
import pickle
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import Any, Generic, TypeVar

__all__ = ["Shared", "find_value", "forget", "receive", "worker_threads"]

Value = TypeVar("Value")


@dataclass(frozen=True)
class Shared(Generic[Value]):
    """A value that all jobs use, as bytes and a function that makes the value from them.

    ``load``: a function of a module, which is called once in each worker.
    ``payload``: what it is called with.

    >>> Shared(bytes.decode, b"the model").value()
    'the model'
    """

    load: Callable[[bytes], Value]
    payload: bytes

    @classmethod
    def of(cls, value: Value) -> Shared[Value]:
        """Any value that cloudpickle can pickle: functions too.

        >>> Shared.of(["a", "list"]).value()
        ['a', 'list']
        """
        import cloudpickle

        return Shared(pickle.loads, cloudpickle.dumps(value))

    def value(self) -> Value:
        """A new copy of the value."""
        return self.load(self.payload)

    @cached_property
    def digest(self) -> str:
        """A hash of the bytes, by which workers know the value."""
        return hashlib.sha256(self.packed).hexdigest()

    @cached_property
    def packed(self) -> bytes:
        """The bytes that are sent to workers."""
        return pickle.dumps((self.load, self.payload))


class _Received:
    """Bytes that have arrived at a worker, and once a job has asked for it, their value."""

    def __init__(self, packed: bytes) -> None:
        self._lock = Lock()
        self._packed: bytes | None = packed
        self._value: Any = None

    def value(self) -> Any:  # noqa: ANN401 - whatever was shared
        with self._lock:
            if self._packed is not None:
                load, payload = pickle.loads(self._packed)
                self._value = load(payload)
                # Large models would otherwise be in memory twice.
                self._packed = None
            return self._value


#: What this process has received, by digest.
_received: dict[str, _Received] = {}
_lock = Lock()


def receive(digest: str, packed: bytes) -> None:
    """Keep the bytes of a shared value in this process.

    >>> shared = Shared.of("the model")
    >>> receive(shared.digest, shared.packed)
    >>> find_value(shared.digest)
    'the model'
    >>> forget(shared.digest)
    """
    with _lock:
        _received.setdefault(digest, _Received(packed))


def find_value(digest: str, path: Path | None = None) -> Any:  # noqa: ANN401 - as Shared.value
    """The value with a digest; a process that has not received its bytes reads them from a file.

    Of the values that were read from files only the last is kept: processes of joblib live on
    after the jobs of one call.
    """
    with _lock:
        received = _received.get(digest)
        if received is None:
            if path is None:
                raise LookupError(f"this worker has not received {digest}")
            _received.clear()
            received = _received[digest] = _Received(path.read_bytes())
    return received.value()


def forget(digest: str) -> None:
    """Drop a value that this process has received."""
    with _lock:
        _received.pop(digest, None)


def worker_threads() -> int:
    """The number of threads that a job may use: those of its worker if this is one of dask, or 1.

    A worker of dask runs as many jobs at once as it has threads; all of them share a value, and the
    threads of a parser among them.

    >>> worker_threads()
    1
    """
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return 1
    try:
        worker = distributed.get_worker()
    except ValueError:
        return 1
    return int(worker.state.nthreads)

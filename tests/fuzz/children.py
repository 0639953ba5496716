"""Commands of lpcfg in child processes, which start in milliseconds because modules are loaded.

A child is a fork of this process, whose standard streams are files of a folder.
"""

import ctypes
import importlib
import io
import os
import resource
import select
import shutil
import signal
import sys
import time
import warnings
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

#: Seconds after which a command hangs: none takes a tenth of this on a busy machine.
HANGS = 120

_MODULES = ("__main__", "cli.main", "cli.train", "cli.parse", "cli.evaluate", "cli._corpus")


def preload():
    """Import what the commands need, so that it is there in every child."""
    for name in _MODULES:
        importlib.import_module(f"lpcfg.{name}")
    importlib.import_module("lpcfg.estimators.registry")


@dataclass
class Outcome:
    """How a command ended: its exit code, minus the signal that ended it, and what it printed."""

    code: int
    output: bytes
    errors: str

    def check_message(self):
        """It succeeded, or failed with one message."""
        assert "Traceback" not in self.errors, self.errors
        assert self.code in (0, 1), f"exit code {self.code}: {self.errors}"
        if self.code == 1:
            assert self.errors.splitlines()[-1].startswith("lpcfg: "), self.errors


class Child:
    """A running command. ``largest_file``: a limit on the size of files, as on a full disk.

    ``full_disk``: bytes of free space for ``folder / "out"``, which is copied when the command has
    ended, because the disk is gone then.
    """

    def __init__(self, folder, arguments, *, stdin=b"", largest_file=None, full_disk=None):
        self.folder = Path(folder)
        (self.folder / "stdin").write_bytes(stdin)
        ready, started = os.pipe()
        with warnings.catch_warnings():
            # Newer versions of Python warn of forks of processes with threads.
            warnings.simplefilter("ignore")
            self.process = os.fork()
        if self.process == 0:
            os.close(ready)
            self._run(arguments, started, largest_file, full_disk)
        os.close(started)
        readable, _, _ = select.select([ready], [], [], HANGS)
        os.close(ready)
        assert readable, "the child did not start"

    def _run(self, arguments, started, largest_file, full_disk):
        """The life of the child, which never returns."""
        code = 99
        try:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            # An interrupt may come between opening a file and the block that closes it. Python
            # closes it then, and shows a warning only to those who ask for it.
            warnings.simplefilter("ignore", ResourceWarning)
            self._redirect()
            if full_disk is not None:
                _mount_small_disk(self.folder / "out", full_disk)
            if largest_file is not None:
                signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
                resource.setrlimit(resource.RLIMIT_FSIZE, (largest_file, largest_file))
            os.chdir(self.folder)
            sys.argv = ["lpcfg", *arguments]
            os.close(started)
            code = sys.modules["lpcfg.__main__"].run()
            sys.stdout.flush()
            sys.stderr.flush()
            if full_disk is not None:
                shutil.copytree(self.folder / "out", self.folder / "seen")
        except SystemExit as error:
            code = error.code
        except KeyboardInterrupt:
            # After the command, as while Python exits.
            code = 130
        except BaseException:
            sys.excepthook(*sys.exc_info())
            sys.stderr.flush()
        finally:
            os._exit(code or 0)

    def _redirect(self):
        sys.stdin, sys.stdout, sys.stderr = (
            self._stream(number, name) for number, name in enumerate(("stdin", "stdout", "stderr"))
        )

    def _stream(self, number, name):
        flags = os.O_RDONLY if number == 0 else os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        file = os.open(self.folder / name, flags, 0o666)
        os.dup2(file, number)
        os.close(file)
        binary = os.fdopen(number, "rb" if number == 0 else "wb", closefd=False)
        return io.TextIOWrapper(binary, encoding="utf-8", line_buffering=number == 2)

    def send(self, number):
        with suppress(ProcessLookupError):
            os.kill(self.process, number)

    def wait(self) -> Outcome:
        """Wait for the end; a child that hangs is killed and is a finding."""
        end = time.monotonic() + HANGS
        while True:
            done, status = os.waitpid(self.process, os.WNOHANG)
            if done:
                break
            if time.monotonic() > end:
                self.send(signal.SIGKILL)
                os.waitpid(self.process, 0)
                raise AssertionError(f"the command hangs: {self.folder}")
            time.sleep(0.001)
        output = (self.folder / "stdout").read_bytes()
        errors = (self.folder / "stderr").read_text("utf-8", errors="replace")
        return Outcome(os.waitstatus_to_exitcode(status), output, errors)


def run(folder, arguments, **options) -> Outcome:
    return Child(folder, arguments, **options).wait()


def _mount_small_disk(folder, free):
    """Put a small file system in place of a folder, for this process alone."""
    libc = ctypes.CDLL(None, use_errno=True)
    new_namespace, private, recursive = 0x20000, 1 << 18, 1 << 14
    kept = {file.name: file.read_bytes() for file in folder.iterdir()}
    size = free + sum(len(content) + 4096 for content in kept.values()) + 4096
    for failed in (
        libc.unshare(new_namespace),
        libc.mount(b"none", b"/", None, recursive | private, None),
        libc.mount(b"none", os.fsencode(folder), b"tmpfs", 0, f"size={size}".encode()),
    ):
        if failed:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))
    for name, content in kept.items():
        (folder / name).write_bytes(content)


def can_mount_disks():
    """Whether this process may make small disks: as root, and where namespaces are allowed."""
    child = os.fork()
    if child == 0:
        code = 1
        with suppress(OSError):
            folder = Path("/dev/shm")
            libc = ctypes.CDLL(None, use_errno=True)
            code = int(bool(libc.unshare(0x20000) or not folder.is_dir()))
        os._exit(code)
    return os.waitpid(child, 0)[1] == 0

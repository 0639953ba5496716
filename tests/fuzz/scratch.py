"""Folders that are removed with the objects that use them."""

import shutil
import tempfile
import weakref
from pathlib import Path


def scratch_folder(owner):
    """A new folder, in memory where the system has such a place."""
    memory = Path("/dev/shm")
    folder = tempfile.mkdtemp(prefix="lpcfg-fuzz-", dir=memory if memory.is_dir() else None)
    weakref.finalize(owner, shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)

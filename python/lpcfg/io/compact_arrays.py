"""Arrays of numbers that take only few values, in one byte for each number."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lpcfg.errors import ModelFileError
from lpcfg.io.model_file import ModelFile

__all__ = ["SHORT", "pack_numbers", "round_numbers", "unpack_numbers"]

#: The number of values that a byte can stand for.
_VALUES = 256

#: Values are found from at most this many numbers, in this number of rounds.
_SAMPLE = 500_000
_ROUNDS = 20

#: Shorter arrays are stored as they are.
SHORT = 1 << 16


def round_numbers(numbers: NDArray[np.float32]) -> NDArray[np.float32]:
    """Round numbers to 256 values, so that :func:`pack_numbers` needs one byte for each.

    One value is zero, and zeros stay zeros. The others are means of the numbers that are rounded to
    them, which makes squared errors small (Lloyd's algorithm).

    >>> numbers = np.random.default_rng(0).normal(size=100_000).astype(np.float32)
    >>> rounded = round_numbers(numbers)
    >>> len(np.unique(rounded)) <= 256, bool(np.abs(rounded - numbers).mean() < 0.01)
    (True, True)
    """
    used = np.unique(numbers[numbers != 0])
    if len(used) < _VALUES:
        return numbers.copy()
    sample = np.sort(numbers[numbers != 0])
    sample = sample[:: -(-len(sample) // _SAMPLE)].astype(np.float64)
    # Half of the first values lie at equal distances, so that large numbers, which are few, have
    # values near them; the others lie where most numbers are.
    half = _VALUES // 2
    values = np.concatenate(
        [np.linspace(used[0], used[-1], half - 1), np.quantile(sample, np.linspace(0, 1, half))]
    )
    for _ in range(_ROUNDS):
        values = np.unique(values)
        nearest = np.searchsorted((values[1:] + values[:-1]) / 2, sample)
        counts = np.bincount(nearest, minlength=len(values))
        sums = np.bincount(nearest, weights=sample, minlength=len(values))
        values = np.where(counts > 0, sums / np.maximum(counts, 1), values)
    table = np.unique(np.append(values, 0.0).astype(np.float32))
    nearest = np.searchsorted((table[1:] + table[:-1]) / 2, numbers)
    return np.where(numbers == 0, np.float32(0), table[nearest])


def pack_numbers(name: str, numbers: NDArray[np.float32]) -> dict[str, NDArray[Any]]:
    """The arrays that store numbers: their values and a byte for each if there are few values.

    >>> pack_numbers("weights", np.zeros(2, dtype=np.float32))
    {'weights': array([0., 0.], dtype=float32)}
    >>> sorted(pack_numbers("weights", np.zeros(70_000, dtype=np.float32)))
    ['weights.codes', 'weights.values']
    """
    if len(numbers) < SHORT:
        return {name: numbers}
    values = np.unique(numbers)
    if len(values) > _VALUES:
        return {name: numbers}
    codes = np.searchsorted(values, numbers).astype(np.uint8)
    return {f"{name}.values": values, f"{name}.codes": codes}


def unpack_numbers(file: ModelFile, name: str) -> NDArray[np.float32]:
    """Undo :func:`pack_numbers`.

    >>> import tempfile, pathlib
    >>> from lpcfg.io.model_file import write_model_file
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "numbers.lpcfg")
    ...     write_model_file(path, pack_numbers("n", np.ones(70_000, dtype=np.float32)), {})
    ...     int(unpack_numbers(ModelFile(path), "n").sum())
    70000
    """
    if f"{name}.codes" not in file.names():
        return file.array(name, np.float32, (None,))
    values = file.array(f"{name}.values", np.float32, (None,))
    codes = file.array(f"{name}.codes", np.uint8, (None,))
    if len(codes) and codes.max() >= len(values):
        raise ModelFileError(
            f"{name} has the code {codes.max()}, but only {len(values)} values", path=file.path
        )
    numbers: NDArray[np.float32] = values[codes]
    return numbers

"""Numbers in one byte each: what is stored, what is rounded, and what is refused."""

import numpy as np
import pytest

from lpcfg.errors import ModelFileError
from lpcfg.io.compact_arrays import SHORT, pack_numbers, round_numbers, unpack_numbers
from lpcfg.io.model_file import ModelFile, model_file_bytes


def stored(arrays):
    return ModelFile.from_bytes(model_file_bytes(arrays, {}))


@pytest.mark.parametrize("values", [1, 2, 256, 257])
@pytest.mark.parametrize("length", [0, SHORT - 1, SHORT])
def test_numbers_are_read_back_as_they_were(values, length):
    generator = np.random.default_rng(values)
    table = generator.normal(size=values).astype(np.float32)
    numbers = table[np.arange(length) % values]
    arrays = pack_numbers("numbers", numbers)
    assert (set(arrays) == {"numbers"}) == (length < SHORT or values > 256)
    np.testing.assert_array_equal(unpack_numbers(stored(arrays), "numbers"), numbers)


def test_a_code_without_a_value_is_refused():
    arrays = pack_numbers("numbers", np.arange(SHORT, dtype=np.float32) % 7)
    arrays["numbers.values"] = arrays["numbers.values"][:5]
    with pytest.raises(ModelFileError, match="numbers has the code 6, but only 5 values"):
        unpack_numbers(stored(arrays), "numbers")


def test_rounding_keeps_zeros_signs_and_large_numbers():
    generator = np.random.default_rng(0)
    numbers = (generator.laplace(size=100_000) ** 3).astype(np.float32)
    numbers[::3] = 0
    rounded = round_numbers(numbers)
    assert len(np.unique(rounded)) <= 256
    assert np.all(rounded[::3] == 0)
    large = np.abs(numbers) > 1
    np.testing.assert_array_equal(np.sign(rounded[large]), np.sign(numbers[large]))
    np.testing.assert_allclose(rounded[large], numbers[large], rtol=0.2)
    assert np.mean((rounded - numbers) ** 2) < 2e-3 * np.mean(numbers**2)


def test_few_values_are_not_rounded():
    numbers = np.arange(1000, dtype=np.float32) % 100
    np.testing.assert_array_equal(round_numbers(numbers), numbers)

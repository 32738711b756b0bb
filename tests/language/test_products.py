"""products: halves and bfloat16 become float32 exactly, whichever way is taken."""

from __future__ import annotations

import struct

import numpy as np

from ascsim.language import products
from ascsim.language.core.dtype import bfloat16, float16

BITS = np.arange(1 << 16, dtype=np.uint16)


def widened(bits: np.ndarray, dtype: object) -> np.ndarray:
    rows = np.empty(bits.size, np.float32)
    for step in products.widened(bits, dtype, rows):  # type: ignore[arg-type]
        step()
    return rows


def test_halves() -> None:
    """Python's own reading of a half is the second opinion. Infinities and NaN make the call take another way."""
    finite = BITS[(BITS >> 10 & 31) != 31]
    for bits in (finite, BITS, BITS[[0x7C00]], BITS[[0xFC00, 0x8000]]):
        expected = np.array([struct.unpack("<e", half.tobytes())[0] for half in bits], np.float32)
        found = widened(bits, float16)
        np.testing.assert_array_equal(found, expected)
        number = ~np.isnan(expected)
        np.testing.assert_array_equal(np.signbit(found)[number], np.signbit(expected)[number])


def test_bfloat16() -> None:
    found = widened(np.array([0x3F80, 0xC049, 0x0001, 0x8000, 0xFF80], np.uint16), bfloat16)
    np.testing.assert_array_equal(found, np.array([1, -3.140625, 2.0**-133, -0.0, -np.inf], np.float32))
    assert np.signbit(found[3])

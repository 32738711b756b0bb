"""Fractal geometry: addresses, views and footprints."""

from __future__ import annotations

import numpy as np
import pytest

from ascsim.hw.memory import Memory, runs_of
from ascsim.language.core import dtype as dt
from ascsim.language.fractals import NN, NZ, ZN, ZZ, Fractals, dims_of


def test_addresses_of_the_four_orders():
    # float16: c0 = 16, fractals of 16 x 16; a matrix of 2 x 3 fractals, element (17, 34) is (1, 1) of 2 fractals
    place = {"ZZ": (5, 34), "NZ": (5, 34), "ZN": (5, 34), "NN": (5, 34)}
    for order in (ZZ, NZ, ZN, NN):
        m = Fractals(1024, dt.float16, 32, 48, order)
        fractal, inside = place["".join(order)]
        assert m.at(17, 33) == 1024 + fractal * 512 + inside
    # one fractal down: the next but two in Z order, the next in N order
    assert [Fractals(0, dt.float16, 32, 48, o).at(16, 0) for o in (ZZ, NZ, ZN, NN)] == [1536, 512, 1536, 512]
    # one column right: the next element in Z, the next 32 bytes in N
    assert [Fractals(0, dt.float16, 32, 48, o).at(0, 1) for o in (ZZ, NZ, ZN, NN)] == [2, 2, 32, 32]
    # int8: a fractal is 16 rows of 32 in Z, 32 rows by 16 columns in N
    assert Fractals(0, dt.int8, 64, 64, ZZ).at(16, 0) == 1024
    assert Fractals(0, dt.int8, 64, 64, ZN).at(32, 16) == 4 * 512 + 512
    # L0C: 16 x 16 accumulators of 4 bytes; a pitch between columns of fractals
    assert Fractals(0, dt.float32, 32, 32, NZ, c0=16).at(1, 17) == 2048 + 64 + 4
    assert Fractals(0, dt.float32, 32, 32, NZ, c0=16, pitch=4096).at(1, 17) == 4096 + 64 + 4


@pytest.mark.parametrize("order", [ZZ, ZN, NZ, NN], ids="".join)
def test_views_and_footprints_agree_with_addresses(order):
    memory = Memory("L1", 1 << 14, 32)
    m = Fractals(64, dt.float16, 19, 37, order, pitch=2560)
    memory.bytes.view(np.uint16)[:] = np.arange(1 << 13)
    flat = m.view(memory).reshape(32, 48).view(np.uint16)
    touched = np.zeros(memory.size, np.bool_)
    for row in range(19):
        for column in range(37):
            assert flat[row, column] == m.at(row, column) // 2
            touched[m.at(row, column) : m.at(row, column) + 2] = True
    assert runs_of(memory.region(m.pieces()).mask()) == runs_of(touched)
    whole = memory.region(m.pieces(whole=True)).mask()
    assert int(whole.sum()) == 6 * 512
    assert not (touched & ~whole).any()


def test_a_matrix_without_gaps_is_one_run():
    assert Fractals(512, dt.float16, 128, 64, ZZ).pieces() == ((512, ((128 * 64 * 2, 1),)),)
    assert dims_of([(4, 512), (3, 4096), (1, 7)], 512) == ((3, 4096), (2048, 1))

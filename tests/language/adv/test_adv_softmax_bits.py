"""softmax to the bit, in both layouts, against element loops that add in the vendor's order; footprints of NZ."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import reference_adv as slow
from adv_machine import results
from basic_machine import launch, ub

from ascsim.hw.errors import ArgumentValueError
from ascsim.language import adv
from ascsim.language.core import ShapeInfo
from ascsim.language.core import dtype as dt

F16, F32 = np.float16, np.float32
SRC, DST, SUM, MAX, TEMP, END = 0, 20480, 40960, 41984, 43008, 63488  # bytes
RNG = np.random.default_rng(5)


def call(kind: dt.DataType, rows: dt.DataType, shape: Any, original: Any = None, **more: Any) -> Callable[[], None]:
    """`rows`: the type of sum and max."""
    where = {"dst": DST, "elements": 0, "scratch": END - TEMP, "tiling": None, **more}

    def body() -> None:
        source = ub(kind, SRC, where["elements"])
        source.set_shape_info(ShapeInfo(shape, original))
        adv.softmax(
            ub(kind, where["dst"], where["elements"]), ub(rows, SUM), ub(rows, MAX), source,
            where["tiling"] or adv.SoftmaxTiling(), ub(dt.uint8, TEMP, where["scratch"]),
            basic_block=more.get("basic", False), data_format_nz=more.get("nz", False),
        )  # fmt: skip

    return body


def fractals(x: np.ndarray) -> np.ndarray:
    """Element (i, j) at ((j // 16) * m + i) * 16 + j % 16, one at a time."""
    m, k = x.shape
    out = np.zeros(m * k, x.dtype)
    for i in range(m):
        for j in range(k):
            out[(j // 16 * m + i) * 16 + j % 16] = x[i, j]
    return out


def numbers(m: int, k: int, kind: Any) -> np.ndarray:
    return (RNG.standard_normal((m, k)) * 3).astype(kind)


CASES = [  # m, k, original k, layout, type, type of sum and max
    (2, 40, 37, "generic", F32, F32),
    (2, 72, 72, "generic", F32, F32),
    (1, 208, 200, "generic", F32, F32),
    (1, 592, 584, "generic", F32, F32),
    (8, 512, 512, "repeats", F32, F32),
    (2, 112, 100, "generic", F16, F16),
    (2, 112, 97, "generic", F16, F32),
    (16, 16, 16, "nz", F32, F32),
    (16, 16, 11, "nz", F16, F16),
    (32, 48, 40, "nz", F32, F32),
    (16, 32, 32, "nz", F16, F32),
]


@pytest.mark.parametrize(("m", "k", "used", "order", "kind", "rows"), CASES)
def test_bits(m: int, k: int, used: int, order: str, kind: Any, rows: Any) -> None:
    x = numbers(m, k, kind)
    x[0, 1] = -np.inf
    nz = order == "nz"
    types = dt.from_numpy(np.dtype(kind)), dt.from_numpy(np.dtype(rows))
    body = call(*types, (m, k), (m, used), basic=order == "repeats", nz=nz)
    per_block = 32 // np.dtype(rows).itemsize
    wanted = [(DST, (m * k,), kind), (SUM, (m, per_block), rows), (MAX, (m, per_block), rows)]
    (dst, total, peak), found = results(body, END, {SRC: fractals(x) if nz else x}, wanted)
    assert found == []
    at = fractals(np.arange(m * k).reshape(m, k)).argsort() if nz else np.arange(m * k)
    got = dst[at].reshape(m, k)
    fit = {F16: slow.half_ties_away, F32: float}
    for i, line in enumerate(x[:, :used].tolist()):
        quotients, exact_total, most = slow.softmax(line, order)
        assert got[i, :used].tolist() == [fit[kind](q) for q in quotients]
        assert total[i].tolist() == [fit[rows](exact_total)] * per_block
        assert peak[i].tolist() == [most] * per_block


def test_halves_round_ties_away_from_zero() -> None:
    # The sum of 2049 ones lies between the halves 2048 and 2050, of which 2048 is the even one.
    x = np.full((1, 2064), -1000.0, F16)
    x[0, :2049] = 0
    (total,), found = results(
        call(dt.float16, dt.float16, (1, 2064)), END, {SRC: x}, [(SUM, (16,), F16)]
    )  # fmt: skip
    assert (total.tolist(), found) == ([2050.0] * 16, [])


def test_zeros_and_nan() -> None:
    x = np.zeros((3, 8), F32)
    x[0, :4], x[1, 2] = -0.0, np.nan
    x[2] = -0.0
    (dst, peak), _ = results(
        call(dt.float32, dt.float32, (3, 8)), END, {SRC: x}, [(DST, (3, 8), F32), (MAX, (3, 8), F32)]
    )  # fmt: skip
    assert np.signbit(peak[:, 0]).tolist() == [False, np.signbit(peak[1, 0]).item(), True]
    assert np.isnan(dst[1]).all()
    assert np.isnan(peak[1]).all()
    assert dst[0].tolist() == [0.125] * 8


def test_nz_touches_the_rows_of_the_original_shape_alone() -> None:
    # [32, 32] with 20 rows and 25 columns that count: bytes of the other rows stay 7.
    x = numbers(32, 32, F32)
    body = call(dt.float32, dt.float32, (32, 32), (20, 25), nz=True)
    (dst, total), found = results(
        body, END, {SRC: fractals(x)}, [(DST, (2, 32, 64), np.uint8), (SUM, (1024,), np.uint8)]
    )
    assert found == []
    assert (dst[:, 20:] == 7).all()
    assert (total[20 * 32 :] == 7).all()
    assert not (dst[:, :20] == 7).all()
    found = results(call(dt.float32, dt.float32, (32, 32), nz=True, elements=1000), END, {SRC: fractals(x)}, [])[1]
    assert found == ["OOB_BUF"]
    assert results(call(dt.float32, dt.float32, (32, 32), nz=True, dst=SRC), END, {SRC: fractals(x)}, [])[1] == []


def test_nz_scratch_and_refusals() -> None:
    # 4 * (16 + k) bytes at least.
    for scratch, found in ((192, []), (160, ["OOB_BUF"])):
        body = call(dt.float32, dt.float32, (16, 32), nz=True, scratch=scratch)
        assert results(body, END, {SRC: numbers(16, 32, F32)}, [])[1] == found
    tiling = {"src_m": 12, "src_k": 32, "split_m": 12, "range_m": 1}
    for shape, original, more, message in (
        ((8, 32), None, {}, "rows of src = 8; rule: a multiple of 16 in NZ; nearest legal value: 16"),
        ((16, 24), None, {}, r"last axis of src = 24; rule: a multiple of 16 elements \(64 bytes\).*: 32"),
        ((16, 32), (16, 16), {}, "last axis of the original shape = 16; rule: 17 to 32"),
        ((16, 32), (17, 32), {}, "rows of the original shape = 17; rule: 1 to 16"),
        ((16, 32), (12, 32), {"tiling": tiling}, "tiling.src_m = 12; rule: src_m = 16: with 12 the device takes"),
    ):
        made = {"tiling": lambda t=more["tiling"]: adv.SoftmaxTiling(**t)} if more else {}
        with pytest.raises(ArgumentValueError, match=message):
            launch(lambda s=shape, o=original, t=made: call(
                dt.float32, dt.float32, s, o, nz=True, **{name: make() for name, make in t.items()})())  # fmt: skip

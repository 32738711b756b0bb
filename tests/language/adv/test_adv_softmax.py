"""softmax: what the vendor's page prints, a second opinion in plain Python, shapes, scratch and faults."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from basic_machine import at, codes, launch, order, ub
from hypothesis import given, settings
from hypothesis import strategies as st

from ascsim.hw.checks import Checks
from ascsim.hw.errors import ArgumentTypeError, ArgumentValueError, OperandError
from ascsim.language import adv
from ascsim.language.basic import adds, data_copy, duplicate
from ascsim.language.core import GlobalAddress, HardEvent, ShapeInfo
from ascsim.language.core import dtype as dt
from ascsim.language.core.place import running

SRC, DST, SUM, MAX, TEMP = 0, 8192, 16384, 20480, 24576  # bytes
COLLECT = Checks.collect()


def call(
    dtype: dt.DataType, shape: Any, original: Any = None, *, rows: dt.DataType | None = None, **more: Any
) -> Callable[[], None]:
    """A call; `rows` is the type of sum and max."""
    where = {"dst": DST, "sum": SUM, "max": MAX, "src": SRC, "temp": TEMP, "scratch": 32768, **more}

    def body() -> None:
        source = ub(dtype, where["src"], where.get("elements", 0))
        if shape is not None:
            source.set_shape_info(ShapeInfo(shape, original))
        options = {name: more[name] for name in ("basic_block", "data_format_nz", "reuse_source") if name in more}
        adv.softmax(
            ub(dtype, where["dst"]),
            ub(rows or dtype, where["sum"]),
            ub(rows or dtype, where["max"]),
            source,
            more.get("tiling", adv.SoftmaxTiling()),
            ub(dt.uint8, where["temp"], where["scratch"]),
            **options,
        )

    return body


def softmax(x: np.ndarray, original: Any = None, rows: dt.DataType | None = None, **more: Any) -> list[np.ndarray]:
    """dst, sum and max, one row a row of x; nothing may be found."""
    dtype = dt.from_numpy(x.dtype)
    rows = rows or dtype
    out = [np.zeros_like(x), *(np.zeros((len(x), 32 // rows.size), rows.np) for _ in range(2))]

    def body(source: GlobalAddress, *targets: GlobalAddress) -> None:
        data_copy(ub(dtype), at(source), x.size)
        order(HardEvent.MTE2_V)
        call(dtype, x.shape, original, rows=rows, **more)()
        order(HardEvent.V_MTE3)
        for target, array, start in zip(targets, out, (more.get("dst", DST), SUM, MAX), strict=True):
            data_copy(at(target), ub(dt.from_numpy(array.dtype), start), array.size)

    assert codes(launch(body, x, *out, checks=COLLECT)) == []
    return out


PAGE = """
-100 -80 -60 -50 -30 -20 -15 -10            -9 -8 -7 -6 -5 -4 -3 -2
-1.5 -1 -0.8 -0.6 -0.5 -0.45 -0.4 -0.35     -0.3 -0.25 -0.2 -0.15 -0.1 -0.05 -0.01 -0.001
0 0.001 0.01 0.05 0.1 0.15 0.2 0.25         0.3 0.35 0.4 0.45 0.5 0.6 0.8 1
1.5 2 3 4 5 6 7 8                           9 10 15 20 30 50 60 80"""
PAGE_SUM = [1.0067834, 1.5814459, 5.971886, 7.051223, 6.880514, 5.239974, 1.5820376, 1]
PAGE_MAX = [-10, -2, -0.35, -0.001, 0.25, 1, 8, 80]
PAGE_DST = {
    0: [0, 0, 0, 0, 0, 0.00004509, 0.00669255, 0.99326235],
    1: [0.00057661, 0.0015674, 0.00426062, 0.01158158, 0.03148199, 0.08557693, 0.23262219, 0.63233274],
    4: [0.11318932, 0.11330257, 0.1143269, 0.11899266, 0.12509353, 0.13150725, 0.13824977, 0.14533797],
    7: [0, 0, 0, 0, 0, 0, 0, 1],
}


def test_what_the_page_prints() -> None:
    dst, total, peak = softmax(np.array(PAGE.split(), np.float32).reshape(8, 8))
    for i in range(8):
        assert total[i].tolist() == pytest.approx([PAGE_SUM[i]] * 8, rel=2e-7)
        assert peak[i].tolist() == pytest.approx([PAGE_MAX[i]] * 8, rel=1e-7)
    for i, row in PAGE_DST.items():
        assert dst[i].tolist() == pytest.approx(row, abs=6e-9, rel=5e-7)


@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_against_plain_python(data: st.DataObject) -> None:
    kind, rows, error = data.draw(
        st.sampled_from(((np.float32, None, 3e-7), (np.float16, None, 6e-4), (np.float16, dt.float32, 6e-4)))
    )
    m, k = data.draw(st.integers(1, 5)), data.draw(st.sampled_from((16, 32)))
    numbers = data.draw(st.lists(st.floats(-12, 12, width=16), min_size=m * k, max_size=m * k))
    x = np.array(numbers, kind).reshape(m, k)
    dst, total, peak = softmax(x, rows=rows)
    for i, line in enumerate(x.tolist()):
        powers = [math.exp(value - max(line)) for value in line]
        exact = math.fsum(powers)
        assert set(peak[i].tolist()) == {max(line)}
        assert total[i].tolist() == pytest.approx([exact] * len(total[i]), rel=3e-7 if rows else error)
        assert dst[i].tolist() == pytest.approx([p / exact for p in powers], rel=error, abs=6e-8)


def test_more_axes_in_place_and_infinities() -> None:
    x = np.zeros((2, 8), np.float32)
    x[1, 3] = -math.inf
    dst, total, _ = softmax(x, dst=SRC)
    assert dst.tolist() == [[0.125] * 8, [pytest.approx(1 / 7, rel=1e-7)] * 3 + [0] + [pytest.approx(1 / 7)] * 4]
    assert total[:, 0].tolist() == [8, 7]
    dst, total, _ = softmax(np.full((1, 8), -math.inf, np.float32))
    assert np.isnan(dst).all()
    # [2, 2, 8] is four rows.
    assert softmax(np.zeros((4, 8), np.float32), (2, 2, 8))[1][:, 0].tolist() == [8] * 4


def found(body: Callable[[], None], after: Callable[[], None] | None = None) -> list[str]:
    """What is found when all of UB that the calls use is 1.0 before."""

    def kernel() -> None:
        duplicate(ub(dt.float32), 1.0, 16384)
        body()
        if after is not None:
            after()

    return codes(launch(kernel, checks=COLLECT))


def read(start: int, elements: int) -> Callable[[], None]:
    return lambda: adds(ub(dt.float32, 61440), ub(dt.float32, start), 1.0, elements)


def test_what_is_beyond_the_original_row_does_not_count_and_is_undefined() -> None:
    body = call(dt.float32, (2, 16), (2, 9))
    assert found(body, read(DST, 9)) == []
    assert found(body, read(DST + 64, 9)) == []
    assert "UNINIT_READ" in found(body, read(DST, 10))
    sums = []

    def look() -> None:
        sums.append(ub(dt.float32, SUM).get_value(0).v)

    launch(lambda: (duplicate(ub(dt.float32), 1.0, 16384), body(), look()), checks=Checks.off())
    assert sums == [9.0]


def test_scratch() -> None:
    # 4 * (8 + k + 64) bytes at least, that for every row at most.
    assert found(call(dt.float32, (4, 8), scratch=320)) == []
    assert found(call(dt.float32, (4, 8), scratch=288)) == ["OOB_BUF"]
    assert found(call(dt.float16, (4, 16), scratch=384)) == []
    assert found(call(dt.float16, (4, 16), scratch=352)) == ["OOB_BUF"]
    assert "UNINIT_READ" in found(call(dt.float32, (4, 8)), read(TEMP + 1280 - 32, 8))
    assert found(call(dt.float32, (4, 8)), read(TEMP + 1280, 8)) == []
    assert found(call(dt.float32, (4, 8)), read(SRC, 32)) == []


def test_overlaps() -> None:
    for more in ({"dst": SRC + 32}, {"sum": DST + 32}, {"max": SUM}, {"max": SRC}, {"temp": MAX}, {"temp": SRC}):
        assert found(call(dt.float32, (4, 8), scratch=320, **more))[0] == "OVERLAP_PARTIAL", more
    assert found(call(dt.float32, (4, 8), elements=24)) == ["OOB_BUF"]


def test_a_tiling_of_this_shape_must_fit_it() -> None:
    right = {"src_m": 8, "src_k": 8, "split_m": 3, "range_m": 2, "tail_m": 2}
    assert found(lambda: call(dt.float32, (8, 8), tiling=adv.SoftmaxTiling(**right))()) == []
    wrong = {**right, "tail_m": 1}
    with pytest.raises(ArgumentValueError, match=r"tiling = '3 \* 2 \+ 1'; rule: split_m \* range_m \+ tail_m = src_m"):
        launch(lambda: call(dt.float32, (8, 8), tiling=adv.SoftmaxTiling(**wrong))())
    assert found(lambda: call(dt.float32, (4, 8), tiling=adv.SoftmaxTiling(**wrong))()) == []


def test_refuses() -> None:
    f = dt.float32
    for bad, error, message in (
        (call(f, None), ArgumentValueError, r"adv\.softmax: src: src has no shape; rule: set_shape_info"),
        (
            call(f, (4, 12)),
            ArgumentValueError,
            "last axis of src = 12; rule: a multiple of 8 .*nearest legal value: 16",
        ),
        (call(f, (0, 8)), ArgumentValueError, "rows of src = 0"),
        (call(f, (4, 8), (4, 9)), ArgumentValueError, "last axis of the original shape = 9; rule: 1 to 8"),
        (call(f, (4, 64), basic_block=True), ArgumentValueError, "basic_block: m a multiple of 8, k one of 64 from 64"),
        (
            call(f, (8, 64), (8, 60), basic_block=True),
            ArgumentValueError,
            "original shape = 60; rule: 64 in a basic block",
        ),
        (call(f, (4, 8), tiling=3), ArgumentTypeError, "tiling = 3: is no SoftmaxTiling"),
        (
            call(f, (4, 8), rows=dt.float16),
            OperandError,
            "BAD_DTYPE.*dst, sum, max, src have the types float32, float16",
        ),
        (call(dt.int32, (4, 8)), OperandError, "BAD_DTYPE"),
    ):
        with pytest.raises(error, match=message):
            launch(bad)
    assert found(call(f, (8, 64), basic_block=True)) == []


def test_price_is_that_of_the_seven_steps() -> None:
    spent = []

    def body() -> None:
        pipe = running("cycles").pipes["V"]
        before = pipe.free
        call(dt.float32, (32, 32))()
        spent.append(pipe.free - before)

    launch(body, checks=Checks.off())
    # 16 repeats: three plain passes, two of the slow class, and two fills of 32 blocks (4 repeats).
    assert spent == [3 * (22 + 16) + 2 * (22 + 32) + 2 * (22 + 4)]

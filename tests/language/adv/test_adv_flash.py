"""softmax_flash_v2: to the bit against element loops, a whole online softmax, shapes, scratch, prices and faults."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import reference_adv as slow
from adv_machine import results, spent
from basic_machine import launch, ub

from ascsim.hw.errors import ArgumentTypeError, ArgumentValueError, NotSimulatedError, OperandError, SimulatorWarning
from ascsim.language import adv
from ascsim.language.basic import adds
from ascsim.language.core import ShapeInfo
from ascsim.language.core import dtype as dt

F16, F32 = np.float16, np.float32
SRC, DST, SUM, MAX, RATIO, SUM0, MAX0, TEMP, END = 0, 32768, 65536, 66560, 67584, 68608, 69632, 70656, 120000
KINDS = {F16: dt.float16, F32: dt.float32}
RNG = np.random.default_rng(11)
FIT = {F16: slow.half_ties_away, F32: float}


def call(kind: Any, rows: Any, shape: Any, **more: Any) -> Callable[[], None]:
    """A call; `rows` is the type of sums and maxima, `shape` what goes into the SoftMaxShapeInfo, or none at all."""
    kind, rows = KINDS.get(kind, kind), KINDS.get(rows, rows)
    where = {
        "dst": DST,
        "sum": SUM,
        "max": MAX,
        "sum0": SUM0,
        "max0": MAX0,
        "temp": TEMP,
        "scratch": END - TEMP,
        **more,
    }

    def body() -> None:
        source = ub(kind, SRC)
        if "attached" in more:
            source.set_shape_info(ShapeInfo(*more["attached"]))
        options = {name: more[name] for name in ("is_update", "is_basic_block", "is_data_format_nz") if name in more}
        options["config"] = more["config"]() if "config" in more else None
        adv.softmax_flash_v2(
            ub(kind, where["dst"]), ub(rows, where["sum"]), ub(rows, where["max"]), source, ub(kind, RATIO),
            ub(rows, where["sum0"]), ub(rows, where["max0"]), more.get("tiling", adv.SoftmaxTiling)(),
            None if shape is None else adv.SoftMaxShapeInfo(*shape),
            ub(dt.uint8, where["temp"], where["scratch"]), **options,
        )  # fmt: skip

    return body


CASES = [  # m, k, columns that count, order, type, type of sums and maxima, layout
    (3, 40, 33, "generic", F32, F32, {}),
    (2, 112, 112, "generic", F16, F16, {}),
    (2, 112, 99, "generic", F16, F32, {}),
    (1, 592, 592, "generic", F32, F32, {}),
    (8, 512, 512, "flash", F32, F32, {"is_basic_block": True}),
    (8, 1024, 1024, "flash", F32, F32, {"is_basic_block": True}),
    (16, 32, 21, "nz", F16, F32, {"is_data_format_nz": True}),
]


def fractals(x: np.ndarray) -> np.ndarray:
    """Columns of 16, one below the other."""
    return np.concatenate([x[:, j : j + 16].reshape(-1) for j in range(0, x.shape[1], 16)])


@pytest.mark.parametrize("update", [False, True])
@pytest.mark.parametrize(("m", "k", "used", "order", "kind", "rows", "more"), CASES)
def test_bits(m: int, k: int, used: int, order: str, kind: Any, rows: Any, more: Any, update: bool) -> None:
    x = (RNG.standard_normal((m, k)) * 3).astype(kind)
    block, narrow = 32 // np.dtype(rows).itemsize, 32 // np.dtype(kind).itemsize
    totals = np.repeat(RNG.uniform(1, 40, (m, 1)).astype(rows), block, axis=1)
    peaks = np.repeat((RNG.standard_normal((m, 1)) * 4).astype(rows), block, axis=1)
    nz = "is_data_format_nz" in more
    wanted = [(DST, (m * k,), kind), *((at, (m, block), rows) for at in (SUM, MAX)), (RATIO, (m, narrow), kind)]
    body = call(kind, rows, (m, k, m, used), is_update=update, **more)
    given = {SRC: fractals(x) if nz else x, SUM0: totals, MAX0: peaks}
    (dst, total, peak, ratio), found = results(body, END, given, wanted)
    assert found == []
    at = fractals(np.arange(m * k).reshape(m, k)).argsort() if nz else np.arange(m * k)
    got = dst[at].reshape(m, k)
    for i in range(min(m, 3)):
        before = (float(totals[i, 0]), float(peaks[i, 0])) if update else None
        powers, exact, most, factor = slow.flash(x[i, :used].tolist(), order, before)
        assert got[i, :used].tolist() == [FIT[kind](p) for p in powers]
        assert total[i].tolist() == [FIT[rows](exact)] * block
        assert peak[i].tolist() == [most] * block
        if update:
            assert ratio[i].tolist() == [FIT[kind](factor)] * narrow
    if not update:
        assert (ratio.view(np.uint8) == 7).all()


def test_a_row_in_three_steps_is_its_softmax() -> None:
    """In place: sums and maxima of a step are those that it gets; what is before is then scaled by exp_max."""
    x = (RNG.standard_normal((3, 4, 64)) * 5).astype(F32)
    total = peak = np.zeros((4, 8), F32)
    parts: list[np.ndarray] = []
    for step in range(3):
        body = call(F32, F32, (4, 64, 4, 64), is_update=step > 0, dst=SRC, sum0=SUM, max0=MAX)
        wanted = [(SRC, (4, 64), F32), (SUM, (4, 8), F32), (MAX, (4, 8), F32), (RATIO, (4, 8), F32)]
        given = {SRC: x[step], SUM: total, MAX: peak, RATIO: np.ones((4, 8), F32)}
        (dst, total, peak, ratio), found = results(body, END, given, wanted)
        assert found == []
        parts = [part * ratio[:, :1] for part in parts] + [dst]
    whole = np.concatenate([*x], axis=1).astype(np.float64)
    power = np.exp(whole - whole.max(1, keepdims=True))
    assert np.concatenate(parts, axis=1) / total[:, :1] == pytest.approx(power / power.sum(1, keepdims=True), rel=1e-6)


def test_special_values() -> None:
    x = np.zeros((3, 8), F32)
    x[1, 0], x[2] = np.nan, -np.inf
    peaks = np.array([-np.inf, 0, -np.inf], F32)[:, None].repeat(8, 1)
    given = {SRC: x, SUM0: np.ones((3, 8), F32), MAX0: peaks}
    wanted = [(DST, (3, 8), F32), (SUM, (3, 8), F32), (RATIO, (3, 8), F32)]
    (dst, total, ratio), _ = results(call(F32, F32, (3, 8, 3, 8), is_update=True), END, given, wanted)
    # The first step's maximum is -inf: nothing is left of it. All at -inf, as of a row that is masked out: NaN.
    assert (dst[0].tolist(), total[0, 0], ratio[0, 0]) == ([1.0] * 8, 8, 0)
    assert np.isnan([*dst[1], *dst[2], total[1, 0], total[2, 0], ratio[1, 0], ratio[2, 0]]).all()


def found(body: Callable[[], None], *more: Callable[[], None]) -> list[str]:
    given = {SRC: np.ones(END // 4, F32)}

    def both() -> None:
        for each in (body, *more):
            each()

    return results(both, END, given, [])[1]


def test_shape_tiling_and_configuration() -> None:
    right = {"src_m": 8, "src_k": 64, "split_m": 3, "range_m": 2, "tail_m": 2}
    assert found(call(F32, F32, None, attached=((2, 4, 64), (2, 4, 60)))) == []
    assert found(call(F32, F32, (0, 0, 0, 0), attached=((8, 64),))) == []
    for flag in (True, False):
        config = lambda f=flag: adv.SoftmaxConfig(f, 8, 64)  # noqa: E731
        assert found(call(F32, F32, (8, 64, 8, 64), tiling=lambda: adv.SoftmaxTiling(**right), config=config)) == []
    for more, message in (
        ({"tiling": lambda: adv.SoftmaxTiling(**{**right, "tail_m": 1})}, r"tiling = '3 \* 2 \+ 1'"),
        ({"config": lambda: adv.SoftmaxConfig(False)}, r"\[src_m, src_k\] of tiling = \[0, 0\]; rule: .*\[8, 64\]"),
        ({"config": lambda: adv.SoftmaxConfig(True, 8, 60)}, r"of config = \[8, 60\]; rule: the shape .* \[8, 64\]"),
    ):
        with pytest.raises(ArgumentValueError, match=message):
            launch(call(F32, F32, (8, 64, 8, 64), **more))
    # Constants decide by themselves: 8 rows of 64 are a basic block, for which 72 columns are too many.
    constants = lambda: adv.SoftmaxConfig(True, 8, 64)  # noqa: E731
    assert found(call(F32, F32, (8, 64, 8, 64), config=constants, scratch=2272)) == ["OOB_BUF"]
    assert found(call(F32, F32, (8, 64, 8, 64), scratch=2272)) == []
    with pytest.raises(ArgumentValueError, match="original shape = 64; rule: 72 in a basic block"):
        launch(call(F32, F32, (8, 72, 8, 64), config=constants))


def test_scratch() -> None:
    read = lambda at: lambda: adds(ub(dt.float32, 110080), ub(dt.float32, at), 1.0, 8)  # noqa: E731
    # Bytes: 4 * (8 + 64) of floats; 4 * (2 * 16 + 48 + 64) of halves; of a basic block 8 rows of 4 * (8 + 64), and of
    # 4 * (8 + 64 + 64) at 1024 columns.
    for kind, shape, more, least in (
        (F32, (4, 48, 4, 48), {}, 288),
        (F16, (4, 48, 4, 48), {}, 576),
        (F32, (8, 64, 8, 64), {"is_basic_block": True}, 2304),
        (F32, (8, 1024, 8, 1024), {"is_basic_block": True}, 4352),
        (F32, (16, 32, 16, 32), {"is_data_format_nz": True}, 320),
    ):
        assert found(call(kind, kind, shape, scratch=least, **more)) == []
        assert found(call(kind, kind, shape, scratch=least - 32, **more)) == ["OOB_BUF"]
        assert "UNINIT_READ" in found(call(kind, kind, shape, scratch=least, **more), read(TEMP))
    assert "UNINIT_READ" in found(call(F32, F32, (4, 48, 4, 48)), read(TEMP + 4 * 288 - 32))
    assert found(call(F32, F32, (4, 48, 4, 48)), read(TEMP + 4 * 288)) == []
    assert "UNINIT_READ" in found(call(F32, F32, (4, 48, 4, 41)), read(DST + 40 * 4))


def test_overlaps() -> None:
    for more in ({"dst": SRC + 32}, {"sum": MAX}, {"max": SUM0, "is_update": True}, {"temp": MAX}, {"sum": RATIO + 32}):
        update = {"is_update": True} if more.get("sum") == RATIO + 32 else {}
        assert found(call(F32, F32, (4, 8, 4, 8), scratch=288, **more, **update))[0] == "OVERLAP_PARTIAL", more
    assert found(call(F32, F32, (4, 8, 4, 8), sum=SUM0, max=MAX0, dst=SRC, is_update=True)) == []
    assert found(call(F32, F32, (4, 8, 4, 8), sum=RATIO)) == []  # exp_max is not touched without update


def test_refuses() -> None:
    one = (4, 8, 4, 8)
    for bad, error, message in (
        (call(F32, F16, one), OperandError, "BAD_DTYPE.*dst_tensor, exp_sum_tensor.*have the types float32, float16"),
        (call(F32, F32, (4, 12, 4, 12)), ArgumentValueError, "last axis of src_tensor = 12; rule: .*; .*: 16"),
        (call(F32, F32, None), ArgumentValueError, "src_tensor has no shape; rule: set_shape_info"),
        (call(F32, F32, one, is_basic_block=True), ArgumentValueError, r"\[m, k\] of src_tensor = \[4, 8\]"),
        (call(F32, F32, one, tiling=lambda: 3), ArgumentTypeError, "tiling = 3: is no SoftmaxTiling"),
        (call(F32, F32, one, config=lambda: 3), ArgumentTypeError, "config = 3: is no SoftmaxConfig"),
        (call(F32, F32, one, scratch=256), SimulatorWarning, "shared_tmp_buffer has 256 bytes; rule: at least 288"),
    ):
        with pytest.raises(error, match=message):
            launch(bad)
    t = lambda at: ub(dt.float32, at)  # noqa: E731
    with pytest.raises(NotSimulatedError, match="out_reduce_max"):
        launch(lambda: adv.softmax_flash_v2(*map(t, range(0, 448, 64)), adv.SoftmaxTiling(), out_reduce_max=t(512)))
    with pytest.raises(ArgumentTypeError, match="softmax_shape_info = 3: is no SoftMaxShapeInfo"):
        launch(lambda: adv.softmax_flash_v2(*map(t, range(0, 448, 64)), adv.SoftmaxTiling(), 3))


def test_price_is_that_of_the_steps() -> None:
    # [32, 32]: 16 repeats of rows, 4 of blocks. Max, sub and sum are simple, exp is slow; two fills.
    first = 3 * (22 + 16) + (22 + 32) + 2 * (22 + 4)
    assert spent(call(F32, F32, (32, 32, 32, 32))) == first
    # With update: maximum, difference, product and sum of blocks, and their exponential.
    assert spent(call(F32, F32, (32, 32, 32, 32), is_update=True)) == first + 4 * (22 + 4) + (22 + 8)
    # Halves are cast before and after.
    assert spent(call(F16, F32, (32, 32, 32, 32))) == first + 2 * (22 + 16)

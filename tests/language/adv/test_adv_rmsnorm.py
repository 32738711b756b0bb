"""rmsnorm: what the page prints, to the bit against element loops, pieces, scratch, order, prices and faults."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import reference_adv as slow
from adv_machine import results, spent
from basic_machine import codes, launch, ub

from ascsim.hw.checks import Checks
from ascsim.hw.device import Device
from ascsim.hw.errors import ArgumentTypeError, ArgumentValueError, OperandError, SimulatorWarning
from ascsim.hw.soc import soc
from ascsim.language import adv
from ascsim.language.basic import adds, duplicate, pipe_barrier
from ascsim.language.core import PipeID
from ascsim.language.core import dtype as dt
from ascsim.language.core.place import running

F16, F32 = np.float16, np.float32
SRC, GAMMA, DST, TEMP, END = 0, 20480, 40960, 61440, 110592  # bytes
KINDS = {F16: dt.float16, F32: dt.float32}
RNG = np.random.default_rng(3)


def tiling(b: int, s: int, h: int, used: int = 0, main: int = 0, **wrong: Any) -> dict[str, Any]:
    """As the vendor's host function fills it, for pieces of `main` rows (0: all)."""
    used, main = used or h, main or b * s
    loops, tail = divmod(b * s, main)
    return {
        "b_length": b, "s_length": s, "h_length": h, "original_h_length": used, "reciprocal_of_h_length": 1 / used,
        "main_bsh_length": main * h, "main_bs_length": main, "main_bs_length_align": -(-main // 8) * 8,
        "loop_round": loops, "input_tail_pos": loops * main * h, "tail_bsh_length": tail * h, "tail_bs_length": tail,
        **wrong,
    }  # fmt: skip


def call(kind: Any, fields: dict[str, Any], epsilon: Any = 0.01, **more: Any) -> Callable[[], None]:
    where = {"dst": DST, "gamma": GAMMA, "temp": TEMP, "scratch": END - TEMP, "basic_block": False, **more}
    kind = KINDS.get(kind, kind)

    def body() -> None:
        adv.rmsnorm(
            ub(kind, where["dst"]), ub(kind, SRC), ub(kind, where["gamma"]), epsilon, adv.RmsNormTiling(**fields),
            ub(dt.uint8, where["temp"], where["scratch"]), where["basic_block"],
        )  # fmt: skip

    return body


def test_what_the_page_prints() -> None:
    ramp = np.arange(16, dtype=F32)
    (y,), found = results(
        call(F32, tiling(1, 1, 16), 1e-5), END, {SRC: ramp, GAMMA: ramp}, [(DST, (16,), F32)]
    )  # fmt: skip
    assert found == []
    printed = [0, 0.11359233, 0.4543693, 1.022331, 1.8174772, 2.8398082, 4.089324, 5.566024, 7.269909, 9.200979,
               11.359233, 13.744672, 16.357296, 19.197104, 22.264095, 25.558275]  # fmt: skip
    # The page gives no epsilon, and its device's logarithm is a few units of the last place off.
    assert y.tolist() == pytest.approx(printed, rel=5e-7)


CASES = [  # b, s, h, h before padding, rows of a piece, type, basic block, order of the sum
    (1, 3, 40, 37, 2, F32, False, "rounds"),
    (2, 2, 112, 97, 3, F16, False, "rounds"),
    (1, 1, 4160, 4160, 1, F32, False, "rounds"),
    (2, 8, 192, 192, 16, F32, True, "repeats"),
    (1, 8, 64, 64, 5, F16, True, "repeats"),
]


@pytest.mark.parametrize(("b", "s", "h", "used", "main", "kind", "basic", "order"), CASES)
def test_bits(b: int, s: int, h: int, used: int, main: int, kind: Any, basic: bool, order: str) -> None:
    x = (RNG.standard_normal((b * s, h)) * 2).astype(kind)
    gamma = RNG.uniform(0.5, 2, h).astype(kind)
    body = call(kind, tiling(b, s, h, used, main), 0.01, basic_block=basic)
    (y,), found = results(body, END, {SRC: x, GAMMA: gamma}, [(DST, (b * s, h), kind)])
    assert found == []
    small = slow.half(0.01) if kind is F16 else slow.single(0.01)
    fit = slow.half if kind is F16 else float
    for i in range(min(b * s, 4)):
        exact = slow.rmsnorm(x[i].tolist(), gamma.tolist(), used, small, order)
        assert y[i].tolist() == [fit(v) for v in exact]


def test_epsilon_is_of_the_type_of_src_and_special_values() -> None:
    # Of zeros 1 / sqrt(epsilon) times 0; 1e-8 is 0 as a half, then the factor is infinite and 0 * inf is NaN.
    x = np.zeros((4, 16), F16)
    x[1, 0], x[2, 0], x[3] = np.inf, np.nan, 0.25
    given = {SRC: x, GAMMA: np.ones(16, F16)}
    for epsilon, first in ((1e-8, [True] * 16), (1e-4, [False] * 16)):
        (y,), _ = results(call(F16, tiling(1, 4, 16), epsilon), END, given, [(DST, (4, 16), F16)])
        assert np.isnan(y[0]).tolist() == first
        # Infinity times 1 / infinity is NaN, all else 0; NaN is everywhere; 0.25 over itself (and 1e-4) is about 1.
        assert (np.isnan(y[1]).tolist(), np.isnan(y[2]).all()) == ([True] + [False] * 15, True)
        assert y[1, 1:].tolist() == [0] * 15
        assert y[3].tolist() == pytest.approx([1.0] * 16, abs=1e-3)


def found(body: Callable[[], None], *more: Callable[[], None]) -> list[str]:
    given = {SRC: np.ones(END // 4, F32)}

    def both() -> None:
        for each in (body, *more):
            each()

    return results(both, END, given, [])[1]


def read(start: int) -> Callable[[], None]:
    return lambda: adds(ub(dt.float32, 106496), ub(dt.float32, start), 1.0, 8)


def test_in_place_and_no_rows() -> None:
    x = np.full((2, 8), 2, F32)
    given = {SRC: x, GAMMA: np.arange(8, dtype=F32)}
    (y,), codes_ = results(call(F32, tiling(1, 2, 8), 0.0, dst=SRC), END, given, [(SRC, (2, 8), F32)])
    assert codes_ == []
    assert y.tolist() == [pytest.approx(list(range(8)), rel=2e-7)] * 2
    assert found(call(F32, {})) == ["ZERO_LENGTH"]


def test_scratch() -> None:
    # Of 3 rows of 16: factors in 8 floats, products in 48; halves are cast to 48 more.
    for kind, least in ((F32, 4 * (8 + 48)), (F16, 4 * (8 + 96))):
        assert found(call(kind, tiling(1, 6, 16, main=3), scratch=least)) == []
        assert found(call(kind, tiling(1, 6, 16, main=3), scratch=least - 32)) == ["OOB_BUF"]
        for byte in (TEMP, TEMP + least - 32):
            assert found(call(kind, tiling(1, 6, 16, main=3)), read(byte)) == ["UNINIT_READ"]
        assert found(call(kind, tiling(1, 6, 16, main=3)), read(TEMP + least)) == []


def test_overlaps() -> None:
    for more in ({"dst": SRC + 32}, {"dst": GAMMA}, {"temp": GAMMA}, {"temp": DST + 32}, {"temp": SRC}):
        assert found(call(F32, tiling(1, 2, 16), scratch=160, **more))[0] == "OVERLAP_PARTIAL", more
    assert found(call(F32, tiling(1, 2, 16), gamma=SRC)) == []


def test_the_scalar_unit_waits_for_the_factors_except_where_they_are_broadcast() -> None:
    def waited(fields: dict[str, Any], **more: Any) -> bool:
        out = []

        def body() -> None:
            core = running("waited")
            duplicate(ub(dt.float32), 1.0, END // 4)
            out.append(core.now)
            call(F32, fields, **more)()
            out.append(core.now)

        assert codes(launch(body, checks=Checks.collect())) == []
        return out[1] - out[0] > 500  # cycles: those of the instructions before the factors are read

    assert waited(tiling(2, 8, 64))
    assert not waited(tiling(2, 8, 64), basic_block=True)
    assert waited(tiling(1, 8, 64), basic_block=True)


def test_without_auto_sync_it_needs_a_barrier_before_but_none_behind() -> None:
    def run(barrier: bool) -> list[str]:
        def body() -> None:
            duplicate(ub(dt.float32), 1.0, END // 4)
            if barrier:
                pipe_barrier(PipeID.PIPE_V)
            call(F32, tiling(1, 2, 16))()
            adds(ub(dt.float32, GAMMA), ub(dt.float32, DST), 1.0, 8)

        device = Device(soc("Ascend910B1"), 0, 1, checks=Checks.collect(), auto_sync=False)
        device.run(body)
        return codes(device)

    assert run(True) == []
    assert "NO_BARRIER_RAW" in run(False)


def test_refuses() -> None:
    good = tiling(2, 4, 64)
    for fields, more, message in (
        (tiling(2, 4, 20), {}, r"tiling.h_length = 20; rule: a multiple of 8 \(32 bytes\); nearest legal value: 24"),
        ({**good, "original_h_length": 1}, {}, "tiling.original_h_length = 1; rule: 2 to h_length = 64: .*value: 2"),
        ({**good, "original_h_length": 65}, {}, "tiling.original_h_length = 65; .*nearest legal value: 64"),
        ({**good, "main_bs_length": 9}, {}, "tiling.main_bs_length = 9; rule: 1 to b_length . s_length = 8"),
        (tiling(32, 8, 8), {}, "tiling.main_bs_length = 256; rule: at most 255"),
        (tiling(2, 4, 64, 60), {"basic_block": True}, r"\[rows, h, original h\] = \[8, 64, 60\]; rule: with basic_b"),
        ({**good, "loop_round": 2}, {}, "tiling.loop_round = 2; rule: 1 for pieces of 8 of 8 rows of 64; .*value: 1"),
        ({**good, "tail_bs_length": 1}, {}, "tiling.tail_bs_length = 1; rule: 0 for"),
        ({**good, "main_bs_length_align": 4}, {}, "tiling.main_bs_length_align = 4; rule: 8 for"),
    ):  # fmt: skip
        with pytest.raises(ArgumentValueError, match=message):
            launch(call(F32, fields, **more))
    f, i, small = (lambda at: ub(dt.float32, at)), (lambda at: ub(dt.int32, at)), (lambda: ub(dt.uint8, TEMP, 512))
    for bad, error, message in (
        (call(dt.int32, good), OperandError, "BAD_DTYPE.*dst, src, gamma have the types int32"),
        (lambda: adv.rmsnorm(f(DST), f(SRC), i(GAMMA), 0.1, adv.RmsNormTiling()), OperandError, "BAD_DTYPE"),
        (lambda: adv.rmsnorm(f(DST), f(SRC), f(GAMMA), 0.1, 3), ArgumentTypeError, "tiling = 3: is no RmsNormTiling"),
        (lambda: adv.rmsnorm(f(DST), f(SRC), f(GAMMA), "x", adv.RmsNormTiling(**good)), ArgumentTypeError, "scalar"),
        (lambda: adv.rmsnorm(f(DST), f(SRC), f(GAMMA), 0.1, adv.RmsNormTiling(**good), small()),
         SimulatorWarning, "temp_buffer has 512 bytes; rule: at least 2080 here"),
    ):  # fmt: skip
        with pytest.raises(error, match=message):
            launch(bad)


def test_a_plan_that_was_kept_serves_the_same_call_alone() -> None:
    x = np.full((2, 8), 2, F32)
    given = {SRC: x, GAMMA: np.ones(8, F32)}

    def calls(*more: tuple[dict[str, Any], float]) -> list[float]:
        def body() -> None:
            for fields, epsilon in more:
                call(F32, fields, epsilon)()

        return results(body, END, given, [(DST, (2, 8), F32)])[0][0][:, 0].tolist()

    one, other = tiling(1, 2, 8), tiling(1, 2, 8, main=1)
    assert calls((one, 0.0), (one, 12.0)) == [0.5, 0.5]
    assert calls((one, 12.0), (one, 0.0), (one, 12.0), (other, 12.0)) == [0.5, 0.5]
    with pytest.raises(ArgumentValueError, match=r"tiling\.loop_round = 7"):
        calls((one, 0.0), ({**one, "loop_round": 7}, 0.0))


def test_price() -> None:
    # 4 rows of 64 floats in one piece: 4 repeats for all, one for a row and for the factors.
    factors = (22 + 4) + 4 * (22 + 1) + 3 * (22 + 1) + 2 * (22 + 2)  # mul; a sum a row; muls, adds, muls; ln, exp
    products = 4 * (22 + 1) + (22 + 4)  # muls a row; mul by gamma
    assert spent(call(F32, tiling(1, 4, 64))) == factors + products
    # As a basic block of 16 rows of 128: two passes of 64 lanes for the sum, brcb of 2 repeats, two for the factors.
    factors = (22 + 32) + 2 * (22 + 16) + 3 * (22 + 1) + 2 * (22 + 2)
    products = (22 + 2) + 2 * (22 + 16) + (22 + 32) + 2 * (22 + 16)
    assert spent(call(F32, tiling(2, 8, 128), basic_block=True)) == factors + products

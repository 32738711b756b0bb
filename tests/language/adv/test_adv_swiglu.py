"""swiglu: what the page prints, to the bit against single elements, scratch, barrier, price and faults."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import reference_adv as slow
from adv_machine import results, spent
from basic_machine import launch, ub

from ascsim.hw.errors import ArgumentTypeError, OperandError, SimulatorWarning
from ascsim.language import adv
from ascsim.language.basic import adds
from ascsim.language.core import dtype as dt

F16, F32 = np.float16, np.float32
UP, GATE, DST, TEMP, END = 0, 1024, 2048, 3072, 16384  # bytes
KINDS = {F16: dt.float16, F32: dt.float32}


def call(
    kind: Any, *more: Any, dst: int = DST, temp: int = TEMP, scratch: int = 8192, **named: Any
) -> Callable[[], None]:
    kind = KINDS.get(kind, kind)

    def body() -> None:
        buffer = ub(dt.uint8, temp, scratch)
        adv.swiglu(ub(kind, dst), ub(kind, UP, 32), ub(kind, GATE), *more, shared_tmp_buffer=buffer, **named)

    return body


def swiglu(up: Any, gate: Any, kind: Any, *more: Any, **named: Any) -> list[float]:
    given = {UP: np.array(up, kind), GATE: np.array(gate, kind)}
    (out,), found = results(call(kind, *more, **named), END, given, [(DST, (len(up),), kind)])
    assert found == []
    return out.tolist()


def test_what_the_page_prints() -> None:
    up = [-4.0, -3.7419355, -0.12903225, 0.12903225, 2.1935484, 4.0, *[0.0] * 26]
    printed = [-1.2449187, -1.1646013, -0.04015867, 0.04015867, 0.68269736, 1.2449187]
    assert swiglu(up, [0.5] * 32, F32)[:6] == pytest.approx(printed, rel=2e-7)


def test_bits() -> None:
    random = np.random.default_rng(2)
    for kind, beta in ((F32, 1.0), (F32, 1.702), (F16, 1.0), (F16, 0.1)):
        up, gate = (random.standard_normal((2, 32)) * 4).astype(kind).tolist()
        of_type, fit = (slow.half, slow.half) if kind is F16 else (slow.single, float)
        expected = [fit(slow.swiglu(u, g, of_type(beta))) for u, g in zip(up, gate, strict=True)]
        assert swiglu(up, gate, kind, *() if beta == 1 else (beta,)) == expected


def test_special_values_and_what_lies_beyond_the_count() -> None:
    inf, nan = float("inf"), float("nan")
    # Swish is 0 at -inf only as -inf / inf, which is NaN; at -1000 it is -1000 / inf.
    gate = [inf, -inf, nan, -1000.0, 0.0, -0.0, 20.0]
    got = swiglu([2.0] * 7 + [1.0] * 25, gate + [1.0] * 25, F32, cal_count=7)
    assert list(map(repr, got[:7])) == ["inf", "nan", "nan", "-0.0", "0.0", "-0.0", repr(40.0)]
    assert np.array(got[7:], F32).view(np.uint32).tolist() == [0x07070707] * 25


def found(body: Callable[[], None], *more: Callable[[], None]) -> list[str]:
    def both() -> None:
        for each in (body, *more):
            each()

    return results(both, END, {UP: np.ones(END // 4, F32)}, [])[1]


def test_scratch_and_overlaps() -> None:
    read = lambda at: lambda: adds(ub(dt.float32, 12288), ub(dt.float32, at), 1.0, 8)  # noqa: E731
    # Halves take six times their bytes, of 256 at least; floats nothing.
    assert found(call(F16, scratch=1536)) == []
    assert found(call(F16, scratch=1504)) == ["OOB_BUF"]
    assert found(call(F16), read(TEMP + 1504)) == ["UNINIT_READ"]
    assert found(call(F16), read(TEMP + 1536)) == []
    assert found(call(F32, temp=DST), read(DST)) == []
    for more in ({"dst": UP}, {"dst": GATE + 32}, {"temp": DST}, {"temp": UP + 32}):
        assert found(call(F16, cal_count=32, **more))[0] == "OVERLAP_PARTIAL"
    assert found(call(F32, cal_count=0)) == ["ZERO_LENGTH"]


def test_refuses() -> None:
    f = lambda at: ub(dt.float32, at)  # noqa: E731
    for bad, error, message in (
        (call(dt.int32), OperandError, "BAD_DTYPE.*dst_tensor has type int32; rule: float16, float32"),
        (lambda: adv.swiglu(f(DST), f(UP), ub(dt.float16, GATE)), OperandError,
         "src_tensor1 has type float16, dst_tensor has float32; rule: one type"),
        (lambda: adv.swiglu(f(DST), f(UP), f(GATE), "x"), ArgumentTypeError, "scalar"),
        (lambda: adv.swiglu(f(DST), f(UP), f(GATE), shared_tmp_buffer=3), ArgumentTypeError, "shared_tmp_buffer = 3"),
        (call(F16, scratch=512), SimulatorWarning, "shared_tmp_buffer has 512 bytes; rule: at least 1536"),
        (call(F32, dst=UP), OperandError, "dst_tensor bytes .* and src_tensor0 bytes .* meet in bytes"),
    ):  # fmt: skip
        with pytest.raises(error, match=message):
            launch(bad)


def test_price() -> None:
    # 32 elements are one repeat of floats: three simple steps and two slow ones; three casts more of halves.
    assert spent(call(F32)) == 3 * (22 + 1) + 2 * (22 + 2)
    assert spent(call(F16)) == 6 * (22 + 1) + 2 * (22 + 4)

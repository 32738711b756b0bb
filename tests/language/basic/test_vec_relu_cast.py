"""add_relu_cast and sub_relu_cast: the vendor's edge values, forms, masks and strides by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from basic_machine import codes, launch, on_image, ub

from ascsim.hw.checks import Checks
from ascsim.hw.errors import OperandError
from ascsim.language.basic import add_relu_cast, duplicate, sub_relu_cast
from ascsim.language.core import BinaryRepeatParams
from ascsim.language.core import dtype as dt

KINDS = {"half": (dt.float16, dt.int8), "int16": (dt.int16, dt.int8), "float": (dt.float32, dt.float16)}
INF, NAN = np.inf, np.nan


def run(function: Any, kind: str, a: list[float], b: list[float], *form: Any) -> np.ndarray:
    """The destination, bytes 1024 and on, filled with 7 before; sources at 0 and 512."""
    source, target = KINDS[kind]
    before = np.full(1536, 7, np.uint8)
    for start, values in ((0, a), (512, b)):
        raw = np.array(values).astype(source.np).view(np.uint8)
        before[start : start + raw.size] = raw
    form = form or (len(a),)
    after, _ = on_image(before, lambda: function(ub(target, 1024), ub(source, 0), ub(source, 512), *form))
    return after[1024:].view(target.np)


@pytest.mark.parametrize(
    ("function", "kind", "a", "b", "expected"),
    [
        (add_relu_cast, "half", [1.5, 2.5, -3, 100], [0, 0, 1, 100], [2, 2, 0, 127]),
        (add_relu_cast, "half", [INF, -INF, NAN, INF, 65504], [1, 1, 1, -INF, 65504], [127, 0, 0, 0, 127]),
        (add_relu_cast, "int16", [1, -5, 32767, -32768], [2, 3, 32767, -32768], [3, 0, 127, 0]),
        (add_relu_cast, "float", [1, -2, 0.1, 1e38], [2, 1, 0.2, 0], [3, 0, 0.300048828125, INF]),
        (add_relu_cast, "float", [NAN, INF, -INF, INF], [1, 0, 0, -INF], [0, INF, 0, 0]),
        (sub_relu_cast, "half", [5, 1, NAN, INF], [2.5, 4, 0, 0], [2, 0, 0, 127]),
        (sub_relu_cast, "int16", [32767, -32768, 9], [-32768, 32767, 4], [127, 0, 5]),
        (sub_relu_cast, "float", [5, 1, INF], [2.5, 4, INF], [2.5, 0, 0]),
    ],
)
def test_values(function: Any, kind: str, a: list[float], b: list[float], expected: list[float]) -> None:
    assert run(function, kind, a, b)[: len(a)].tolist() == expected


def test_minus_zero_becomes_plus_zero() -> None:
    assert not np.signbit(run(add_relu_cast, "float", [-0.0], [-0.0])[0])


def test_the_sum_of_halves_is_rounded_first() -> None:
    """64.03125 is no half (step 2**-4 from 64 on); 64.5 is, and goes to the even 64; 2048 + 1 is 2048."""
    assert run(add_relu_cast, "half", [64.5, 63.5], [0.03125, 0], 2)[:2].tolist() == [64, 64]


def test_mask_form() -> None:
    """Lanes 0 and 40 of two repeats of 64 floats; the destination takes 16 halves a block, repeats 4 blocks apart."""
    numbers = list(range(128))
    params = BinaryRepeatParams(1, 1, 1, 4, 8, 8)
    out = run(add_relu_cast, "float", numbers, numbers, [1 | 1 << 40, 0], 2, params)
    untouched = np.full(2, 7, np.uint8).view(np.float16)[0]
    assert np.flatnonzero(out != untouched).tolist() == [0, 40, 64, 104]
    assert out[[0, 40, 64, 104]].tolist() == [0, 80, 128, 208]


def test_count_form_takes_and_drops_is_set_mask() -> None:
    assert run(add_relu_cast, "half", [1, 2], [3, 4], 2, False)[:2].tolist() == [4, 6]


def test_used_bytes() -> None:
    def body(count: int) -> None:
        duplicate(ub(dt.float16, 0, 16), 1, 16)
        add_relu_cast(ub(dt.int8, 512), ub(dt.float16), ub(dt.float16), count)

    assert codes(launch(lambda: body(16), checks=Checks.collect())) == []
    assert codes(launch(lambda: body(17), checks=Checks.collect())) == ["UNINIT_READ"]


def test_refused() -> None:
    with pytest.raises(OperandError, match=r"BAD_DTYPE: add_relu_cast: .*types int8, float32, float32; rule: one of"):
        launch(lambda: add_relu_cast(ub(dt.int8, 512), ub(dt.float32), ub(dt.float32), 8))
    with pytest.raises(OperandError, match=r"BAD_MASK: sub_relu_cast: mask = 129"):
        launch(lambda: sub_relu_cast(ub(dt.int8, 512), ub(dt.int16), ub(dt.int16), 129, 1, BinaryRepeatParams()))

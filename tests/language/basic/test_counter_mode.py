"""Counter mode with the count that stands in the registers at power-on: all 32 bits, 67108864 repeats of 64 lanes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from basic_machine import FREE, f, launch, ub, whole

from ascsim.hw.errors import MemoryFault, OperandError
from ascsim.language import basic
from ascsim.language.core import BinaryRepeatParams, RoundMode, UnaryRepeatParams
from ascsim.language.core import dtype as dt

EVERY = [(1 << 64) - 1, (1 << 64) - 1]
STILL: dict[str, Callable[[], Any]] = {  # calls whose repeats all work on the same bytes
    "duplicate": lambda: basic.duplicate(f(), 1.0, EVERY, 1, 1, 0),
    "add": lambda: basic.add(f(), f(1024), f(2048), EVERY, 1, BinaryRepeatParams(1, 1, 1, 0, 0, 0)),
    "cast": lambda: basic.cast(
        ub(dt.int32, 0, 64), f(1024), RoundMode.CAST_RINT, EVERY, 1, UnaryRepeatParams(1, 1, 0, 0)
    ),
    "whole_reduce_sum": lambda: basic.whole_reduce_sum(f(), f(1024), EVERY, 1, 0, 1, 0),
    "gather": lambda: basic.gather(f(), f(1024), ub(dt.uint32, 2048, 64), 0, EVERY, 1, 0),
}


@pytest.mark.parametrize("name", STILL)
def test_repeats_of_one_place_are_limited_to_half_the_bytes_of_ub(name: str) -> None:
    def body() -> None:
        whole("UB", np.zeros(4096, np.uint8))
        basic.set_mask_count()
        text = f"BAD_MASK: {name}: counter mode asks for 67108864 repeats of one place; rule: at most 98304"
        with pytest.raises(OperandError, match=text):
            STILL[name]()

    launch(body, checks=FREE)


def test_repeats_that_move_leave_ub() -> None:
    def body() -> None:
        basic.set_mask_count()
        with pytest.raises(MemoryFault, match="OOB_PHYS"):
            basic.duplicate(f(), 1.0, EVERY, 1, 1, 8)

    launch(body, checks=FREE)

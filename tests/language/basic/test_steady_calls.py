"""A line that runs again and again, between calls in another mask mode, gives each time what it gives the first time.

What it gives the first time is compared with the second opinion elsewhere (test_basic_vector, test_vec_*).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from basic_machine import launch, ub, whole

from ascsim.language import basic
from ascsim.language.basic import set_deq_scale, set_mask_count, set_mask_norm
from ascsim.language.core import BinaryRepeatParams, CopyRepeatParams, RoundMode, UnaryRepeatParams
from ascsim.language.core import dtype as dt
from ascsim.language.core.place import running

SIZE, DST = 8192, 4096
MASK = [0x60, 0]  # lanes 5 and 6; in counter mode 96 elements
F, I32, U = dt.float32, dt.int32, dt.uint32
UNARY, BINARY, NARROW = UnaryRepeatParams(), BinaryRepeatParams(), BinaryRepeatParams(1, 1, 1, 4, 8, 8)
LINES: dict[str, Callable[[], None]] = {
    "add": lambda: basic.add(ub(F, DST), ub(F), ub(F, 1024), MASK, 2, BINARY),
    "adds": lambda: basic.adds(ub(F, DST), ub(F), 2.0, MASK, 2, UNARY),
    "exp": lambda: basic.exp(ub(F, DST), ub(F), MASK, 2, UNARY),
    "axpy": lambda: basic.axpy(ub(F, DST), ub(F), 2.0, MASK, 2, UNARY),
    "duplicate": lambda: basic.duplicate(ub(F, DST), 3.0, MASK, 2, 1, 8),
    "cast": lambda: basic.cast(ub(I32, DST), ub(F), RoundMode.CAST_RINT, MASK, 2, UNARY),
    "add_relu_cast": lambda: basic.add_relu_cast(ub(dt.float16, DST), ub(F), ub(F, 1024), MASK, 2, NARROW),
    "mul_cast": lambda: basic.mul_cast(ub(dt.int8, DST), ub(dt.float16), ub(dt.float16, 1024), MASK, 2, NARROW),
    "add_deq_relu": lambda: basic.add_deq_relu(ub(dt.float16, DST), ub(I32), ub(I32, 1024), MASK, 2, NARROW),
    "whole_reduce_sum": lambda: basic.whole_reduce_sum(ub(F, DST), ub(F), MASK, 2, 1, 1, 8),
    "whole_reduce_max": lambda: basic.whole_reduce_max(ub(F, DST), ub(F), MASK, 2, 1, 1, 8),
    "block_reduce_max": lambda: basic.block_reduce_max(ub(F, DST), ub(F), 2, MASK, 1, 1, 8),
    "pair_reduce_sum": lambda: basic.pair_reduce_sum(ub(F, DST), ub(F), 2, MASK, 1, 1, 8),
    "repeat_reduce_sum": lambda: basic.repeat_reduce_sum(ub(F, DST), ub(F), 2, MASK, 1, 1, 1, 8),
    "gather": lambda: basic.gather(ub(F, DST), ub(F), ub(U, 3072), 0, MASK, 2, 8),
    "copy": lambda: basic.copy(ub(F, DST), ub(F), MASK, 2, CopyRepeatParams(1, 1, 8, 8)),
}


def image(turn: int) -> np.ndarray:
    out = np.random.default_rng(turn).integers(-40, 40, SIZE // 4).astype(np.float32)
    bits = out.view(np.uint32)
    bits[768:1024] = 4 * np.random.default_rng(turn).integers(0, 512, 256)  # offsets of gather
    return out.view(np.uint8)


def results(name: str, turns: list[tuple[int, bool]]) -> list[bytes]:
    """What lies behind DST after each turn, which has its own data and counter mode or not."""
    out = []

    def body() -> None:
        memory = running("test").memories["UB"].bytes
        for turn, counter in turns:
            whole("UB", image(turn))
            set_deq_scale(0.5)
            (set_mask_count if counter else set_mask_norm)()
            LINES[name]()
            out.append(memory[DST:SIZE].tobytes())
            set_mask_norm()

    launch(body)
    return out


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", LINES)
def test_a_line_gives_each_time_what_it_gives_the_first_time(name: str) -> None:
    turns = [(0, False), (1, False), (2, False), (3, True), (4, True), (5, False), (6, True)]
    steady = results(name, turns)
    assert steady == [results(name, [turn])[0] for turn in turns]
    assert len(set(steady)) == len(turns) or name == "duplicate"

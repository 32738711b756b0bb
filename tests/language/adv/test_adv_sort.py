"""concat and extract: around sort, what each leaves behind, order, queues and faults."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from adv_machine import results
from basic_machine import codes, launch, ub

from ascsim.hw.checks import Checks
from ascsim.hw.device import Device
from ascsim.hw.errors import MemoryFault, OperandError, QueueError, SimulatorWarning
from ascsim.hw.soc import soc
from ascsim.language import adv
from ascsim.language.basic import adds, duplicate, get_gather_mask_remain_count, pipe_barrier, sort
from ascsim.language.core import LocalTensor, PipeID, TPosition, UnaryRepeatParams
from ascsim.language.core import dtype as dt
from ascsim.language.fwk import TPipe, TQue

F16, F32 = np.float16, np.float32
KINDS = {F16: dt.float16, F32: dt.float32}
SCORE, INDEX, PAIRS, TMP, VALUE, NUMBER, END = 0, 1024, 2048, 4096, 6144, 8192, 12288  # bytes


def pairs(scores: Any, numbers: Any) -> np.ndarray:
    """Pairs of 8 bytes: the score first, a half in the low two of its four, the index behind."""
    out = np.zeros((len(scores), 2), np.uint32)
    bits = np.array(scores).view(f"u{np.array(scores).itemsize}")
    out[:, 0], out[:, 1] = bits, numbers
    return out


@pytest.mark.parametrize("kind", [F32, F16])
def test_the_way_through_sort(kind: Any) -> None:
    """As the vendor's example has it: concat, sort, extract."""
    dtype = KINDS[kind]
    scores = np.array([31, 5, -2, 0.5, 77] * 25 + [100, 3, 3], kind)
    numbers = np.arange(1000, 1128, dtype=np.uint32)

    def body() -> None:
        ready = LocalTensor(dtype)
        adv.concat(ready, ub(dtype, SCORE, 128), ub(dtype, TMP), 8)
        assert (ready.get_size().v, ready.get_phy_addr().v) == (128, SCORE)
        sort(ub(dtype, PAIRS), ready, ub(dt.uint32, INDEX), ub(dtype, TMP), 4, True)
        adv.extract(ub(dtype, VALUE), ub(dt.uint32, NUMBER), ub(dtype, PAIRS), 4)
        assert get_gather_mask_remain_count().v == (128 if kind is F32 else 256)

    wanted = [(VALUE, (128,), kind), (NUMBER, (128,), np.uint32)]
    (value, number), found = results(body, END, {SCORE: scores, INDEX: numbers}, wanted)
    order = sorted(range(128), key=lambda i: (-scores[i], i))
    assert (value.tolist(), number.tolist()) == ([scores[i] for i in order], [1000 + i for i in order])
    assert found == []


def test_extract_literal_and_what_stays() -> None:
    scores = np.array([*range(40, 8, -1)], F32)
    given = {PAIRS: pairs(scores, range(32)), VALUE: np.full(64, 7, F32), NUMBER: np.full(64, 9, np.uint32)}

    def body() -> None:
        adv.extract(ub(dt.float32, VALUE), ub(dt.uint32, NUMBER), ub(dt.float32, PAIRS), 1)

    (value, number), found = results(body, END, given, [(VALUE, (34,), F32), (NUMBER, (34,), np.uint32)])
    assert (value.tolist(), number.tolist()) == ([*range(40, 8, -1), 7, 7], [*range(32), 9, 9])
    assert found == []


def extract(kind: Any, times: Any = 1, **more: Any) -> Callable[[], None]:
    dtype = KINDS.get(kind, kind)
    at = {"value": VALUE, "number": NUMBER, "src": PAIRS, "elements": 0, **more}

    def body() -> None:
        adv.extract(ub(dtype, at["value"]), ub(dt.uint32, at["number"], at["elements"]), ub(dtype, at["src"]), times)

    return body


def found(body: Callable[[], None], *more: Callable[[], None]) -> list[str]:
    def both() -> None:
        for each in (body, *more):
            each()

    return results(both, END, {SCORE: np.ones(END // 4, F32)}, [])[1]


def read(at: int) -> Callable[[], None]:
    return lambda: adds(ub(dt.float32, 10240), ub(dt.float32, at), 1.0, 8)


def test_of_halves_twice_the_indices_are_written() -> None:
    assert found(extract(F16), read(NUMBER + 96)) == []
    assert found(extract(F16), read(NUMBER + 128)) == ["UNINIT_READ"]
    assert found(extract(F16), read(NUMBER + 256)) == []
    assert found(extract(F32), read(NUMBER + 128)) == []
    assert found(extract(F16, elements=64)) == []
    assert found(extract(F16, elements=32)) == ["OOB_BUF"]
    assert found(extract(F32, elements=32)) == []


def test_masks_are_empty_afterwards() -> None:
    """The mask registers hold 0: an instruction that goes by them does nothing."""
    body = lambda: adds(ub(dt.float32, 10240), ub(dt.float32), 1.0, 0, 1, UnaryRepeatParams(), False)  # noqa: E731
    assert found(extract(F32), body) == ["ZERO_LENGTH"]


def test_without_auto_sync() -> None:
    def run(barrier: bool) -> list[str]:
        def body() -> None:
            duplicate(ub(dt.float32), 1.0, END // 4)
            if barrier:
                pipe_barrier(PipeID.PIPE_V)
            extract(F16)()

        device = Device(soc("Ascend910B1"), 0, 1, checks=Checks.collect(), auto_sync=False)
        device.run(body)
        return codes(device)

    assert run(True) == []
    assert "NO_BARRIER_RAW" in run(False)


def test_concat_takes_what_belongs_to_src() -> None:
    """A tensor of a queue becomes one of the other queue: its own queue does not get it back."""

    def body() -> None:
        pipe, sources, others = TPipe(), TQue(TPosition.VECIN, 1), TQue(TPosition.VECCALC, 1)
        pipe.init_buffer(sources, 1, 256)
        pipe.init_buffer(others, 1, 256)
        src, dst = sources.alloc_tensor(dt.float32), others.alloc_tensor(dt.float32)
        before = dst[8:]
        adv.concat(dst, src, dst, 4)
        assert (dst.get_phy_addr().v, before.get_phy_addr().v) == (src.get_phy_addr().v, 256 + 32)
        others.free_tensor(dst)

    with pytest.raises(QueueError, match="free_tensor"):
        launch(body)


def test_refuses() -> None:
    f, h = (lambda at: ub(dt.float32, at)), (lambda at: ub(dt.float16, at))
    for bad, error, message in (
        (lambda: adv.concat(f(0), h(0), h(0), 1), OperandError, "BAD_DTYPE.*dst has type float32, src has float16"),
        (lambda: adv.concat(h(0), h(0), f(0), 1), OperandError, "tmp has type float32, dst has float16; rule: one"),
        (lambda: adv.concat(ub(dt.int32), ub(dt.int32), ub(dt.int32), 1), OperandError, "src has type int32; rule"),
        (lambda: adv.concat(3, f(0), f(0), 1), OperandError, "BAD_POSITION.*dst = 3 is an int"),
        (lambda: adv.concat(f(0), f(0), f(0), 256), OperandError, "BAD_REPEAT.*adv.concat"),
        (extract(dt.int32), OperandError, "dst_value has type int32; rule: float16, float32"),
        (lambda: adv.extract(f(VALUE), f(NUMBER), f(PAIRS), 1), OperandError, "dst_index has type float32"),
        (lambda: adv.extract(f(VALUE), ub(dt.uint32, NUMBER), h(PAIRS), 1), OperandError, "src has type float16"),
        (extract(F32, -1), OperandError, "BAD_REPEAT"),
        (extract(F32, 0), SimulatorWarning, "ZERO_LENGTH"),
        (extract(F32, value=NUMBER + 64), OperandError, "OVERLAP_PARTIAL.*dst_value .* and dst_index .* meet"),
        (extract(F32, value=PAIRS), OperandError, "OVERLAP_PARTIAL.*dst_value .* and src .* meet"),
        (extract(F32, src=PAIRS + 4), MemoryFault, "MISALIGNED_ADDR.*src starts at byte 2052"),
        (extract(F32, 2, src=196608 - 256), MemoryFault, "OOB_PHYS"),
    ):
        with pytest.raises(error, match=message):
            launch(bad)

"""gather_mask: patterns, counter mode, counts, order of S and V, faults, and a second opinion."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import reference_reduce as slow
from basic_machine import at, codes, launch, on_image, ub
from hypothesis import given, settings
from hypothesis import strategies as st
from images import laid, mixed

from ascsim.hw.checks import Checks
from ascsim.hw.errors import (
    ArgumentTypeError,
    ArgumentValueError,
    DeadlockError,
    MemoryFault,
    NotSimulatedError,
    OperandError,
)
from ascsim.language.basic import (
    data_copy,
    duplicate,
    gather_mask,
    get_gather_mask_remain_count,
    set_mask_count,
    wait_flag,
    whole_reduce_sum,
)
from ascsim.language.core import GatherMaskParams, HardEvent
from ascsim.language.core import dtype as dt
from ascsim.language.core.ir_value import UInt64

COLLECT = Checks.collect()
U16, U32 = np.uint16, np.uint32


def w(start: int, elements: int = 0) -> Any:
    return ub(dt.uint32, start, elements)


def run(before: np.ndarray, call: Any) -> tuple[np.ndarray, Any]:
    """The image after the call, and what the call returned."""
    got = []
    after, device = on_image(before, lambda: got.append(call()), COLLECT)
    assert codes(device) == []
    return after, got[0]


ROWS = np.arange(64, dtype=U32)


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        (1, range(0, 64, 2)),
        (2, range(1, 64, 2)),
        (3, range(0, 64, 4)),
        (4, range(1, 64, 4)),
        (5, range(2, 64, 4)),
        (6, range(3, 64, 4)),
        (7, range(64)),
    ],
)
def test_built_in_patterns(pattern: int, expected: range) -> None:
    after, kept = run(
        laid(576, (0, ROWS)), lambda: gather_mask(w(288, 64), w(0, 64), pattern, False, 0, GatherMaskParams(1, 1, 8, 0))
    )
    assert kept.__class__ is UInt64
    assert kept.v == len(expected)
    end = 288 + 4 * len(expected)
    assert after[288:end].view(U32).tolist() == list(expected)
    assert (after[end:] == 7).all()


def test_the_bits_of_a_repeated_call_may_change() -> None:
    """Bits 1001 1001 ... twice, then none but the first of every 32."""

    def call() -> list[int]:
        found = []
        for word in (0x99999999, 0x99999999, 1):
            duplicate(w(640, 8), word, 8)
            found.append(gather_mask(w(672, 64), w(0, 64), w(640, 8), False, 0, GatherMaskParams(1, 1, 8, 0)).v)
        return found

    after, found = run(laid(1024, (0, ROWS), (640, np.zeros(8, U32))), call)
    assert found == [32, 32, 2]
    assert after[672:692].view(U32).tolist() == [0, 32, 4, 7, 8]  # the last call's two, then the one's before


def test_bits_are_read_on_within_a_repeat() -> None:
    # The vendor's figure: 70 elements a repeat, bits 1001 1001 ..., the same for both repeats; source repeats 8 blocks
    # apart, so that elements 64 to 69 are read twice. Of 70, those at 0 and 3 of every four: 35.
    x, bits = np.arange(160, dtype=U32), np.full(8, 0x99999999, U32)
    before = laid(1024, (0, x), (640, bits))
    params = (1, 2, 8, 0)
    after, kept = run(
        before, lambda: gather_mask(w(672, 88), w(0, 160), w(640, 8), True, 70, GatherMaskParams(*params))
    )
    wanted = [64 * repeat + i for repeat in range(2) for i in range(70) if i % 4 in (0, 3)]
    assert kept.v == len(wanted) == 70
    assert after[672 : 672 + 280].view(U32).tolist() == wanted
    assert (after[672 + 280 :] == 7).all()


def test_bits_of_each_repeat_and_block_strides() -> None:
    # 16-bit elements, 128 a repeat: 16 bytes of bits, the next ones 32 bytes on. Source blocks two apart.
    x, bits = np.arange(512, dtype=U16), np.zeros(32, U16)
    bits[0], bits[7], bits[16] = 0b101, 1 << 15, 1 << 4
    before = laid(1216, (0, x), (1024, bits))
    tensors = lambda: (ub(dt.uint16, 1088, 64), ub(dt.uint16, 0, 512), ub(dt.uint16, 1024, 32))  # noqa: E731
    after, kept = run(before, lambda: gather_mask(*tensors(), False, 0, GatherMaskParams(2, 2, 16, 1)))
    # Lanes 0, 2 and 127 (block 7, its last) of repeat 0, lane 4 of repeat 1.
    assert kept.v == 4
    assert after[1088:1096].view(U16).tolist() == [0, 2, 14 * 16 + 15, 256 + 4]
    assert (after[1096:] == 7).all()


def test_in_place_and_the_count_that_is_left() -> None:
    x = np.arange(256, dtype=np.float32)

    def call() -> Any:
        gather_mask(ub(dt.float32, 0, 256), ub(dt.float32, 0, 256), 6, False, 0, GatherMaskParams(1, 4, 8, 0))
        return get_gather_mask_remain_count()

    after, kept = run(laid(1024, (0, x)), call)
    assert kept.__class__ is UInt64
    assert kept.v == 64
    assert after[:256].view(np.float32).tolist() == list(range(3, 256, 4))
    assert after[256:1024].view(np.float32).tolist() == list(range(64, 256))


def test_nothing_selected_writes_nothing() -> None:
    before = laid(608, (0, ROWS), (256, np.zeros(8, U32)))
    after, kept = run(before, lambda: gather_mask(w(320), w(0, 64), w(256, 8), False, 0, GatherMaskParams(1, 1, 8, 0)))
    assert kept.v == 0
    assert (after == before).all()


def test_it_leaves_normal_mode_and_its_mask() -> None:
    x = np.ones(64, np.float32)

    def call() -> None:
        set_mask_count()
        gather_mask(ub(dt.float32, 288, 64), ub(dt.float32, 0, 64), 1, True, 0b111, GatherMaskParams(1, 1, 8, 0))
        whole_reduce_sum(ub(dt.float32, 256, 8), ub(dt.float32, 0, 64), 0, 1, 1, 1, 8, False)

    after, _ = run(laid(576, (0, x)), call)
    assert after[256:260].view(np.float32).tolist() == [3]  # lanes 0, 1 and 2 of one repeat, not seven elements


def test_s_has_waited_so_a_store_may_follow() -> None:
    def body(target: Any) -> None:
        duplicate(w(0, 64), 3, 64)
        kept = gather_mask(w(256, 64), w(0, 64), 1, False, 0, GatherMaskParams(1, 1, 8, 0))
        data_copy(at(target), w(256, 64), kept)

    out = np.zeros(40, U32)
    launch(body, out)
    assert out.tolist() == [3] * 32 + [0] * 8


def test_s_cannot_wait_for_a_parked_v() -> None:
    def body() -> None:
        wait_flag(HardEvent.MTE2_V, 3)
        gather_mask(w(256), w(0), 1, False, 0, GatherMaskParams(1, 1, 8, 0))

    with pytest.raises(DeadlockError, match="S waits"):
        launch(body)


def test_no_count_before_the_first() -> None:
    with pytest.raises(NotSimulatedError, match="get_gather_mask_remain_count: no gather_mask came before"):
        launch(lambda: get_gather_mask_remain_count())


P = (1, 1, 8, 0)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: gather_mask(w(512), w(0), 8, False, 0, GatherMaskParams(*P)),
            ArgumentValueError,
            "gather_mask: src1_pattern = 8; rule: 1 to 7, or a tensor; nearest legal value: 7",
        ),
        (
            lambda: gather_mask(w(512), w(0), ub(dt.uint16, 256), False, 0, GatherMaskParams(*P)),
            OperandError,
            "BAD_DTYPE.*src1_pattern has type uint16; rule: uint32",
        ),
        (
            lambda: gather_mask(ub(dt.int8, 512), w(0), 1, False, 0, GatherMaskParams(*P)),
            OperandError,
            "BAD_DTYPE.*dst has type int8",
        ),
        (
            lambda: gather_mask(w(512), ub(dt.int32), 1, False, 0, GatherMaskParams(*P)),
            OperandError,
            "BAD_DTYPE.*src0 has type int32; rule: uint32",
        ),
        (
            lambda: gather_mask(w(512), w(0), 1, True, 0, GatherMaskParams(*P)),
            OperandError,
            "BAD_MASK.*mask = 0; rule: 1 to 4294967295 elements; nearest legal value: 1",
        ),
        (lambda: gather_mask(w(512), w(0), 1, False, 0, P), ArgumentTypeError, "rule: a GatherMaskParams"),
        (lambda: gather_mask(w(512), w(0), 1.5, False, 0, GatherMaskParams(*P)), ArgumentTypeError, "src1_pattern"),
        (lambda: gather_mask(w(516), w(0), 1, False, 0, GatherMaskParams(*P)), MemoryFault, "MISALIGNED.*dst starts"),
        (
            lambda: gather_mask(w(512), w(0), 1, True, 1 << 31, GatherMaskParams(*P)),
            MemoryFault,
            "OOB_PHYS.*gather_mask: src0 touches UB",
        ),
    ],
)
def test_refused(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        launch(call)


def test_small_tensors_and_overlaps() -> None:
    before = laid(2048, (0, np.full(256, -1, np.int32)))

    def found(call: Any) -> list[str]:
        return [f"{f.code}: {f.message}" for f in on_image(before, call, COLLECT)[1].findings]

    (past,) = found(lambda: gather_mask(w(1024, 16), w(0, 256), 1, False, 0, GatherMaskParams(*P)))
    assert past.startswith(
        "OOB_BUF: gather_mask: dst touches bytes [1024:1152), 64 bytes past its tensor (16 elements of uint32, "
    )
    past = found(lambda: gather_mask(w(1536), w(0, 256), w(1024, 8), False, 0, GatherMaskParams(1, 2, 8, 2)))[0]
    assert past.startswith(
        "OOB_BUF: gather_mask: src1_pattern touches bytes [1024:1096), 40 bytes past its tensor (8 elements of uint32, "
    )
    # All of two repeats packed from byte 128 on: repeat 0 writes bytes 128 to 383, and repeat 1 reads from 256 on.
    overlap = found(lambda: gather_mask(w(128), w(0, 128), 7, False, 0, GatherMaskParams(1, 2, 8, 0)))
    assert len(overlap) == 1
    assert overlap[0].startswith("OVERLAP_REPEAT")
    assert "dst bytes [128:640) and src0 bytes [0:512) of UB meet in bytes [256:384) at repeat 0" in overlap[0]
    assert found(lambda: gather_mask(w(512), w(0), 1, False, 0, GatherMaskParams(1, 0, 8, 0)))[0].startswith(
        "ZERO_LENGTH"
    )


# ------------------------------------------------------------------ second opinion

SIZE = 16384
TYPES = [dt.int16, dt.float16, dt.bfloat16, dt.int32, dt.float32]


@st.composite
def drawn(draw: Any) -> dict[str, Any]:
    call: dict[str, Any] = {"seed": draw(st.integers(0, 1000)), "repeat": draw(st.integers(1, 4))}
    call["pattern"] = draw(st.one_of(st.integers(1, 7), st.sampled_from([(12288, 0), (12288, 1), (12288, 3)])))
    call["length"] = draw(st.one_of(st.none(), st.integers(1, 300)))
    call["blk"] = draw(st.sampled_from([0, 1, 1, 2]))
    call["rep"] = draw(st.sampled_from([0, 1, 8, 8, 17]))
    return call


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_against_the_second_opinion(dtype: dt.DataType) -> None:
    bits = dt.uint16 if dtype.size == 2 else dt.uint32

    @settings(derandomize=True, max_examples=30, deadline=None, database=None)
    @given(drawn())
    def check(call: dict[str, Any]) -> None:
        before = mixed(dtype, SIZE, call.pop("seed"))
        pattern, length = call["pattern"], call["length"]

        def issue() -> Any:
            given_pattern = pattern if isinstance(pattern, int) else ub(bits, pattern[0], 256)
            stride = 0 if isinstance(pattern, int) else pattern[1]
            params = GatherMaskParams(call["blk"], call["repeat"], call["rep"], stride)
            tensors = (ub(dtype, 8192, 4096 // dtype.size), ub(dtype, 0, 8192 // dtype.size))
            return gather_mask(*tensors, given_pattern, length is not None, length or 0, params)

        after, kept = run(before, issue)
        want = before.copy()
        assert kept.v == slow.gather_mask(want, dtype.size, 8192, 0, **call)
        assert np.flatnonzero(after != want).tolist() == []

    check()

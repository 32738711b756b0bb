"""trans_data_to_5hd: the vendor's example, every form against element loops, faults, footprints, prices."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
import reference_sort
from basic_machine import at, codes, launch, on_image, order, ub
from hypothesis import given, settings
from hypothesis import strategies as st

from ascsim.hw.checks import Checks
from ascsim.hw.errors import ArgumentTypeError, ArgumentValueError, MemoryFault, OperandError
from ascsim.language.basic import data_copy, duplicate, trans_data_to_5hd, transpose
from ascsim.language.core import GlobalAddress, HardEvent, LocalTensor, TransDataTo5HDParams
from ascsim.language.core import dtype as dt
from ascsim.language.core.place import running

COLLECT = Checks.collect()
RAMP = np.arange(256, dtype=np.uint16)


def bytes_of(nbytes: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, nbytes, np.uint8)


def found(call: Callable[[], Any]) -> list[str]:
    """What a call is reported for, over an image that is defined."""
    _, device = on_image(bytes_of(16384), call, COLLECT)
    return codes(device)


def blocks(dtype: dt.DataType, start: int, pitch: int = 32) -> list[LocalTensor]:
    """Sixteen tensors of a block each, `pitch` bytes apart."""
    return [ub(dtype, start + i * pitch, 32 // dtype.size) for i in range(16)]


def test_bytes_take_the_high_halves() -> None:
    # The vendor's example: row i holds 32 i to 32 i + 31, modulo 128.
    image = np.concatenate([np.arange(512) % 128, np.zeros(512)]).astype(np.uint8)
    params = TransDataTo5HDParams(True, True, 1, 0, 0)
    after, _ = on_image(image, lambda: trans_data_to_5hd(blocks(dt.int8, 512), blocks(dt.int8, 0), params), Checks())
    rows = after[512:].reshape(16, 32)
    assert rows[0].tolist() == [0] * 16 + [16, 48, 80, 112] * 4
    assert rows[15].tolist() == [0] * 16 + [31, 63, 95, 127] * 4


def test_words_make_two_blocks_a_column() -> None:
    image = np.concatenate([np.arange(128), np.zeros(128)]).astype(np.uint32).view(np.uint8)
    params = TransDataTo5HDParams()
    after, _ = on_image(
        image, lambda: trans_data_to_5hd(blocks(dt.float32, 512), blocks(dt.float32, 0), params), Checks()
    )
    rows = after[512:].view(np.uint32).reshape(16, 8)
    assert rows[0].tolist() == [0, 8, 16, 24, 32, 40, 48, 56]
    assert rows[1].tolist() == [64, 72, 80, 88, 96, 104, 112, 120]
    assert rows[2].tolist() == [1, 9, 17, 25, 33, 41, 49, 57]


def test_a_single_repeat_starts_one_stride_later() -> None:
    image = np.concatenate([RAMP, np.arange(256, 512), np.zeros(512)]).astype(np.uint16).view(np.uint8)
    params = TransDataTo5HDParams(repeat_times=1, dst_rep_stride=16, src_rep_stride=16)
    after, _ = on_image(image, lambda: trans_data_to_5hd(blocks(dt.int16, 1024), blocks(dt.int16, 0), params), COLLECT)
    got = after[1024:].view(np.uint16)
    assert (got[:256] == 0).all()
    assert got[256:260].tolist() == [256, 272, 288, 304]


@settings(max_examples=40, deadline=None)
@given(
    dtype=st.sampled_from([dt.int8, dt.uint8, dt.int16, dt.uint16, dt.float16, dt.int32, dt.uint32, dt.float32]),
    repeats=st.integers(1, 5),
    strides=st.tuples(st.integers(0, 20), st.integers(0, 20)),
    halves=st.tuples(st.booleans(), st.booleans()),
    starts=st.tuples(*[st.lists(st.integers(0, 40), min_size=16, max_size=16, unique=True)] * 2),
    where=st.sampled_from([0, 16, 300]),
)
def test_5hd_against_loops(
    dtype: dt.DataType,
    repeats: int,
    strides: tuple[int, int],
    halves: tuple[bool, bool],
    starts: tuple[list[int], list[int]],
    where: int,
) -> None:
    if dtype.size > 1:
        halves = (False, False)
    image = bytes_of(16384)
    dst, src = [(where + n) * 32 for n in starts[0]], [n * 32 for n in starts[1]]
    expected = image.copy()
    reference_sort.to_5hd(expected, dst, src, dtype.size, repeats, *strides, *halves)
    params = TransDataTo5HDParams(*halves, repeats, *strides)

    def call() -> None:
        trans_data_to_5hd([ub(dtype, n) for n in dst], [ub(dtype, n) for n in src], params)

    after, _ = on_image(image, call, COLLECT)
    assert (after == expected).all()


@pytest.mark.parametrize("stored", [False, True])
def test_addresses_do_what_tensors_do(stored: bool) -> None:
    image = bytes_of(2048)
    expected = image.copy()
    dst, src = [1024 + 32 * i for i in range(16)], [32 * i for i in range(16)]
    reference_sort.to_5hd(expected, dst, src, 2, 1)

    def call() -> None:
        x, y = ub(dt.float16, 0, 256), ub(dt.float16, 1024, 256)
        lists: list[Any] = [[t[16 * i :].get_phy_addr() for i in range(16)] for t in (y, x)]
        if stored:
            for k, start in enumerate((4096, 4224)):
                tensor = ub(dt.uint64, start, 16)
                for i, address in enumerate(lists[k]):
                    tensor.set_value(i, address)
                lists[k] = tensor
        trans_data_to_5hd(*lists, TransDataTo5HDParams())

    after, device = on_image(image, call, COLLECT)
    assert (after == expected).all()
    assert codes(device) == []


def test_stored_addresses_are_packed_in_place() -> None:
    seen: list[int] = []

    def body() -> None:
        duplicate(ub(dt.float16, 0, 512), 1.0, 512)
        tensors = ub(dt.uint64, 4096, 16), ub(dt.uint64, 8192, 16)
        for i in range(16):
            tensors[0].set_value(i, ub(dt.float16, 512 + 32 * i, 16).get_phy_addr())
            tensors[1].set_value(i, ub(dt.float16, 32 * i, 16).get_phy_addr())
        trans_data_to_5hd(dst=tensors[0], src=tensors[1], params=TransDataTo5HDParams())
        seen.extend(int(tensors[0].get_value(i).v) for i in (0, 3, 4))

    launch(body)
    # Block numbers 16, 17, 18, 19 in 16 bits each; then 28 to 31; what stands behind the first four stays.
    assert seen == [0x0013_0012_0011_0010, 0x001F_001E_001D_001C, 512 + 32 * 4]


def test_5hd_reports_operands() -> None:
    def call(dst: Any, src: Any, **fields: int) -> Callable[[], None]:
        return lambda: trans_data_to_5hd(blocks(dt.int16, dst), blocks(dt.int16, src), TransDataTo5HDParams(**fields))

    assert found(call(0, 0)) == []  # in place
    assert found(call(32, 0)) == ["OVERLAP_PARTIAL"]
    apart = {"repeat_times": 2, "dst_rep_stride": 16, "src_rep_stride": 16}
    assert "OVERLAP_REPEAT" in found(call(512, 0, **apart))
    assert "OOB_BUF" in found(call(8192, 0, **apart))
    assert found(call(8192, 0, repeat_times=0)) == ["ZERO_LENGTH"]


def test_overlap_that_runs_repeat_by_repeat() -> None:
    # Repeat 0 writes the blocks that repeat 1 reads: what was transposed once is transposed back.
    image = np.concatenate([RAMP, np.zeros(512)]).astype(np.uint16).view(np.uint8)
    params = TransDataTo5HDParams(repeat_times=2, dst_rep_stride=16, src_rep_stride=16)

    def call() -> None:
        trans_data_to_5hd(
            [ub(dt.int16, 512 + 32 * i) for i in range(16)], [ub(dt.int16, 32 * i) for i in range(16)], params
        )

    after, device = on_image(image, call, COLLECT)
    assert after[1024:].view(np.uint16).tolist() == list(range(256))
    assert codes(device) == ["OVERLAP_REPEAT"]


def test_5hd_refuses() -> None:
    good = TransDataTo5HDParams()
    cases: list[tuple[type[Exception], str, Callable[[], Any]]] = [
        (
            ArgumentTypeError,
            "params: is no parameter object.*TransDataTo5HDParams",
            lambda: trans_data_to_5hd(blocks(dt.int8, 0), blocks(dt.int8, 512)),
        ),
        (ArgumentValueError, r"len\(src_list\) = 15", lambda: trans_data_to_5hd(blocks(dt.int8, 0), [0] * 15, good)),
        (ArgumentTypeError, "dst_list = 3.*is no list", lambda: trans_data_to_5hd(3, [0] * 16, good)),
        (ArgumentValueError, r"dst_list\[0\] = 64.*get_phy_addr", lambda: trans_data_to_5hd([64] * 16, [0] * 16, good)),
        (
            ArgumentValueError,
            "src_high_half = True.*False for int16",
            lambda: trans_data_to_5hd(
                blocks(dt.int16, 0), blocks(dt.int16, 512), TransDataTo5HDParams(src_high_half=True)
            ),
        ),
        (
            OperandError,
            r"src_list\[0\] has type int16",
            lambda: trans_data_to_5hd(blocks(dt.uint16, 0), blocks(dt.int16, 512), good),
        ),
        (
            OperandError,
            r"dst_list\[0\] has type int64",
            lambda: trans_data_to_5hd(blocks(dt.int64, 0), blocks(dt.int64, 512), good),
        ),
        (
            MemoryFault,
            r"MISALIGNED_ADDR.*dst_list\[0\] starts at byte 8",
            lambda: trans_data_to_5hd(blocks(dt.int8, 8), blocks(dt.int8, 512), good),
        ),
        (MemoryFault, "OOB_PHYS", lambda: trans_data_to_5hd(blocks(dt.int8, 196608 - 480), blocks(dt.int8, 512), good)),
        (OperandError, "src_list.*is an int", lambda: trans_data_to_5hd(blocks(dt.int8, 0), [0] * 16, good)),
    ]
    for error, text, call in cases:
        with pytest.raises(error, match=text):
            launch(call, checks=Checks(warnings="off") if error is MemoryFault else None)


@pytest.mark.parametrize(("first_block", "expected"), [(2048, ["RAW"]), (2080, [])])
def test_footprints_are_the_blocks_themselves(first_block: int, expected: list[str]) -> None:
    # Destination blocks at 2048, 2112 ...: a store without a flag races with one of them, but not with the gap.
    def body(address: GlobalAddress) -> None:
        duplicate(ub(dt.int16, 0, 2048), 1, 2048)
        order(HardEvent.V_MTE3)
        trans_data_to_5hd(blocks(dt.int16, 2048, 64), blocks(dt.int16, 0), TransDataTo5HDParams())
        data_copy(at(address), ub(dt.int16, first_block, 16), 16)

    assert codes(launch(body, np.zeros(16, np.int16), checks=COLLECT)) == expected


@pytest.mark.parametrize("transposed", [True, False])
def test_undefined_bytes_travel_along(transposed: bool) -> None:
    # Only block 0 of the source is written: column 0 of the result is defined, the rest is reported where it is used.
    def body(address: GlobalAddress) -> None:
        duplicate(ub(dt.int16, 0, 16), 5, 16)
        if transposed:
            transpose(ub(dt.int16, 1024, 256), ub(dt.int16, 0, 256))
        else:
            trans_data_to_5hd(blocks(dt.int16, 1024), blocks(dt.int16, 0), TransDataTo5HDParams())
        seen.append([ub(dt.int16, 1024, 256).get_value(i).v for i in (0, 16, 240)])
        ub(dt.int16, 1024, 256).get_value(1)

    seen: list[list[int]] = []
    device = launch(body, np.zeros(16, np.int16), checks=COLLECT)
    assert seen == [[5, 5, 5]]
    assert codes(device) == ["UNINIT_READ"]
    assert "uses undefined bytes [1026:1028)" in device.findings[0].message


def cycles(call: Callable[[], Any]) -> int:
    """Time that V spends on a call."""
    out: list[int] = []

    def body() -> None:
        pipe = running("cycles").pipes["V"]
        before = pipe.free
        call()
        out.append(pipe.free - before)

    launch(body, checks=Checks.off())
    return out[0]


def test_prices_follow_the_published_rates() -> None:
    # 22 to start; 128 two-byte elements a cycle, 64 four-byte, 256 one-byte.
    assert cycles(lambda: transpose(ub(dt.int16, 512, 256), ub(dt.int16, 0, 256))) == 22 + 2
    for dtype, each in ((dt.int8, 1), (dt.int16, 2), (dt.int32, 2)):
        params = TransDataTo5HDParams(repeat_times=7, dst_rep_stride=16, src_rep_stride=16)
        call = partial(trans_data_to_5hd, params=params)
        assert cycles(lambda c=call, t=dtype: c(blocks(t, 8192), blocks(t, 0))) == 22 + 7 * each

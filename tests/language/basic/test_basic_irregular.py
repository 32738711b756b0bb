"""mul_cast, add_deq_relu and bilinear_interpolation: hand-worked values, strides, faults."""

from __future__ import annotations

import numpy as np
import pytest
from basic_machine import at, codes, launch, on_image, order, ub

from ascsim.hw.checks import Checks
from ascsim.hw.device import Device
from ascsim.hw.errors import ArgumentTypeError, MemoryFault, NotSimulatedError, OperandError, SimulatorWarning
from ascsim.hw.soc import soc
from ascsim.language.basic import (
    abs as absolute,
)
from ascsim.language.basic import (
    add_deq_relu,
    bilinear_interpolation,
    cast_deq,
    data_copy,
    duplicate,
    mul_cast,
    pipe_barrier,
    set_deq_scale,
    set_flag,
    set_vector_mask,
    wait_flag,
)
from ascsim.language.core import BinaryRepeatParams, HardEvent, MaskMode, PipeID, VdeqInfo
from ascsim.language.core import dtype as dt

COLLECT = Checks.collect()


def image(nbytes: int, *pieces: tuple[int, np.ndarray]) -> np.ndarray:
    """Bytes of UB with arrays laid in; 7 elsewhere."""
    out = np.full(nbytes, 7, np.uint8)
    for start, array in pieces:
        raw = array.view(np.uint8)
        out[start : start + raw.size] = raw
    return out


# ------------------------------------------------------------------ mul_cast

# Rows of the vendor's example and the edges: halves round to even, saturate, and NaN gives 0.
A = np.array([1, -2, 3, -6, 0.5, 1.5, 2.5, 100, -100, 60000, -60000, np.nan, 0, 11, 300, -1], np.float16)
B = np.array([1, 3, -4, 5, 1, 1, 1, 2, 2, 60000, 60000, 1, np.inf, 11, 1, 0], np.float16)
SIGNED = [1, -6, -12, -30, 0, 2, 2, 127, -128, 127, -128, 0, 0, 121, 127, 0]
UNSIGNED = [1, 0, 0, 0, 0, 2, 2, 200, 0, 255, 0, 0, 0, 121, 255, 0]


@pytest.mark.parametrize(("dtype", "expected"), [(dt.int8, SIGNED), (dt.uint8, UNSIGNED)])
def test_mul_cast_by_count(dtype: dt.DataType, expected: list[int]) -> None:
    before = image(128, (0, A), (32, B))
    after, _ = on_image(before, lambda: mul_cast(ub(dtype, 64, 32), ub(dt.float16, 0, 16), ub(dt.float16, 32, 16), 16))
    assert after[64:80].view(dtype.np).tolist() == expected
    assert (after[80:] == 7).all()


def test_mul_cast_product_is_rounded_to_half_first() -> None:
    # 10.0078125 * 9.4453125 = 94.52691650390625. Halves lie 1/16 apart there: 94.5, which rounds to even, 94, not 95.
    a, b = np.array([10.0078125] * 16, np.float16), np.array([9.4453125] * 16, np.float16)
    after, _ = on_image(
        image(128, (0, a), (32, b)), lambda: mul_cast(ub(dt.int8, 64, 32), ub(dt.float16, 0), ub(dt.float16, 32), 16)
    )
    assert after[64:80].tolist() == [94] * 16


def test_mul_cast_repeats_write_four_blocks() -> None:
    # Two repeats of 128 halves, sources 8 blocks apart, results 4 blocks: lane i of repeat r gives i - 64 + r.
    a = np.concatenate([np.arange(128) - 64, np.arange(128) - 63]).astype(np.float16)
    one = np.ones(256, np.float16)
    params = BinaryRepeatParams(1, 1, 1, 4, 8, 8)

    def call() -> None:
        mul_cast(ub(dt.int8, 1024, 256), ub(dt.float16, 0, 256), ub(dt.float16, 512, 256), 128, 2, params)

    after, _ = on_image(image(1312, (0, a), (512, one)), call)
    assert after[1024:1280].view(np.int8).tolist() == list(range(-64, 64)) + list(range(-63, 65))
    assert (after[1280:] == 7).all()


def test_mul_cast_blocks_may_lie_apart() -> None:
    # 128 results fill 4 blocks, every other one of the destination.
    numbers, one = (np.arange(128) - 64).astype(np.float16), np.ones(128, np.float16)
    params = BinaryRepeatParams(2, 1, 1, 8, 8, 8)

    def call() -> None:
        mul_cast(ub(dt.int8, 512, 256), ub(dt.float16, 0), ub(dt.float16, 256), 128, 1, params)

    after, _ = on_image(image(768, (0, numbers), (256, one)), call)
    blocks = after[512:].reshape(8, 32)
    assert blocks[::2].reshape(-1).view(np.int8).tolist() == list(range(-64, 64))
    assert (blocks[1::2] == 7).all()


def test_mul_cast_mask_counts_halves() -> None:
    # Bits 0, 33 and 127: bytes 0, 33 and 127 of the destination.
    two = np.full(128, 2, np.float16)
    params = BinaryRepeatParams(1, 1, 1, 4, 8, 8)

    def call() -> None:
        mul_cast(ub(dt.uint8, 512, 128), ub(dt.float16, 0), ub(dt.float16, 256), [1 | 1 << 33, 1 << 63], 1, params)

    after, _ = on_image(image(640, (0, two), (256, two)), call)
    assert np.flatnonzero(after[512:] != 7).tolist() == [0, 33, 127]
    assert after[512 + 33] == 4


def test_mul_cast_refuses() -> None:
    half, byte = (lambda start=0: ub(dt.float16, start)), (lambda: ub(dt.int8, 2048))
    rule = "rule: one of: int8, float16, float16; uint8, float16, float16"
    with pytest.raises(OperandError, match=f"BAD_DTYPE.*mul_cast.*types int16, float16, float16; {rule}"):
        launch(lambda: mul_cast(ub(dt.int16, 2048), half(), half(1024), 16))
    with pytest.raises(OperandError, match=f"BAD_DTYPE.*types int8, float16, int8; {rule}"):
        launch(lambda: mul_cast(byte(), half(), byte(), 16))
    with pytest.raises(OperandError, match=r"BAD_MASK.*mask = 129; rule: 1 to 128 .*nearest legal value: 128"):
        launch(lambda: mul_cast(byte(), half(), half(1024), 129, 1, BinaryRepeatParams()))
    with pytest.raises(OperandError, match=r"BAD_POSITION.*dst = 3 is an int"):
        launch(lambda: mul_cast(3, half(), half(1024), 16))


# ------------------------------------------------------------------ add_deq_relu


def test_add_deq_relu_by_count() -> None:
    # half(0.1) = 0.0999755859375. 89 * it = 8.8978, and halves lie 1/128 apart there: 1139/128 = 8.8984375.
    # -5 gives 0; 2**31 - 1 + 1 wraps to -2**31, so 0; 800000 * 0.09998 = 79980 is beyond half: inf.
    a = np.array([70, 36, -5, 2**31 - 1, 800000, 0, 0, 0], np.int32)
    b = np.array([19, 33, 0, 1, 0, 0, 0, 0], np.int32)

    def call() -> None:
        set_deq_scale(0.1)
        add_deq_relu(ub(dt.float16, 64, 16), ub(dt.int32, 0, 8), ub(dt.int32, 32, 8), 8)

    after, _ = on_image(image(96, (0, a), (32, b)), call)
    assert after[64:80].view(np.float16).tolist() == [8.8984375, 6.8984375, 0.0, 0.0, np.inf, 0.0, 0.0, 0.0]
    assert (after[80:] == 7).all()


def test_add_deq_relu_by_mask() -> None:
    # Lanes 0 and 63 of two repeats; results 4 blocks a repeat.
    a = np.arange(128, dtype=np.int32)
    b = np.zeros(128, np.int32)

    def call() -> None:
        set_deq_scale(2)
        params = BinaryRepeatParams(1, 1, 1, 4, 8, 8)
        add_deq_relu(ub(dt.float16, 1024), ub(dt.int32, 0), ub(dt.int32, 512), [1 | 1 << 63, 0], 2, params)

    after, _ = on_image(image(1280, (0, a), (512, b)), call)
    halves = after[1024:].view(np.float16)
    assert [halves[i] for i in (0, 63, 64, 127)] == [0, 126, 128, 254]
    assert (np.delete(after[1024:], [0, 1, 126, 127, 128, 129, 254, 255]) == 7).all()


def test_add_deq_relu_takes_the_registers() -> None:
    def call() -> None:
        set_deq_scale(1)
        set_vector_mask(0, 0b10, dtype=dt.int32, mode=MaskMode.NORMAL)
        params = BinaryRepeatParams(1, 1, 1, 4, 8, 8)
        add_deq_relu(ub(dt.float16, 512), ub(dt.int32, 0), ub(dt.int32, 256), 0, 1, params, False)

    after, _ = on_image(image(544, (0, np.full(128, 3, np.int32))), call)
    assert np.flatnonzero(after[512:] != 7).tolist() == [2, 3]
    assert after[514:516].view(np.float16)[0] == 6


def test_int32_behind_a_tensor_of_scales_is_scaled_by_its_address() -> None:
    """The register then holds the address in blocks: 512 / 32 = 16, which as the bits of a half is 2**-20."""

    def call() -> None:
        set_deq_scale(ub(dt.uint64, 512, 16), VdeqInfo([1.0] * 16, [0] * 16, [True] * 16))
        cast_deq(ub(dt.float16, 1024, 16), ub(dt.int32, 0, 16), 16)

    after, _ = on_image(image(1056, (0, np.full(16, 3 << 20, np.int32))), call)
    assert after[1024:].view(np.float16).tolist() == [3.0] * 16


def _filled() -> None:
    duplicate(ub(dt.int32, 0, 64), 1, 64)
    duplicate(ub(dt.int32, 256, 64), 2, 64)
    set_deq_scale(1)
    add_deq_relu(ub(dt.float16, 512, 64), ub(dt.int32, 0, 64), ub(dt.int32, 256, 64), 64)


def test_add_deq_relu_uses_up_its_sources() -> None:
    def body(source: int) -> None:
        _filled()
        duplicate(ub(dt.float16, 512, 64), 5, 64)
        absolute(ub(dt.float16, 1024, 32), ub(dt.float16, source, 32), 32)

    assert codes(launch(lambda: body(512), checks=COLLECT)) == []  # the result
    assert codes(launch(lambda: body(0), checks=COLLECT)) == ["UNINIT_READ"]
    assert codes(launch(lambda: body(256), checks=COLLECT)) == ["UNINIT_READ"]


def test_add_deq_relu_scratch() -> None:
    """64 elements take 256 bytes from 184 KiB = 188416 on."""

    def body(start: int) -> None:
        duplicate(ub(dt.int32, start, 8), 9, 8)
        _filled()

    assert codes(launch(lambda: body(188416 + 256), checks=COLLECT)) == []
    assert codes(launch(lambda: body(188416 + 224), checks=COLLECT)) == ["RESERVED_MEM"]
    with pytest.raises(SimulatorWarning, match=r"RESERVED_MEM.*UB bytes \[188416:188672\) hold data"):
        launch(lambda: body(188416))


def test_add_deq_relu_ends_with_a_barrier() -> None:
    """Without automatic synchronisation: its own results may be used at once, its sources need a barrier."""

    def found(barrier: bool) -> list[str]:
        device = Device(soc("Ascend910B1"), 0, 1, checks=COLLECT, auto_sync=False)

        def body() -> None:
            duplicate(ub(dt.int32, 0, 128), 1, 128)
            if barrier:
                pipe_barrier(PipeID.PIPE_V)
            set_deq_scale(1)
            add_deq_relu(ub(dt.float16, 512, 64), ub(dt.int32, 0, 64), ub(dt.int32, 256, 64), 64)
            mul_cast(ub(dt.int8, 1024, 64), ub(dt.float16, 512, 64), ub(dt.float16, 512, 64), 64)

        device.run(body)
        return codes(device)

    assert found(barrier=True) == []
    assert found(barrier=False) == ["NO_BARRIER_RAW"]


def test_add_deq_relu_needs_a_scale() -> None:
    with pytest.raises(NotSimulatedError, match="no scale was set"):
        launch(lambda: add_deq_relu(ub(dt.float16, 512), ub(dt.int32), ub(dt.int32, 256), 8))
    with pytest.raises(ArgumentTypeError):
        launch(lambda: set_deq_scale("1"))


# ------------------------------------------------------------------ bilinear_interpolation

SRC0, OFFSET, SRC1, TMP, DST = 0, 1024, 1152, 2048, 20480


def interpolate(
    by_block: bool, mask: object = 128, *, offsets: object = range(0, 1024, 32), stride: int = 1, pitch: int = 128
) -> np.ndarray:
    """The vendor's example, src0 = 1, 2, .. 512 and src1 = 2, 3, .. 33; dst as halves."""
    before = image(
        21504,
        (SRC0, np.arange(1, 513).astype(np.float16)),
        (OFFSET, np.array(offsets, np.uint32)),
        (SRC1, np.arange(2, 34).astype(np.float16)),
    )

    def call() -> None:
        bilinear_interpolation(
            ub(dt.float16, DST, 512),
            ub(dt.float16, SRC0, 512),
            ub(dt.uint32, OFFSET, 32),
            ub(dt.float16, SRC1, 32),
            mask,
            2,
            by_block,
            stride,
            pitch,
            2,
            ub(dt.uint8, TMP, 32 * (512 + 32)),
        )

    after, _ = on_image(before, call)
    return after[DST:].view(np.float16)


UNTOUCHED = np.full(2, 7, np.uint8).view(np.float16)[0]


def test_bilinear_one_weight_a_repeat() -> None:
    out = interpolate(False)
    # 1 * 2 + 129 * 3, 2 * 2 + 130 * 3, .., 128 * 2 + 256 * 3; then 257 * 4 + 385 * 5 = 2953, to even 2952.
    assert out[:3].tolist() == [389, 394, 399]
    assert out[127] == 1024
    assert out[128] == 2952
    assert out[255] == 4096
    assert (out[256:] == UNTOUCHED).all()


def test_bilinear_one_weight_a_block() -> None:
    out = interpolate(True)
    # Lane 0: 1 * 2 + 129 * 10; lane 16: 17 * 3 + 145 * 11; lane 127: 128 * 9 + 256 * 17, halves 4 apart there.
    assert [out[0], out[16], out[127]] == [1292, 1646, 5504]
    # Repeat 1: 257 * 18 = 4626 -> 4624 (halves 4 apart, to even); 385 * 26 = 10010 -> 10008 (8 apart); sum 14632.
    assert out[128] == 14632


def test_bilinear_mask_stride_and_pitch() -> None:
    out = interpolate(False, [1 | 1 << 16, 0], stride=2, pitch=144)
    # Lanes 0 and 16; block 1 lies two blocks on, result 1 lies 144 halves on.
    assert np.flatnonzero(out != UNTOUCHED).tolist() == [0, 32, 144, 176]
    assert out[32] == 17 * 2 + 145 * 3


def test_bilinear_gathers_by_offset() -> None:
    # All eight blocks of every repeat are block 1: 17, 18, .., so 17 * 2 + 17 * 3.
    assert interpolate(False, offsets=[32] * 32)[0] == 85


def test_bilinear_waits_for_offsets_that_are_still_on_their_way() -> None:
    offsets = np.array([64] * 8, np.uint32)
    data = np.arange(64).astype(np.float16)
    result = np.zeros(128, np.float16)

    def body(offset_gm: object, data_gm: object, out: object) -> None:
        data_copy(ub(dt.float16, 0, 64), at(data_gm), 64)
        order(HardEvent.MTE2_V)
        duplicate(ub(dt.float16, 256, 16), 3, 16)
        wait_flag(HardEvent.MTE2_V, 1)  # V stands here until the offsets have come
        bilinear_interpolation(
            *(ub(dt.float16, 8192, 128), ub(dt.float16, 0, 64), ub(dt.uint32, 192, 8), ub(dt.float16, 256, 16)),
            *(128, 1, False, 1, 128, 1, ub(dt.uint8, 1024, 32 * 80)),
        )
        data_copy(ub(dt.uint32, 192, 8), at(offset_gm), 8)
        set_flag(HardEvent.MTE2_V, 1)
        order(HardEvent.V_MTE3)
        data_copy(at(out), ub(dt.float16, 8192, 128), 128)

    launch(body, offsets, data, result, checks=Checks.strict())
    assert result[:3].tolist() == [32 * 3, 33 * 3, 34 * 3]


def test_bilinear_refuses() -> None:
    with pytest.raises(MemoryFault, match=r"MISALIGNED_ADDR.*src0_offset\[3\] = 40; rule: .*nearest legal value: 32"):
        interpolate(False, offsets=[0, 32, 64, 40, *[0] * 28])
    with pytest.raises(MemoryFault, match="OOB_PHYS"):
        interpolate(False, offsets=[196608, *[0] * 31])
    with pytest.raises(OperandError, match=r"BAD_STRIDE.*v_r_offset = 127; rule: 128 to 65534"):
        interpolate(False, pitch=127)
    with pytest.raises(OperandError, match=r"BAD_STRIDE.*v_r_offset = 136; rule: a multiple of 16"):
        interpolate(False, pitch=136)
    with pytest.raises(OperandError, match=r"BAD_MASK.*mask = 200"):
        interpolate(False, 200)

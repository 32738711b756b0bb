"""Bad input to the instructions: what is raised, with which words, and how severe it is.

A fault ends the launch by default; a warning is given by default and raised under strict checks.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from basic_machine import at, codes, f, launch, order, ub

from ascsim.hw.checks import Checks
from ascsim.hw.errors import (
    ArgumentTypeError,
    ArgumentValueError,
    ArrayIndexError,
    MemoryFault,
    OperandError,
    QueueError,
    ScalarRangeError,
    SyncError,
    TrapError,
)
from ascsim.language.basic import (
    add,
    adds,
    data_copy,
    data_sync_barrier,
    div,
    duplicate,
    exp,
    pipe_barrier,
    set_flag,
    set_mask_count,
    set_pad_value,
    set_vector_mask,
    shift_left,
    trap,
    wait_flag,
)
from ascsim.language.core import (
    BinaryRepeatParams,
    DataCopyParams,
    GlobalTensor,
    HardEvent,
    LocalMemAllocator,
    LocalTensor,
    MaskMode,
    MemDsbT,
    PipeID,
    TPosition,
    UnaryRepeatParams,
)
from ascsim.language.core import dtype as dt

BOTH, ONE = BinaryRepeatParams(), UnaryRepeatParams()
UB_BYTES = 192 * 1024


# name: (call, error, what its text holds)
FAULTS: dict[str, tuple[Any, type[Exception], tuple[str, ...]]] = {
    # operands
    "none": (lambda: add(None, f(), f(), 8), OperandError, ("BAD_POSITION", "add: dst = None", "rule: a LocalTensor")),
    "int": (lambda: add(f(), 3, f(), 8), OperandError, ("BAD_POSITION", "src0 = 3 is an int")),
    "numpy": (lambda: add(f(), f(), np.zeros(2), 8), OperandError, ("BAD_POSITION", "src1 = array([0., 0.])")),
    "long numpy": (lambda: exp(f(), np.zeros(128), 8), OperandError, (" ... is a ndarray; rule: a LocalTensor",)),
    "global": (lambda: add(f(), f(), GlobalTensor(), 8), OperandError, ("BAD_POSITION", "src1 = GlobalTensor(")),
    "no memory": (lambda: add(LocalTensor(dt.float32), f(), f(), 8), QueueError, ("QUE_NOT_INIT", "dst")),
    "position": (
        lambda: add(ub(dt.float32, 0, 64, TPosition.A1), f(), f(), 8),
        OperandError,
        ("BAD_POSITION", "dst lies in A1", "VECIN", "VECOUT", "VECCALC"),
    ),
    "type": (
        lambda: exp(ub(dt.int32), ub(dt.int32), 8),
        OperandError,
        ("BAD_DTYPE", "exp", "int32", "float16, float32"),
    ),
    "type of div": (lambda: div(ub(dt.int16), ub(dt.int16), ub(dt.int16), 8), OperandError, ("BAD_DTYPE", "int16")),
    "mixed types": (
        lambda: add(f(), ub(dt.int32), f(), 8),
        OperandError,
        ("BAD_DTYPE", "src0 has type int32, dst has float32", "one type for all"),
    ),
    "misaligned": (
        lambda: add(f(20), f(512), f(1024), 8),
        MemoryFault,
        ("MISALIGNED_ADDR", "add: dst starts at byte 20 of UB", "a multiple of 32", "5 elements less or 3 more"),
    ),
    "misaligned view": (lambda: add(f(), f()[9:], f(), 8), MemoryFault, ("MISALIGNED_ADDR", "src0 starts at byte 36")),
    # count, mask, repeats, strides
    "count": (lambda: add(f(), f(), f(), -1), OperandError, ("BAD_MASK", "count = -1", "nearest legal value: 0")),
    "count kind": (lambda: add(f(), f(), f(), 2.5), ArgumentTypeError, ("add: count = 2.5", "an integer")),
    "no count": (lambda: add(f(), f(), f()), ArgumentTypeError, ("add: count: is missing", "an integer")),
    "count list": (lambda: adds(f(), f(), 1, [1, 2]), ArgumentTypeError, ("adds: count = [1, 2]",)),
    "mask 0": (
        lambda: add(f(), f(), f(), 0, 1, BOTH),
        OperandError,
        ("BAD_MASK", "mask = 0", "nearest legal value: 1"),
    ),
    "mask 65": (
        lambda: add(f(), f(), f(), 65, 1, BOTH),
        OperandError,
        ("BAD_MASK", "add: mask = 65; rule: 1 to 64 lanes", "nearest legal value: 64"),
    ),
    "mask 129": (
        lambda: exp(ub(dt.float16), ub(dt.float16), 129, 1, ONE),
        OperandError,
        ("BAD_MASK", "exp: mask = 129; rule: 1 to 128", "nearest legal value: 128"),
    ),
    "mask of three": (
        lambda: add(f(), f(), f(), [1, 2, 3], 1, BOTH),
        OperandError,
        ("BAD_MASK", "mask = [1, 2, 3]", "[low word, high word]"),
    ),
    "mask word": (
        lambda: add(f(), f(), f(), [1 << 64, 0], 1, BOTH),
        OperandError,
        ("BAD_MASK", "two words of 64 bits"),
    ),
    "mask kind": (lambda: add(f(), f(), f(), "all", 1, BOTH), ArgumentTypeError, ("add: mask = 'all'", "an integer")),
    "mask number in counter mode": (
        lambda: (set_mask_count(), add(f(), f(), f(), 9, 1, BOTH)),
        OperandError,
        ("BAD_MASK", "mask = 9", "mask = [9, 0]"),
    ),
    "repeat 256": (
        lambda: add(f(), f(), f(), 64, 256, BOTH),
        OperandError,
        ("BAD_REPEAT", "add: repeat_times = 256; rule: 0 to 255; nearest legal value: 255"),
    ),
    "repeat -1": (lambda: adds(f(), f(), 1, 64, -1, ONE), OperandError, ("BAD_REPEAT", "nearest legal value: 0")),
    "no strides": (
        lambda: add(f(), f(), f(), 64, 2),
        OperandError,
        ("BAD_STRIDE", "repeat_params = None", "a BinaryRepeatParams"),
    ),
    "other strides": (
        lambda: add(f(), f(), f(), 64, 2, ONE),
        OperandError,
        ("BAD_STRIDE", "UnaryRepeatParams(", "a BinaryRepeatParams"),
    ),
    "dst block stride 0": (
        lambda: exp(f(), f(), 64, 1, UnaryRepeatParams(0, 1, 8, 8)),
        OperandError,
        ("BAD_STRIDE", "block stride of dst is 0", "nearest legal value: 1"),
    ),
    "stride 256": (
        lambda: BinaryRepeatParams(1, 1, 256),
        ArgumentValueError,
        ("BAD_STRIDE: BinaryRepeatParams: src1_blk_stride = 256", "0..255", "nearest legal value: 255"),
    ),
    "gap 65536": (
        lambda: DataCopyParams(1, 1, 65536, 0),
        ArgumentValueError,
        ("BAD_STRIDE: DataCopyParams: src_stride = 65536", "nearest legal value: 65535"),
    ),
    "fill stride": (
        lambda: duplicate(f(), 1, 64, 1, 1, 256),
        OperandError,
        ("BAD_STRIDE", "duplicate: dst_repeat_stride = 256; rule: 0 to 255", "nearest legal value: 255"),
    ),
    "fill without strides": (lambda: duplicate(f(), 1, 64, 1), ArgumentTypeError, ("duplicate: dst_block_stride",)),
    "length 65": (
        lambda: set_vector_mask(65, dtype=dt.float32, mode=MaskMode.NORMAL),
        OperandError,
        ("BAD_MASK", "set_vector_mask: length = 65", "0 to 64 lanes of float32", "nearest legal value: 64"),
    ),
    "mask type": (lambda: set_vector_mask(5, dtype=3, mode=0), ArgumentTypeError, ("set_vector_mask: dtype = 3",)),
    # scalars
    "shift 17": (
        lambda: shift_left(ub(dt.int16), ub(dt.int16), 17, 8),
        ArgumentValueError,
        ("scalar = 17", "0 to 16", "nearest legal value: 16"),
    ),
    "scalar text": (lambda: adds(f(), f(), "1", 8), ArgumentTypeError, ("'1'", "a str is no number")),
    "scalar infinite": (
        lambda: adds(ub(dt.int32), ub(dt.int32), float("inf"), 8),
        ScalarRangeError,
        ("does not fit int32",),
    ),
    # where memory ends
    "past UB": (
        lambda: duplicate(f(UB_BYTES - 256, 64), 1, 65),
        MemoryFault,
        ("OOB_PHYS", "duplicate: dst touches UB bytes [196352:196612)", "4 bytes past the end of UB (196608 bytes)"),
    ),
    "before a tensor": (lambda: duplicate(f()[-8:], 1, 8), ArrayIndexError, ("start = -8", "0 or more")),
    "allocator": (
        lambda: (
            LocalMemAllocator().alloc(TPosition.VECIN, dt.float32, 40000),
            LocalMemAllocator().alloc(TPosition.VECIN, dt.float32, 49153),
        ),
        MemoryFault,
        (
            "MEM_OVERFLOW",
            "alloc(VECIN, float32, 49153) asks for 196640 bytes of UB, 196608 of 196608 are available",
            "buffers so far: alloc(VECIN, float32, 40000) 160000",
        ),
    ),
    "get_value": (
        lambda: f(UB_BYTES - 256, 64).get_value(64),
        MemoryFault,
        ("OOB_PHYS", "get_value: index = 64; rule: 0 to 63", "nearest legal value: 63"),
    ),
    "get_value -1": (lambda: f(512).get_value(-1), MemoryFault, ("OOB_PHYS", "index = -1", "nearest legal value: 0")),
    "set_value": (lambda: f().set_value(1 << 40, 1), MemoryFault, ("OOB_PHYS", "set_value: index = 1099511627776")),
    "set_value kind": (lambda: f().set_value(0, "x"), ArgumentTypeError, ("set_value", "a str is no number")),
    "get_value position": (
        lambda: ub(dt.float32, 0, 8, TPosition.B1).get_value(0),
        OperandError,
        ("BAD_POSITION", "get_value: operand = B1", "VECIN, VECOUT and VECCALC"),
    ),
    # views
    "stop": (lambda: f()[1:2], ArgumentValueError, ("LocalTensor[]", "slice(1, 2, None)", "rule: t[i] or t[i:]")),
    "no start": (lambda: f()[:], ArgumentValueError, ("LocalTensor[]", "rule: t[i] or t[i:]")),
    "step": (lambda: f()[0::2], ArgumentValueError, ("LocalTensor[]", "rule: t[i] or t[i:]")),
    "text index": (lambda: f()["a"], ArgumentTypeError, ("LocalTensor[]: offset = 'a'", "an integer")),
    "global stop": (lambda: GlobalTensor()[1:2], ArgumentValueError, ("GlobalTensor[]", "rule: t[i] or t[i:]")),
    "global text": (lambda: GlobalTensor()["a"], ArgumentTypeError, ("GlobalTensor[]: offset = 'a'",)),
    # flags and pipes
    "event id 8": (
        lambda: set_flag(HardEvent.MTE2_V, 8),
        SyncError,
        ("FLAG_BAD_ID", "set_flag: event_id = 8 of MTE2_V on aiv 0, ", "; rule: 0 to 7; nearest legal value: 7"),
    ),
    "event id -1": (lambda: wait_flag(HardEvent.MTE2_V, -1), SyncError, ("FLAG_BAD_ID", "wait_flag: event_id = -1")),
    "event id text": (lambda: set_flag(HardEvent.MTE2_V, "a"), ArgumentTypeError, ("set_flag: event_id = 'a'",)),
    "event text": (
        lambda: set_flag("MTE2_V", 0),
        ArgumentTypeError,
        ("set_flag: event = 'MTE2_V'", "rule: a HardEvent"),
    ),
    "event number": (lambda: set_flag(99, 0), SyncError, ("FLAG_BAD_PAIR", "event = 99", "a HardEvent, 0 to 34")),
    "event kind": (lambda: set_flag([], 0), ArgumentTypeError, ("set_flag: event = []",)),
    "pipe": (lambda: pipe_barrier(PipeID.PIPE_S), OperandError, ("BAD_PIPE", "pipe_barrier", "PIPE_V", "PIPE_ALL")),
    "pipe kind": (lambda: pipe_barrier("V"), ArgumentTypeError, ("pipe_barrier: pipe = 'V'", "rule: a PipeID")),
    "pipe of a cube core": (
        lambda: pipe_barrier(PipeID.PIPE_M),
        OperandError,
        ("WRONG_CORE", "aiv cores have no pipe M; rule: PIPE_V, PIPE_MTE2, PIPE_MTE3"),
    ),
    "memory": (lambda: data_sync_barrier(MemDsbT.SEQ), OperandError, ("BAD_PIPE", "MemDsbT.ALL, DDR or UB")),
    "trap": (trap, TrapError, ("TRAP", "the kernel stopped itself")),
    "pad position": (lambda: set_pad_value(1, TPosition.A1), OperandError, ("BAD_POSITION", "MAX, VECIN or VECOUT")),
    "pad position kind": (lambda: set_pad_value(1, "A1"), ArgumentTypeError, ("pos = 'A1'", "rule: a TPosition")),
    "pad value": (lambda: set_pad_value("1"), ArgumentTypeError, ("set_pad_value: padding_value = '1'",)),
}


@pytest.mark.parametrize("name", FAULTS)
def test_fault(name):
    call, error, texts = FAULTS[name]
    with pytest.raises(error) as caught:
        launch(call)
    message = str(caught.value)
    for text in texts:
        assert text in message


# --- kinds of cores -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "call", [lambda: add(f(), f(), f(), 8), lambda: f().get_value(0), lambda: duplicate(f(), 1, 8)]
)
def test_a_vector_call_in_a_cube_kernel_is_a_fault(call):
    with pytest.raises(OperandError, match="WRONG_CORE"):
        launch(call, kind="aic")


def test_in_a_mix_kernel_the_other_kind_of_core_does_nothing_and_says_nothing():
    out = np.zeros(8, np.float32)

    def body(a):
        duplicate(f(), 5, 8)
        order(HardEvent.V_MTE3)
        data_copy(at(a), f(), 8)
        pipe_barrier(PipeID.PIPE_M)
        set_flag(HardEvent.M_MTE1, 0)
        wait_flag(HardEvent.M_MTE1, 0)

    device = launch(body, out, kind="mix", checks=Checks.collect())
    assert [found for found in codes(device) if not found.startswith("GM_RACE")] == []  # both AIVs store fives
    assert out.tolist() == [5.0] * 8

"""Bad copies, accesses past what is there, and what is worth a warning: which words, how severe, what happens."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from basic_machine import at, codes, f, launch, order, ub

from ascsim.hw.checks import Checks
from ascsim.hw.errors import (
    ArgumentTypeError,
    ArgumentValueError,
    MemoryFault,
    NotSimulatedError,
    OperandError,
    SimulatorError,
    SimulatorWarning,
    SyncError,
)
from ascsim.language.basic import (
    add,
    adds,
    data_copy,
    data_copy_pad,
    duplicate,
    set_flag,
    wait_flag,
)
from ascsim.language.core import (
    DataCopyExtParams,
    DataCopyPadExtParams,
    DataCopyParams,
    GlobalTensor,
    HardEvent,
    LocalTensor,
    Nd2NzParams,
    SliceInfo,
    TPosition,
    UnaryRepeatParams,
)
from ascsim.language.core import dtype as dt
from ascsim.language.fwk import TPipe, TQue

UB_BYTES = 192 * 1024
ONE = UnaryRepeatParams()


def filled(*tensors: LocalTensor) -> None:
    for tensor in tensors:
        duplicate(tensor, 1, tensor.get_size())


# the same with a global tensor of 64 float32 (`g`) as argument
COPY_FAULTS: dict[str, tuple[Any, type[Exception], tuple[str, ...]]] = {
    "no tensor": (
        lambda g: data_copy(None, g, 8),
        ArgumentTypeError,
        ("data_copy: dst", "LocalTensor or GlobalTensor"),
    ),
    "no source": (lambda g: data_copy(f(), 3, 8), ArgumentTypeError, ("data_copy: src = 3", "is no tensor")),
    "both global": (
        lambda g: data_copy(g, g, 8),
        OperandError,
        ("BAD_POSITION", "no way from GM to GM", "GM to UB, UB to GM"),
    ),
    "no buffer": (
        lambda g: data_copy(f(), GlobalTensor(), 8),
        ArgumentTypeError,
        ("src", "call set_global_buffer first"),
    ),
    "no buffer pad": (
        lambda g: data_copy_pad(GlobalTensor(), f(), DataCopyExtParams(1, 4, 0, 0, 0)),
        ArgumentTypeError,
        ("data_copy_pad: dst", "call set_global_buffer first"),
    ),
    "types": (
        lambda g: data_copy(ub(dt.int32), g, 8),
        OperandError,
        ("BAD_DTYPE", "dst has type int32, src has float32", "one type for both"),
    ),
    "types in UB": (lambda g: data_copy(ub(dt.int32), f(512), 8), OperandError, ("BAD_DTYPE", "one type for both")),
    "misaligned": (
        lambda g: data_copy(f()[1:], g, 8),
        MemoryFault,
        ("MISALIGNED_ADDR", "dst starts at byte 4", "1 element less or 7 more"),
    ),
    "no amount": (lambda g: data_copy(f(), g), ArgumentTypeError, ("data_copy", "count or parameters")),
    "count kind": (lambda g: data_copy(f(), g, "8"), ArgumentTypeError, ("data_copy: count = '8'",)),
    "count": (lambda g: data_copy(f(), g, -8), OperandError, ("BAD_MASK", "count = -8", "nearest legal value: 0")),
    "blocks": (
        lambda g: data_copy(f(), g, DataCopyParams(4096, 1, 0, 0)),
        OperandError,
        ("BAD_STRIDE", "block_count = 4096; rule: 0 to 4095; nearest legal value: 4095"),
    ),
    "cube form": (
        lambda g: data_copy(f(), g, Nd2NzParams(1, 1, 1, 0, 1, 1, 1, 0)),
        NotSimulatedError,
        ("Nd2NzParams", "a program of the library"),
    ),
    "slices": (lambda g: data_copy(f(), g, [SliceInfo()], 3, 1), ArgumentTypeError, ("slice_list2 = 3", "SliceInfo")),
    "slice of UB": (
        lambda g: data_copy(f(), g, [SliceInfo(0, 18, 3, 1, 24)], [SliceInfo(0, 18, 3, 1, 24)], 1),
        OperandError,
        ("BAD_STRIDE", "stride = 3 elements on the UB side"),
    ),
    "slice that does not fit": (
        lambda g: data_copy(f(), g, [SliceInfo(0, 8, 0, 1, 24)], [SliceInfo(0, 8, 0, 1, 24)], 1),
        ArgumentValueError,
        ("whole bursts",),
    ),
    "slice without shapes": (
        lambda g: data_copy(f(), g, [SliceInfo(0, 7, 0, 1, 0)] * 2, [SliceInfo(0, 7, 0, 1, 0)] * 2, 2),
        ArgumentValueError,
        ("shape_value", "set_shape_info"),
    ),
    "pad length": (
        lambda g: data_copy_pad(f(), g, DataCopyExtParams(1, 6, 0, 0, 0)),
        OperandError,
        ("BAD_STRIDE", "block_len = 6; rule: a multiple of 4 bytes; nearest legal value: 4"),
    ),
    "pad length limit": (
        lambda g: data_copy_pad(f(), g, DataCopyExtParams(1, 2097152, 0, 0, 0)),
        OperandError,
        ("BAD_STRIDE", "block_len = 2097152", "nearest legal value: 2097151"),
    ),
    "padding": (
        lambda g: data_copy_pad(
            f(), g, DataCopyExtParams(1, 4, 0, 0, 0), DataCopyPadExtParams(dt.float32, True, 9, 0, 0)
        ),
        OperandError,
        ("BAD_STRIDE", "left_padding = 9; rule: at most 8 elements (32 bytes); nearest legal value: 8"),
    ),
    "pad type": (
        lambda g: data_copy_pad(
            f(), g, DataCopyExtParams(1, 4, 0, 0, 0), DataCopyPadExtParams(dt.int32, True, 1, 0, 0)
        ),
        OperandError,
        ("BAD_DTYPE", "pad_params has type int32, the tensors have float32"),
    ),
    "pad of a store": (
        lambda g: data_copy_pad(
            g, f(), DataCopyExtParams(1, 4, 0, 0, 0), DataCopyPadExtParams(dt.float32, True, 1, 0, 0)
        ),
        OperandError,
        ("BAD_POSITION", "only copies from global memory to UB are padded"),
    ),
    "pad inside UB": (
        lambda g: data_copy_pad(f(), f(512), DataCopyExtParams(1, 4, 0, 0, 0)),
        OperandError,
        ("BAD_POSITION", "no way from UB to UB; rule: GM to UB, UB to GM"),
    ),
    "pad parameters": (
        lambda g: data_copy_pad(f(), g, 4),
        ArgumentTypeError,
        ("data_copy_params = 4", "DataCopyExtParams"),
    ),
    "past the padding": (
        lambda g: data_copy(f(0, 4096), g[1080:], 16),
        MemoryFault,
        ("OOB_GM", "data_copy reads bytes [4320:4384) of argument 'a0' (256 bytes), 4128 bytes past its end"),
    ),
    "before": (lambda g: data_copy(f(), g[-8:], 8), MemoryFault, ("OOB_GM", "32 bytes before its start")),
    "store past the padding": (
        lambda g: (filled(f()), order(HardEvent.V_MTE3), data_copy(g[1088:], f(), 8)),
        MemoryFault,
        ("OOB_GM", "data_copy writes bytes [4352:4384)", "4128 bytes past its end"),
    ),
    "past UB": (
        lambda g: data_copy(f(UB_BYTES - 32), g, 16),
        MemoryFault,
        ("OOB_PHYS", "data_copy: dst touches UB bytes [196576:196640), 32 bytes past the end of UB"),
    ),
    "element before": (lambda g: g.get_value(-1), MemoryFault, ("OOB_GM", "before its start")),
    "element past the padding": (lambda g: g.get_value(5000), MemoryFault, ("OOB_GM", "past its end")),
    "element of nothing": (lambda g: GlobalTensor().get_value(0), ArgumentValueError, ("get_value", "no buffer yet")),
}


@pytest.mark.parametrize("name", COPY_FAULTS)
def test_fault_of_a_copy(name):
    call, error, texts = COPY_FAULTS[name]
    with pytest.raises(error) as caught:
        launch(lambda a: call(at(a)), np.ones(64, np.float32))
    message = str(caught.value)
    for text in texts:
        assert text in message


def test_a_copy_from_ub_to_l1_says_that_it_is_not_built():
    with pytest.raises(NotSimulatedError, match="through global memory and a registered matmul object"):
        launch(lambda a: data_copy(ub(dt.float32, 0, 64, TPosition.A1), f(), 8), np.ones(64, np.float32), kind="mix")


# name: (call on a global tensor of 64 ones and one of 200 bytes' worth, code, words); a warning, strict raises
WARNINGS: dict[str, tuple[Any, str, tuple[str, ...]]] = {
    "past a tensor": (
        lambda g: filled(f(0, 64)) or adds(f(0, 48), f(0, 48), 1, 64),
        "OOB_BUF",
        (
            "adds: src touches bytes [0:256), 64 bytes past its tensor (48 elements of float32, bytes [0:192) of UB, ",
            "made at ",
        ),
    ),
    "copy past a tensor": (
        lambda g: data_copy(f(0, 8), g, 16),
        "OOB_BUF",
        (
            "data_copy: dst touches bytes [0:64), 32 bytes past its tensor (8 elements of float32, bytes [0:32) of UB",
            "made at ",
        ),
    ),
    "slice beyond the end": (
        lambda g: duplicate(f(0, 64)[72:], 1, 8),
        "OOB_BUF",
        ("dst touches bytes [288:320), 32 bytes past its tensor (0 elements",),
    ),
    "element past a tensor": (
        lambda g: f(0, 8).set_value(8, 1),
        "OOB_BUF",
        ("set_value: index = 8; rule: 0 to 7", "nearest legal value: 7"),
    ),
    "past an argument": (
        lambda g: data_copy(f(), g[60:], 8),
        "OOB_GM",
        ("data_copy reads bytes [240:272) of argument 'a0' (256 bytes), 16 bytes past its end",),
    ),
    "half blocks": (
        lambda g: data_copy(f(), g, 11),
        "MISALIGNED_LEN",
        ("count = 11 asks for 44 bytes, 32 are moved", "data_copy_pad moves single bytes"),
    ),
    "count 0": (lambda g: duplicate(f(), 1, 0), "ZERO_LENGTH", ("duplicate: count = 0",)),
    "repeat 0": (lambda g: duplicate(f(), 1, 64, 0, 1, 8), "ZERO_LENGTH", ("duplicate: repeat_times = 0",)),
    "mask list of zeros": (lambda g: duplicate(f(), 1, [0, 0], 1, 1, 8), "ZERO_LENGTH", ("duplicate: mask = 0",)),
    "no blocks": (lambda g: data_copy(f(), g, DataCopyParams(0, 1, 0, 0)), "ZERO_LENGTH", ("block_count = 0",)),
    "no length": (lambda g: data_copy_pad(f(), g, DataCopyExtParams(1, 0, 0, 0, 0)), "ZERO_LENGTH", ("block_len = 0",)),
    "mask bits": (
        lambda g: duplicate(f(), 1, [1, 1], 1, 1, 8),
        "BAD_MASK",
        ("mask = [0x1, 0x1] sets bits beyond the 64 lanes",),
    ),
    "id 6": (
        lambda g: order_with(6),
        "FLAG_RESERVED_ID",
        ("MTE2_V id 6 on aiv 0, test_basic_bad_memory.py:", ": ids 6 and 7 are kept by the system", "0 to 5"),
    ),
    "id 7": (lambda g: order_with(7), "FLAG_RESERVED_ID", ("MTE2_V id 7",)),
    "event of the cube": (
        lambda g: set_flag(HardEvent.M_MTE1, 0),
        "FLAG_BAD_PAIR",
        ("event M_MTE1 does not exist on aiv cores; the call does nothing",),
    ),
    "undefined": (
        lambda g: adds(f(), f(512), 1, 8),
        "UNINIT_READ",
        ("adds, ", "(V) uses undefined bytes [512:544) of UB", "never written"),
    ),
    "partly undefined": (
        lambda g: (
            data_copy_pad(f(), g, DataCopyExtParams(1, 40, 0, 0, 0)),
            order(HardEvent.MTE2_V),
            adds(f(512), f(), 1, 24),
        ),
        "UNINIT_READ",
        ("uses undefined bytes [64:96) of UB", "the nearest write before it is data_copy_pad"),
    ),
}


def order_with(number: int) -> None:
    set_flag(HardEvent.MTE2_V, number)
    wait_flag(HardEvent.MTE2_V, number)


@pytest.mark.parametrize("name", WARNINGS)
def test_warning(name):
    call, code, texts = WARNINGS[name]
    with pytest.warns(SimulatorWarning) as given:
        launch(lambda a: call(at(a)), np.ones(64, np.float32))
    message = " | ".join(str(one.message) for one in given)
    for text in (code, *texts):
        assert text in message
    with pytest.raises(SimulatorError, match=code):
        launch(lambda a: call(at(a)), np.ones(64, np.float32), checks=Checks.strict())


def test_what_is_past_a_tensor_is_done_all_the_same():
    out = np.zeros(64, np.float32)

    def body(a):
        duplicate(f(0, 8), 3, 16)
        order(HardEvent.V_MTE3)
        data_copy(at(a), f(0, 64), 16)

    launch(body, out, checks=Checks.collect())
    assert out.tolist() == [3.0] * 16 + [0.0] * 48


def test_past_the_declared_buffer_but_inside_the_argument():
    def body(a):
        gm = GlobalTensor()
        gm.set_global_buffer(a, 8)
        data_copy(f(), gm, 16)

    device = launch(body, np.ones(64, np.float32), checks=Checks.collect())
    (found,) = device.findings
    assert (found.code, found.severity) == ("OOB_BUF", "warn")
    assert "src reaches byte 64, 32 bytes past its tensor (argument 'a0' up to byte 32, declared by " in found.message
    assert "set_global_buffer at test_basic_bad_memory.py:" in found.message


@pytest.mark.parametrize(
    ("call", "code"),
    [
        (lambda: add(f(0), f(32), f(1024), 16), "OVERLAP_PARTIAL"),
        (lambda: data_copy(f(0), f(32), 16), "OVERLAP_PARTIAL"),
        (lambda: adds(f(256), f(0), 1, 64, 2, ONE), "OVERLAP_REPEAT"),
    ],
)
def test_overlaps_that_no_rule_allows_are_faults(call, code):
    def body():
        filled(f(0, 1024))
        call()

    with pytest.raises(OperandError, match=code):
        launch(body)
    assert codes(launch(body, checks=Checks.collect())) == [code]


def test_copies_inside_ub_may_coincide_or_interleave():
    def body():
        filled(f(0, 1024))
        data_copy(f(0), f(0), 16)
        data_copy(f(0), f(32), DataCopyParams(2, 1, 1, 1))  # blocks 0 and 2 from blocks 1 and 3

    assert codes(launch(body, checks=Checks.collect())) == []


# --- ids of flags under a TPipe -----------------------------------------------------------------------------------


def test_a_fixed_id_under_a_pipe_is_a_warning_while_it_is_free():
    def body():
        TPipe()
        order(HardEvent.MTE2_V)

    with pytest.warns(
        SimulatorWarning, match="FLAG_RESERVED_ID.*MTE2_V id 0 on aiv 0, .*: under a TPipe ids come from alloc_event_id"
    ):
        launch(body)


def test_a_fixed_id_that_a_queue_holds_is_a_conflict():
    def body(a):
        pipe, queue = TPipe(), TQue(TPosition.VECIN, 1)
        pipe.init_buffer(queue, 1, 256)
        tensor = queue.alloc_tensor(dt.float32)
        data_copy(tensor, at(a), 64)
        queue.enque(tensor)  # holds id 0 of MTE2_V until the tensor is dequeued
        set_flag(HardEvent.MTE2_V, 0)

    with pytest.raises(SyncError, match=r"FLAG_ID_CONFLICT: set_flag: MTE2_V id 0 on aiv 0, .*: belongs to"):
        launch(body, np.ones(64, np.float32))

"""fixpipe and data_copy out of L0C: what orders them, where they end, what they refuse."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import reference_mmad as slow
from basic_machine import at, codes, launch, order, whole
from cube_machine import tensor

from ascsim.hw.checks import Checks
from ascsim.hw.device import Device
from ascsim.hw.errors import ArgumentTypeError, ArgumentValueError, HazardError, MemoryFault, OperandError
from ascsim.language.basic import data_copy, fixpipe, set_fix_pipe_pre_quant_flag
from ascsim.language.core import (
    CO2Layout,
    DataCopyCO12DstParams,
    FixpipeConfig,
    FixpipeParamsV220,
    HardEvent,
    LocalTensor,
    QuantModes,
    TPosition,
)
from ascsim.language.core import dtype as dt
from ascsim.language.core.place import running

NZ = FixpipeConfig(CO2Layout.NZ)
Q = QuantModes
ONES = np.ones((16, 16), np.float32)
PARAMS = FixpipeParamsV220(16, 16, 16, 16)


def co1(dtype: dt.DataType = dt.float32, start: int = 0) -> LocalTensor:
    return tensor(dtype, TPosition.CO1, start)


def c1(dtype: dt.DataType) -> LocalTensor:
    return tensor(dtype, TPosition.C1)


def of_ones(out: np.ndarray, call: Callable[[Any], Any], checks: Checks | None = None) -> list[str]:
    """`call(out)` with 16 x 16 ones in L0C. Codes found."""

    def body(gm: Any) -> None:
        whole("L0C", slow.l0c(ONES))
        call(at(gm))

    return codes(launch(body, out, kind="aic", checks=checks or Checks.collect()))


def twice(call: Callable[..., Any], out: np.ndarray) -> list[str]:
    def both(gm: Any) -> None:
        call(gm)
        call(gm)

    return of_ones(out, both)


def test_a_fixpipe_waits_for_the_one_before_it_and_a_data_copy_does_not() -> None:
    out = np.zeros((16, 16), np.float32)
    assert twice(lambda gm: fixpipe(gm, co1(), FixpipeParamsV220(16, 16, 16, 16)), out) == []
    copied = twice(lambda gm: data_copy(gm, co1(), DataCopyCO12DstParams(16, 16, 32, 16)), out)
    assert copied == ["NO_BARRIER_WAW"]


def test_a_vector_of_scales_is_read_on_fix() -> None:
    """Its load into L1 has to end first."""
    words = np.full(16, slow.word(1.0), np.uint64)

    def body(gm: Any, table: Any, ordered: bool) -> None:
        whole("L0C", slow.l0c(np.full((16, 16), 5, np.float32)))
        data_copy(c1(dt.uint64), at(table), 16)
        if ordered:
            order(HardEvent.MTE2_FIX)
        fixpipe(at(gm), co1(), c1(dt.uint64), FixpipeParamsV220(16, 16, 16, 16, Q.VQF322B8_PRE))

    for ordered in (True, False):
        out = np.zeros((16, 16), np.int8)
        device = launch(lambda *a, o=ordered: body(*a, o), out, words, kind="aic", checks=Checks.collect())
        assert codes(device) == ([] if ordered else ["RAW"])
        assert (out == 5).all()


def test_what_was_never_written_is_reported() -> None:
    def body(gm: Any) -> None:
        whole("L0C", slow.l0c(ONES[:, :15]), known=slow.l0c(np.zeros((16, 15), np.float32)) == 0)
        fixpipe(at(gm), co1(), PARAMS)

    assert codes(launch(body, np.zeros(256, np.float32), kind="aic", checks=Checks.collect())) == ["UNINIT_READ"]


def test_ends() -> None:
    out = np.zeros(256, np.float32)
    with pytest.raises(MemoryFault, match=r"OOB_GM.*fixpipe writes bytes"):
        of_ones(out, lambda gm: fixpipe(gm[8192:], co1(), PARAMS), Checks())
    assert of_ones(out, lambda gm: fixpipe(gm, co1(), FixpipeParamsV220(16, 0, 16, 16))) == ["ZERO_LENGTH"]
    with pytest.raises(MemoryFault, match=r"MISALIGNED_ADDR.*dst starts at byte 4 .*multiple of 32"):
        of_ones(out, lambda gm: fixpipe(gm[1:], co1(), FixpipeParamsV220(16, 8, 16, 16), NZ), Checks())

    def short(gm: Any) -> None:
        part = at(gm)
        part.set_global_buffer(gm, 200)
        whole("L0C", slow.l0c(ONES))
        fixpipe(part, co1(), PARAMS)

    assert codes(launch(short, out, kind="aic", checks=Checks.collect())) == ["OOB_BUF"]


def test_refuses() -> None:
    p = FixpipeParamsV220
    good = p(16, 16, 16, 16)
    vector = p(16, 16, 16, 16, Q.VREQ8)
    for dtype, call, error, message in (
        (np.float32, lambda g: fixpipe(g, c1(dt.float32), good), OperandError, "BAD_POSITION.*src lies in C1"),
        (np.float32, lambda g: fixpipe(co1(), co1(), good), OperandError, "BAD_POSITION.*dst lies in CO1"),
        (np.float16, lambda g: fixpipe(g, co1(), good), OperandError, "BAD_DTYPE.*dst has type float16; rule: float32"),
        (np.int8, lambda g: fixpipe(g, co1(), p(16, 16, 16, 16, Q.REQ8)), OperandError, "BAD_DTYPE.*src has type"),
        (np.int16, lambda g: fixpipe(g, co1(), p(16, 16, 16, 16, Q.F322F16)), OperandError, "rule: float16 from"),
        (np.int8, lambda g: fixpipe(g, co1(dt.int32), c1(dt.int64), vector), OperandError, "cbuf_workspace has type"),
        (np.int8, lambda g: fixpipe(g, co1(dt.int32), vector), ArgumentValueError, "cbuf_workspace goes with VDEQF16"),
        (np.float32, lambda g: fixpipe(g, co1(), c1(dt.uint64), good), ArgumentValueError, "cbuf_workspace goes with"),
        (np.float32, lambda g: fixpipe(c1(dt.float32), co1(), good, NZ), OperandError, "quant_pre = NoQuant to L1"),
        (np.int8, lambda g: fixpipe(c1(dt.float16), co1(), p(16, 16, 16, 16, Q.F322F16)), ArgumentValueError, "NZ to"),
        (np.float32, lambda g: fixpipe(g, co1(start=32), good), MemoryFault, "MISALIGNED_ADDR.*src .*multiple of 64"),
        (np.float32, lambda g: fixpipe(g, co1(), p(17, 16, 16, 99), NZ), ArgumentValueError, "n_size = 17.*value: 32"),
        (np.float32, lambda g: fixpipe(g, co1(), p(4096, 1, 16, 9)), ArgumentValueError, "n_size = 4096.*value: 4095"),
        (np.float32, lambda g: fixpipe(g, co1(), p(1, 8193, 16, 9)), ArgumentValueError, "m_size = 8193.*value: 8192"),
        (np.float32, lambda g: fixpipe(g, co1(), p(16, 2, 16, 15)), ArgumentValueError, "BAD_STRIDE.*dst_stride = 15"),
        (np.float32, lambda g: fixpipe(g, co1(), p(32, 2, 16, 3), NZ), ArgumentValueError, "BAD_STRIDE.*value: 4"),
        (np.float32, lambda g: fixpipe(g, co1(), p(16, 2, 16, 16, nd_num=2)), ArgumentValueError, "src_nd_stride = 0"),
        (
            np.float32,
            lambda g: fixpipe(g, co1(), p(16, 2, 16, 16, nd_num=2, src_nd_stride=1, dst_nd_stride=8)),
            OperandError,
            "BAD_STRIDE.*the matrices overlap",
        ),
        (np.float32, lambda g: fixpipe(g, co1(), p(16, 2, 16, 16, unit_flag=1)), ArgumentValueError, "unit_flag = 1"),
        (
            np.float32,
            lambda g: fixpipe(g, co1(), p(16, 2, 16, 16, is_channel_split=True)),
            ArgumentValueError,
            "is_channel_split = True",
        ),
        (
            np.float32,
            lambda g: fixpipe(g, co1(), p(16, 2, 16, 16, is_channel_split=True, unit_flag=3), NZ),
            ArgumentValueError,
            "0 with a channel split",
        ),
        (
            np.int8,
            lambda g: fixpipe(g, co1(), p(16, 2, 16, 16, Q.QF322B8_PRE, 0x7F800000)),
            ArgumentValueError,
            "scale = inf",
        ),
        (np.float32, lambda g: fixpipe(g, co1(), p(16, 2100, 16, 16)), MemoryFault, "OOB_PHYS.*L0C"),
        (np.float32, lambda g: fixpipe(g, co1(), 5), ArgumentTypeError, "FixpipeParamsV220"),
        (np.float32, lambda g: fixpipe(g, co1(), good, 5), ArgumentTypeError, "config = 5"),
        (
            np.float32,
            lambda g: fixpipe(g, co1(), good, FixpipeConfig(CO2Layout.COLUMN_MAJOR)),
            ArgumentValueError,
            "is of another chip",
        ),
        (np.float32, lambda g: set_fix_pipe_pre_quant_flag(1.5), ArgumentTypeError, "config"),
    ):
        with pytest.raises(error, match=message):
            launch(lambda gm, call=call: call(at(gm)), np.zeros(4096, dtype), kind="aic")


def test_a_missing_order_is_an_error_by_default() -> None:
    def both(gm: Any) -> None:
        for _ in range(2):
            data_copy(gm, co1(), DataCopyCO12DstParams(16, 16, 32, 16))

    with pytest.raises(HazardError, match=r"NO_BARRIER_WAW on GM a0.*pipe_barrier\(PIPE_FIX\)"):
        of_ones(np.zeros(256, np.float32), both, Checks())


def test_on_a_vector_core() -> None:
    def call(gm: Any) -> None:
        if running("test").kind == "aic":
            whole("L0C", slow.l0c(np.ones((16, 16), np.float32)))
        fixpipe(at(gm), co1(), FixpipeParamsV220(16, 16, 16, 16))

    with pytest.raises(OperandError, match="WRONG_CORE"):
        launch(call, np.zeros(256, np.float32))
    out = np.zeros(256, np.float32)
    device: Device = launch(call, out, kind="mix", checks=Checks.collect())
    assert codes(device) == []
    assert (out == 1).all()

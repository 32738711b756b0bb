"""mmad and mmad_with_sparse: hand-worked values, start values, HF32, order, refusals, and a second opinion."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import reference_mmad as slow
from basic_machine import at, codes, launch, order, whole
from hypothesis import given, settings
from hypothesis import strategies as st

from ascsim.hw.checks import Checks
from ascsim.hw.device import Device
from ascsim.hw.errors import (
    ArgumentTypeError,
    ArgumentValueError,
    DeadlockError,
    HazardError,
    MemoryFault,
    OperandError,
)
from ascsim.language.basic import (
    fixpipe,
    mmad,
    mmad_with_sparse,
    pipe_barrier,
    set_hf32_mode,
    set_hf32_trans_mode,
    set_mm_layout_transform,
)
from ascsim.language.core import FixpipeParamsV220, HardEvent, LocalTensor, MmadParams, PipeID, TPosition
from ascsim.language.core import dtype as dt
from ascsim.language.core.place import running

TYPES = {
    dt.float16: (np.float16, dt.float32),
    dt.bfloat16: (ml_dtypes.bfloat16, dt.float32),
    dt.float32: (np.float32, dt.float32),
    dt.int8: (np.int8, dt.int32),
}
START = MmadParams(16, 16, 16)


def a2(dtype: dt.DataType = dt.float16, start: int = 0, n: int = 0) -> LocalTensor:
    return LocalTensor(dtype, TPosition.A2, start, n)


def b2(dtype: dt.DataType = dt.float16, start: int = 0, n: int = 0) -> LocalTensor:
    return LocalTensor(dtype, TPosition.B2, start, n)


def co1(dtype: dt.DataType = dt.float32, start: int = 0, n: int = 0) -> LocalTensor:
    return LocalTensor(dtype, TPosition.CO1, start, n)


def c2(dtype: dt.DataType = dt.float32, start: int = 0) -> LocalTensor:
    return LocalTensor(dtype, TPosition.C2, start, 0)


def on_core(call: Callable[[], Any], checks: Checks | None = None, kind: str = "aic") -> tuple[np.ndarray, Device]:
    """What is in L0C after `call`, and the device."""
    found = np.zeros(0, np.uint8)

    def body() -> None:
        nonlocal found
        call()
        memory = running("test").memories.get("L0C")
        found = found if memory is None else memory.bytes.copy()

    device = launch(body, kind=kind, checks=checks or Checks.collect())
    return found, device


def tiles(a: np.ndarray, b: np.ndarray) -> None:
    """A and B in L0A and L0B; nothing else is defined there."""
    for name, matrix, image in (("L0A", a, slow.l0a), ("L0B", b, slow.l0b)):
        whole(name, image(matrix), known=image(np.zeros_like(matrix)) == 0)


def numbers(shape: tuple[int, ...], kind: Any, seed: int, most: int = 9) -> np.ndarray:
    return np.random.default_rng(seed).integers(-most, most + 1, shape).astype(kind)


def test_two_by_two_at_literal_bytes() -> None:
    """Fractals of 16 x 16 half: A row by row (32 bytes), B column by column, C row by row (64 bytes)."""

    def call() -> None:
        a, b = np.full(256, np.nan, np.float16), np.full(256, np.nan, np.float16)
        a[[0, 1, 16, 17]] = 1, 2, 3, 4
        b[[0, 16, 1, 17]] = 5, 6, 7, 8
        whole("L0A", a.view(np.uint8), 512)
        whole("L0B", b.view(np.uint8), 1024)
        mmad(co1(start=2048), a2(start=512), b2(start=1024), MmadParams(2, 2, 2))

    after, device = on_core(call)
    assert codes(device) == []
    c = after[2048:3072].view(np.float32).reshape(16, 16)
    assert c[:2, :2].tolist() == [[19, 22], [43, 50]]
    assert (after[:2048] == 0xFF).all()
    assert np.isnan(c[2:]).all()
    assert np.isnan(c[:, 2:]).all()


STARTS = ("zero", "dst", "table", "register", "matrix")


@settings(max_examples=12, deadline=None)
@given(
    st.sampled_from(list(TYPES)), st.integers(1, 35), st.integers(1, 35), st.integers(1, 70), st.sampled_from(STARTS),
    st.integers(0, 99),
)  # fmt: skip
def test_the_second_opinion(dtype: dt.DataType, m: int, n: int, k: int, start: str, seed: int) -> None:
    """What was never written beyond m, n and k neither counts nor is reported."""
    kind, target = TYPES[dtype]
    a, b, given_c = numbers((m, k), kind, seed), numbers((k, n), kind, seed + 1), numbers((m, n), target.np, seed + 2)
    bias = numbers((n,), target.np, seed + 3, 99)

    def call() -> None:
        tiles(a, b)
        origin = 65536 if start == "matrix" else 0
        whole("L0C", slow.l0c(given_c), origin)
        whole("BT", bias.view(np.uint8), 0 if start == "register" else 64)
        c, parameters = co1(target), {"cmatrix_init_val": start == "zero", "cmatrix_source": start == "register"}
        if start == "table":
            mmad(c, a2(dtype), b2(dtype), c2(target, 64), MmadParams(m, n, k, **parameters))
        elif start == "matrix":
            mmad(c, a2(dtype), b2(dtype), co1(target, 65536), MmadParams(m, n, k, **parameters))
        else:
            mmad(c, a2(dtype), b2(dtype), params=MmadParams(m, n, k, **parameters))

    after, device = on_core(call)
    assert codes(device) == []
    value = {
        "zero": lambda i, j: 0,
        "dst": lambda i, j: given_c[i, j].item(),
        "matrix": lambda i, j: given_c[i, j].item(),
        "table": lambda i, j: bias[j].item(),
        "register": lambda i, j: bias[j].item(),
    }[start]
    assert slow.read_l0c(after, m, n, target.np).tolist() == slow.multiplied(a, b, value)


def test_old_parameter_names() -> None:
    """is_bias accumulates as cmatrix_init_val=False does; the fields of older chips have no effect."""

    def call() -> None:
        tiles(numbers((16, 16), np.float16, 0), np.eye(16, dtype=np.float16))
        whole("L0C", slow.l0c(np.full((16, 16), 100, np.float32)))
        mmad(co1(), a2(), b2(), MmadParams(16, 16, 16, True, 5, True, True, True))

    after, _ = on_core(call)
    assert (slow.read_l0c(after, 16, 16, np.float32) == 100 + numbers((16, 16), np.float16, 0)).all()


def test_integers_are_exact_over_a_long_k_and_saturate() -> None:
    a, b = np.full((16, 1056), -128, np.int8), np.full((1056, 16), -128, np.int8)
    a[15, 1055] = b[1055, 15] = -127
    start = np.zeros((16, 16), np.int32)
    start[0, 0], start[1, 0], start[2, 0] = 2147483647, 2147483647 - 17301504, -5

    def call() -> None:
        tiles(a, b)
        whole("L0C", slow.l0c(start))
        mmad(co1(dt.int32), a2(dt.int8), b2(dt.int8), MmadParams(16, 16, 1056, cmatrix_init_val=False))

    c = slow.read_l0c(on_core(call)[0], 16, 16, np.int32)
    assert c[:4, 0].tolist() == [2147483647, 2147483647, 17301499, 17301504]
    assert c[15, 15] == 17301249  # odd and above 2**24: no float32


@pytest.mark.parametrize(
    ("mode", "to_zero", "expected"),
    [
        (False, True, [1 + 2**-12, 1 + 3 * 2**-12, 1 + 2**-12 + 2**-20, -1 - 3 * 2**-12]),
        (True, False, [1, 1 + 2**-10, 1 + 2**-11, -1 - 2**-10]),  # ties to even
        (True, True, [1, 1 + 2**-11, 1 + 2**-11, -1 - 2**-11]),  # ties toward zero
    ],
)
def test_hf32_rounds_operands_to_eleven_bits(mode: bool, to_zero: bool, expected: list[float]) -> None:
    a = np.array([[1 + 2**-12, 1 + 3 * 2**-12, 1 + 2**-12 + 2**-20, -1 - 3 * 2**-12]], np.float32)

    def call() -> None:
        tiles(a, np.eye(4, dtype=np.float32))
        for _ in range(2):  # the second plan must know the mode
            set_hf32_mode(not mode)
            mmad(co1(), a2(dt.float32), b2(dt.float32), MmadParams(1, 4, 4))
            set_hf32_mode(mode)
            set_hf32_trans_mode(to_zero)
            pipe_barrier(PipeID.PIPE_M)
            mmad(co1(), a2(dt.float32), b2(dt.float32), MmadParams(1, 4, 4))
            pipe_barrier(PipeID.PIPE_M)

    assert slow.read_l0c(on_core(call)[0], 1, 4, np.float32).tolist() == [expected]


def test_sparse_takes_two_of_four() -> None:
    """The page's table, a column for each row of it: fields, and which of the elements 1, 2, 3, 4 they take."""
    table = [(2, 2), (1, 2), (0, 2), (1, 1), (0, 1), (0, 0), (2, 0), (1, 0)]
    picked = [(3, 4), (2, 4), (1, 4), (2, 3), (1, 3), (1, 2), (3, 3), (2, 2)]
    a = np.zeros((16, 64), np.int8)
    a[:, :4] = 1, 2, 3, 4
    kept, fields = np.zeros((32, 8), np.int8), np.zeros((32, 8), np.uint8)
    kept[0], kept[1] = 10, 1
    for column, pair in enumerate(table):
        fields[:2, column] = pair

    def call() -> None:
        tiles(a, kept)
        packed = fields.reshape(8, 4, 8) << np.array([0, 2, 4, 6], np.uint8)[:, None]
        whole("IX", packed.sum(axis=1, dtype=np.uint8).T.reshape(-1))
        mmad_with_sparse(co1(dt.int32), a2(dt.int8), b2(dt.int8), MmadParams(16, 8, 64))

    after, device = on_core(call)
    assert codes(device) == []
    assert slow.read_l0c(after, 16, 8, np.int32)[0].tolist() == [10 * x + y for x, y in picked]


@pytest.mark.parametrize(("m", "n", "k"), [(20, 40, 136), (1, 17, 6)])
def test_sparse_against_the_second_opinion(m: int, n: int, k: int) -> None:
    a, kept = numbers((m, k), np.int8, 1), numbers((k // 2, n), np.int8, 2)
    pairs = np.array(list(slow.CHOICE), np.uint8)[np.random.default_rng(3).integers(0, 8, (-(-k // 4), n))]
    fields = pairs.transpose(0, 2, 1).reshape(-1, n)

    def call() -> None:
        tiles(a, kept)
        index, known = np.zeros(1 << 14, np.uint8), np.zeros(1 << 14, np.bool_)
        for row in range(len(fields)):
            for column in range(n):
                byte = slow.in_l0b(row, column, n, 1)
                index[byte // 4] |= fields[row, column] << (byte % 4 * 2)
                known[byte // 4] = True
        whole("IX", index, known=known)
        mmad_with_sparse(co1(dt.int32), a2(dt.int8), b2(dt.int8), MmadParams(m, n, k))

    after, device = on_core(call)
    assert codes(device) == []
    b = slow.chosen(np.concatenate([kept, np.zeros((len(fields) - len(kept), n), np.int8)]), fields)
    expected = slow.multiplied(a, b[:k], lambda i, j: 0)
    assert slow.read_l0c(after, m, n, np.int32).tolist() == expected


# --- order and definedness -------------------------------------------------------------------------------------------


def accumulated(m: int, n: int, between: Callable[[], Any] = lambda: None) -> list[str]:
    def call() -> None:
        tiles(np.ones((m, 16), np.float16), np.ones((16, n), np.float16))
        mmad(co1(), a2(), b2(), MmadParams(m, n, 16))
        between()
        mmad(co1(), a2(), b2(), MmadParams(m, n, 16, cmatrix_init_val=False))

    return codes(on_core(call)[1])


def test_small_accumulations_need_a_barrier() -> None:
    """(m // 16) * (n // 16) is 9 of 48 x 63, and 12 of 48 x 64."""
    assert accumulated(48, 63) == ["NO_BARRIER_RAW"]
    assert accumulated(48, 63, lambda: pipe_barrier(PipeID.PIPE_M)) == []
    assert accumulated(48, 64) == []


def test_what_was_never_written_is_reported_where_it_counts() -> None:
    def call() -> None:
        tiles(np.ones((16, 16), np.float16), np.ones((16, 15), np.float16))
        mmad(co1(), a2(), b2(), MmadParams(16, 16, 16))

    assert codes(on_core(call)[1]) == ["UNINIT_READ"]

    def accumulate() -> None:
        tiles(np.ones((16, 16), np.float16), np.ones((16, 16), np.float16))
        mmad(co1(), a2(), b2(), MmadParams(16, 16, 16, cmatrix_init_val=False))

    assert codes(on_core(accumulate)[1]) == ["UNINIT_READ"]


def test_an_index_that_was_never_loaded_is_reported() -> None:
    def call(known: Any) -> None:
        tiles(np.ones((16, 64), np.int8), np.ones((32, 16), np.int8))
        whole("IX", np.zeros(128, np.uint8), known=known)
        mmad_with_sparse(co1(dt.int32), a2(dt.int8), b2(dt.int8), MmadParams(16, 16, 64))

    assert codes(on_core(lambda: call(True))[1]) == []
    device = on_core(lambda: call(np.arange(128) != 77))[1]
    assert codes(device) == ["UNINIT_READ"]
    assert "[77:78) of IX" in device.findings[0].message


def drained(steps: list[Any]) -> list[str]:
    """Codes of a multiply, steps, a fixpipe, steps, and another multiply to the same place."""
    out = np.zeros((16, 16), np.float32)

    def body(c_gm: Any) -> None:
        tiles(np.ones((16, 16), np.float16), np.ones((16, 16), np.float16))
        first, last = steps
        flag = 3 if first == "unit" else 0
        mmad(co1(), a2(), b2(), MmadParams(16, 16, 16, unit_flag=flag))
        if isinstance(first, HardEvent):
            order(first)
        fixpipe(at(c_gm), co1(), FixpipeParamsV220(16, 16, 16, 16, unit_flag=flag))
        if isinstance(last, HardEvent):
            order(last)
        mmad(co1(), a2(), b2(), MmadParams(16, 16, 16, unit_flag=2 if flag else 0))

    found = codes(launch(body, out, kind="aic", checks=Checks.collect()))
    assert (out == 16).all()
    return found


def test_order_with_the_fixpipe() -> None:
    assert drained([HardEvent.M_FIX, HardEvent.FIX_M]) == []
    assert drained(["unit", None]) == []
    assert drained([None, HardEvent.FIX_M]) == ["RAW"]
    assert drained([HardEvent.M_FIX, None]) == ["WAR"]


def test_a_unit_flag_that_nobody_takes() -> None:
    def call() -> None:
        tiles(np.ones((16, 16), np.float16), np.ones((16, 16), np.float16))
        for _ in range(2):
            mmad(co1(), a2(), b2(), MmadParams(16, 16, 16, unit_flag=3))

    with pytest.raises(DeadlockError, match="unit flag of L0C block 0"):
        on_core(call, Checks())


def test_the_report_names_both_lines() -> None:
    def call() -> None:
        tiles(np.ones((16, 16), np.float16), np.ones((16, 16), np.float16))
        mmad(co1(), a2(), b2(), START)
        mmad(co1(), a2(), b2(), MmadParams(16, 16, 16, cmatrix_init_val=False))

    with pytest.raises(
        HazardError, match=r"NO_BARRIER_RAW on L0C .*mmad, test_basic_mmad.py:\d+ \(M\) reads what mmad"
    ):
        on_core(call, Checks())


# --- refusals --------------------------------------------------------------------------------------------------------


def test_refuses() -> None:
    for bad, error, message in (
        (lambda: mmad(co1(), b2(), b2(), START), OperandError, "BAD_POSITION.*fm lies in B2; rule: A2"),
        (lambda: mmad(co1(), a2(), a2(), START), OperandError, "BAD_POSITION.*filter lies in A2; rule: B2"),
        (lambda: mmad(a2(dt.float32), a2(), b2(), START), OperandError, "BAD_POSITION.*dst lies in A2; rule: CO1"),
        (lambda: mmad(co1(), a2(), b2(), a2(dt.float32), START), OperandError, "BAD_POSITION.*bias lies in A2"),
        (lambda: mmad(co1(), a2(dt.uint8), b2(dt.uint8), START), OperandError, "BAD_DTYPE.*fm has type uint8"),
        (lambda: mmad(co1(), a2(), b2(dt.bfloat16), START), OperandError, "BAD_DTYPE.*filter has type bfloat16"),
        (lambda: mmad(co1(dt.int32), a2(), b2(), START), OperandError, "BAD_DTYPE.*dst has type int32; rule: float32"),
        (lambda: mmad(co1(), a2(), b2(), c2(dt.int32), START), OperandError, "BAD_DTYPE.*bias has type int32"),
        (lambda: mmad(co1(start=512), a2(), b2(), START), MemoryFault, "MISALIGNED_ADDR.*dst .*multiple of 1024"),
        (lambda: mmad(co1(), a2(start=256), b2(), START), MemoryFault, "MISALIGNED_ADDR.*fm .*multiple of 512"),
        (lambda: mmad(co1(), a2(), b2(), c2(start=32), START), MemoryFault, "MISALIGNED_ADDR.*bias .*multiple of 64"),
        (lambda: mmad(co1(), a2(), b2(), MmadParams(16, 16, 4096)), ArgumentValueError, "k = 4096.*value: 4095"),
        (lambda: mmad(co1(), a2(), b2(), MmadParams(16, 16, 16, unit_flag=1)), ArgumentValueError, "unit_flag = 1"),
        (lambda: mmad(co1(), a2(), b2(), MmadParams(256, 16, 256)), MemoryFault, "OOB_PHYS.*fm.*L0A|OOB_PHYS.*L0A"),
        (lambda: mmad(co1(), a2(), b2(), MmadParams(16, 512, 128)), MemoryFault, "OOB_PHYS.*L0B"),
        (lambda: mmad(co1(), a2(), b2(), MmadParams(512, 128, 16)), MemoryFault, "OOB_PHYS.*L0C"),
        (lambda: mmad(co1(), a2(), b2(), c2(), START), ArgumentValueError, "cmatrix_init_val = True.*the bias has no"),
        (lambda: mmad(co1(), a2(), b2(), 16), ArgumentTypeError, "params = 16.*MmadParams"),
        (lambda: mmad(co1(), a2(), b2()), ArgumentTypeError, "MmadParams"),
        (lambda: mmad(co1(), a2(), 5, START), OperandError, "BAD_POSITION.*filter = 5 is an int"),
        (lambda: mmad_with_sparse(co1(), a2(), b2(), START), OperandError, "BAD_DTYPE.*fm has type float16"),
        (lambda: set_hf32_mode("yes"), ArgumentTypeError, "hf32_mode"),
        (lambda: set_mm_layout_transform(None), ArgumentTypeError, "mm_layout_mode"),
    ):
        with pytest.raises(error, match=message):
            on_core(bad, Checks())


def test_warnings() -> None:
    def small() -> None:
        tiles(np.ones((16, 16), np.float16), np.ones((16, 16), np.float16))
        mmad(co1(), a2(n=255), b2(), START)
        mmad(co1(), a2(), b2(), MmadParams(16, 0, 16))

    device = on_core(small)[1]
    assert codes(device) == ["OOB_BUF", "ZERO_LENGTH"]
    assert ", 2 bytes past its tensor" in device.findings[0].message


def test_on_a_vector_core() -> None:
    def call() -> None:
        mmad(co1(), a2(), b2(), START)

    with pytest.raises(OperandError, match="WRONG_CORE"):
        on_core(call, Checks(), kind="aiv")

    def mixed() -> None:
        if running("test").kind == "aic":
            tiles(np.ones((16, 16), np.float16), np.ones((16, 16), np.float16))
        mmad(co1(), a2(), b2(), START)

    assert codes(on_core(mixed, kind="mix")[1]) == []

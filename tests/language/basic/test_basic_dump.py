"""printf, dumps and marked stretches: exact text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from basic_machine import at, codes, launch, order, ub

from ascsim.hw.checks import Checks
from ascsim.hw.device import Device
from ascsim.hw.errors import ArgumentTypeError, ArgumentValueError, LaunchError, MemoryFault, OperandError
from ascsim.hw.soc import soc
from ascsim.language.basic import (
    data_copy,
    dump_acc_chk_point,
    dump_tensor,
    duplicate,
    get_block_idx,
    metrics_prof_start,
    metrics_prof_stop,
    printf,
    set_flag,
    sync_all,
    wait_flag,
)
from ascsim.language.core import GlobalAddress, HardEvent, ShapeInfo, TPosition, ir_value
from ascsim.language.core import dtype as dt

COLLECT = Checks.collect()


def test_printf_of_each_kind(capsys: pytest.CaptureFixture[str]) -> None:
    def body() -> None:
        printf("hello\\n")
        printf("%d %i %u %x|", -5, ir_value.Int32(7), 3, 255)
        printf("%5d|%-4d|%05d|%+d|", 42, 42, 42, 42)
        printf("%u %x %d|", ir_value.Int32(-1), ir_value.Int8(-1), ir_value.UInt32(4294967295))
        printf("%ld %lld %lu %llx|", ir_value.Int64(-(1 << 40)), 1 << 40, 1 << 40, ir_value.Int64(-1))
        printf("%f %.2f %F|", 3.14, ir_value.Float32(2.5), np.float16(0.1))
        printf("%s and %s, 100%%|", "one", "two")
        printf("%p\n", ir_value.UInt64(0x1234))

    launch(body)
    head = "[AIV Block 0/1] "
    assert capsys.readouterr().out == (
        f"{head}hello\n{head}-5 7 3 ff|{head}   42|42  |00042|+42|{head}4294967295 ffffffff -1|"
        f"{head}-1099511627776 1099511627776 1099511627776 ffffffffffffffff|"
        f"{head}3.140000 2.50 0.099976|{head}one and two, 100%|{head}0x1234\n"
    )


def test_printf_comes_in_the_order_of_the_cores(capsys: pytest.CaptureFixture[str]) -> None:
    Device(soc("Ascend910B1"), 0, 3, checks=Checks()).run(lambda: printf("%d\\n", get_block_idx()))
    assert capsys.readouterr().out == "[AIV Block 0/3] 0\n[AIV Block 1/3] 1\n[AIV Block 2/3] 2\n"


def test_printf_around_a_meeting(capsys: pytest.CaptureFixture[str]) -> None:
    def body() -> None:
        printf("before\\n")
        sync_all()
        printf("after\\n")

    Device(soc("Ascend910B1"), 4, 2, checks=Checks()).run(body)
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == ["[AIV Block 0/2] before", "[AIV Block 1/2] before"]
    assert sorted(lines[2:]) == ["[AIV Block 0/2] after", "[AIV Block 1/2] after"]


def test_printf_counts_the_cores_of_a_kind(capsys: pytest.CaptureFixture[str]) -> None:
    Device(soc("Ascend910B1"), 7, 1, checks=Checks()).run(lambda: printf("x\\n"))
    lines = sorted(capsys.readouterr().out.splitlines())
    assert lines == ["[AIC Block 0/1] x", "[AIV Block 0/2] x", "[AIV Block 1/2] x"]


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        (("%d",), ArgumentValueError, r"params = 0; rule: as many as '%d' asks for: 1"),
        (("%d %% %d", 1, 2, 3), ArgumentValueError, r"params = 3; rule: as many as .* asks for: 2"),
        (("%d", 1.5), ArgumentTypeError, r"%d = 1.5: got a float; rule: %d takes an integer"),
        (("%f", 1), ArgumentTypeError, r"%f = 1: got an int; rule: %f takes a float"),
        (("%s", 1), ArgumentTypeError, r"%s takes a string"),
        (("%e", 1.0), ArgumentValueError, r"conversion = '%e'; rule: %d %i %u %x"),
        (("%lf", 1.0), ArgumentValueError, r"conversion = '%lf'"),
        (("50%",), ArgumentValueError, r"conversion = '%'"),
        (("a\\tb",), ArgumentValueError, r"escape = '\\\\t'; rule: the device knows \\n alone"),
        ((3,), ArgumentTypeError, r"desc = 3: is no string"),
    ],
)
def test_printf_refuses(arguments: tuple[Any, ...], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        launch(lambda: printf(*arguments))


def test_printf_outside_a_kernel() -> None:
    with pytest.raises(LaunchError, match="printf"):
        printf("x")


def test_a_long_text_is_shown_with_a_warning(capsys: pytest.CaptureFixture[str]) -> None:
    assert codes(launch(lambda: printf("x" * 30720), checks=COLLECT)) == []
    assert codes(launch(lambda: printf("x" * 30721), checks=COLLECT)) == ["ZERO_LENGTH"]
    assert len(capsys.readouterr().out) == 2 * 16 + 30720 + 30721


# ------------------------------------------------------------------ dumps


def shown(capsys: pytest.CaptureFixture[str], call: Callable[[Any], None], data: np.ndarray, **options: Any) -> str:
    """What `call(tensor in global memory)` prints."""
    launch(lambda address: call(at(address)), data, **options)
    return capsys.readouterr().out


def test_dump_of_global_memory(capsys: pytest.CaptureFixture[str]) -> None:
    data = np.arange(8, dtype=np.int32) - 2
    assert shown(capsys, lambda t: dump_tensor(t, 5, 4), data) == (
        "[AIV Block 0/1] DumpTensor: desc=5, addr=0x10000000000, data_type=int32, position=GM, dump_size=4\n"
        "[-2, -1, 0, 1]\n"
    )
    assert shown(capsys, lambda t: dump_tensor(t[4:], 6, 2), data) == (
        "[AIV Block 0/1] DumpTensor: desc=6, addr=0x10000000010, data_type=int32, position=GM, dump_size=2\n[2, 3]\n"
    )


def test_dump_of_a_local_tensor(capsys: pytest.CaptureFixture[str]) -> None:
    def body() -> None:
        half = ub(dt.float16, 64, 32)
        duplicate(half, 0.1, 16)
        dump_tensor(half, 7, 2)
        dump_acc_chk_point(half[0:], 8, 16, 1)

    launch(body)
    assert capsys.readouterr().out == (
        "[AIV Block 0/1] DumpTensor: desc=7, addr=0x40, data_type=float16, position=UB, dump_size=2\n"
        "[0.099976, 0.099976]\n"
        "[AIV Block 0/1] DumpTensor: desc=8, addr=0x60, data_type=float16, position=UB, dump_size=1\n"
        "[nan]\n"
    )


def test_dump_of_bfloat16(capsys: pytest.CaptureFixture[str]) -> None:
    def body() -> None:
        wide = ub(dt.bfloat16, 0, 16)
        duplicate(wide, 1.5, 16)
        dump_tensor(wide, 1, 1)

    launch(body)
    assert capsys.readouterr().out.endswith("data_type=bfloat16, position=UB, dump_size=1\n[1.500000]\n")


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        ((2, 3), "[[0,1,2],\n[3,4,5]]\n"),
        (
            (1, 3),
            "shape is [1, 3], dumpSize is 6, dumpSize is greater than shapeSize.\n[[0,1,2]]\n",
        ),
        ((3, 3), "shape is [3, 3], dumpSize is 6, data is not enough.\n[[0,1,2],\n[3,4,5],\n[-,-,-]]\n"),
        ((3, 1, 2), "[[[0,1]],\n[[2,3]],\n[[4,5]]]\n"),
        ((6,), "[0,1,2,3,4,5]\n"),
    ],
)
def test_dump_in_a_shape(capsys: pytest.CaptureFixture[str], shape: tuple[int, ...], expected: str) -> None:
    out = shown(capsys, lambda t: dump_tensor(t, 0, 6, ShapeInfo(shape)), np.arange(8, dtype=np.uint16))
    assert out.split("\n", 1)[1] == expected


def test_a_dump_is_no_access(capsys: pytest.CaptureFixture[str]) -> None:
    """Reading what a copy brings needs a flag; dumping it does not, and gives no order either."""
    data = np.arange(64, dtype=np.int32)

    def body(address: Any, dump: bool, read: bool) -> None:
        tensor = ub(dt.int32, 0, 64)
        data_copy(tensor, at(address), 64)
        if dump:
            dump_tensor(tensor, 0, 2)
        if read:
            tensor.get_value(0)

    device = [Device(soc("Ascend910B1"), 0, 1, checks=COLLECT, auto_sync=False) for _ in range(3)]
    for machine, dump, read in zip(device, (True, True, False), (False, True, True), strict=True):
        raw = memoryview(data.view(np.uint8))
        address = _address(machine, raw)
        machine.run(lambda address=address, dump=dump, read=read: body(address, dump, read))
    assert [codes(machine) for machine in device] == [[], ["RAW"], ["RAW"]]
    assert capsys.readouterr().out.count("[0, 1]") == 2


def _address(machine: Device, raw: memoryview) -> Any:
    return GlobalAddress(machine.argument("a", raw), 0, dt.int32)


def test_dump_refuses() -> None:
    data = np.zeros(8, np.int32)
    with pytest.raises(OperandError, match=r"BAD_POSITION.*tensor lies in A2"):
        launch(lambda: dump_tensor(ub(dt.float16, 0, 64, TPosition.A2), 0, 4), kind="aic")
    with pytest.raises(OperandError, match=r"BAD_POSITION.*tensor = 5 is an int"):
        launch(lambda: dump_tensor(5, 0, 4))
    with pytest.raises(MemoryFault, match=r"MISALIGNED_ADDR.*starts at byte 4 of UB"):
        launch(lambda: dump_acc_chk_point(ub(dt.int32, 0, 8), 0, 1, 4))
    with pytest.raises(MemoryFault, match=r"OOB_PHYS.*byte 196640 of UB, which has 196608"):
        launch(lambda: dump_tensor(ub(dt.int32, 196576, 16), 0, 16))
    with pytest.raises(MemoryFault, match=r"OOB_GM.*byte 36 of argument 'a0', which has 32"):
        launch(lambda address: dump_tensor(at(address), 0, 9), data)
    assert codes(launch(lambda: dump_tensor(ub(dt.int32, 0, 8), 0, 9), checks=COLLECT)) == ["OOB_BUF"]
    with pytest.raises(ArgumentValueError, match=r"desc = -1; rule: 0 to 4294967295; nearest legal value: 0"):
        launch(lambda address: dump_tensor(at(address), -1, 4), data)
    with pytest.raises(ArgumentTypeError, match="a ShapeInfo"):
        launch(lambda address: dump_tensor(at(address), 0, 4, (2, 2)), data)


def test_the_other_kind_of_core_prints_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    launch(lambda: dump_tensor(ub(dt.int32, 0, 8), 3, 1), kind="mix")
    assert [line[:16] for line in capsys.readouterr().out.splitlines()[::2]] == ["[AIV Block 0/2] ", "[AIV Block 1/2] "]


# ------------------------------------------------------------------ marked stretches


def test_metrics_mark_a_stretch() -> None:
    def body() -> None:
        duplicate(ub(dt.int32, 0, 8), 1, 8)  # 2 cycles of S to issue
        metrics_prof_start()
        duplicate(ub(dt.int32, 32, 8), 1, 8)
        duplicate(ub(dt.int32, 64, 8), 1, 8)
        metrics_prof_stop()

    assert launch(body).totals()[0].regions == [("metrics_prof", 2, 6)]


def test_metrics_end_with_the_kernel() -> None:
    def body() -> None:
        metrics_prof_start()
        duplicate(ub(dt.int32, 0, 8), 1, 8)

    assert launch(body).totals()[0].regions == [("metrics_prof", 0, 2)]


def test_metrics_without_partner() -> None:
    assert codes(launch(metrics_prof_stop, checks=COLLECT)) == ["ZERO_LENGTH"]

    def twice() -> None:
        metrics_prof_start()
        metrics_prof_start()
        metrics_prof_stop()

    machine = launch(twice, checks=COLLECT)
    assert codes(machine) == ["ZERO_LENGTH"]
    assert len(machine.totals()[0].regions) == 1


def test_flags_order_what_a_dump_shows(capsys: pytest.CaptureFixture[str]) -> None:
    """A dump shows what has been executed: here the copy stands at a flag that comes later."""
    data = np.full(8, 4, np.int32)

    def body(address: Any) -> None:
        tensor = ub(dt.int32, 0, 8)
        duplicate(tensor, 1, 8)
        wait_flag(HardEvent.V_MTE2, 0)
        data_copy(tensor, at(address), 8)
        dump_tensor(tensor, 0, 1)
        set_flag(HardEvent.V_MTE2, 0)
        dump_tensor(tensor, 0, 1)
        order(HardEvent.MTE2_V)

    launch(body, data)
    assert capsys.readouterr().out.splitlines()[1::2] == ["[1]", "[4]"]

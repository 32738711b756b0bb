"""Debugging on the device: printf, dumps of tensors, and a marked stretch of the timeline.

Text goes to standard output at once, each piece behind `[AIV Block 3/8] ` (kind, number and count of the cores of
that kind), in the order in which cores are simulated: by number, up to where one waits for another. A dump shows the
bytes as executed so far and is no access: it takes no part in race checks, gives no order and costs no time. (On the
device it drains all pipes and so may hide a missing wait.) Not here: switching output off.
Pages: printf, DumpTensor, DumpAccChkPoint, PrintTimeStamp, MetricsProfStart, MetricsProfStop.
"""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

import numpy as np

from ...hw.core import Core
from ...hw.errors import ArgumentTypeError, ArgumentValueError
from ...hw.findings import Site, author
from ..c_format import formatted
from ..core.dtype import DataType
from ..core.enums import TPosition
from ..core.global_tensor import GlobalTensor
from ..core.place import L1_POSITIONS, VECTOR_POSITIONS, index, report, running
from ..core.types import ShapeInfo
from ..forms import present, zero
from ..operand import aligned, local
from .sys_var import program_counter, ticks

OUTPUT_LIMIT = 30 * 1024  # bytes of one call; the device's default
DUMPED = VECTOR_POSITIONS | L1_POSITIONS | {TPosition.CO1}


def printf(desc: Any, *params: Any) -> None:
    """Print a text with numbers in it, as C does.

    Conversions: %d %i %u %x (also with l, ll), %f %F, %s (strings), %p, %%; as many parameters as conversions. Write a
    newline as backslash and n: the text goes into C source, where a line may not end inside it. Page: printf.
    """
    core = running("printf")
    text = formatted(desc, params)
    _limited(core, len(text.encode()), "printf", author(1))
    _write(core, text)


def _write(core: Core, text: str) -> None:
    device = core.device
    cores = device.blocks * (device.aiv if core.kind == "aiv" else device.aic)
    sys.stdout.write(f"[{core.kind.upper()} Block {core.index}/{cores}] {text}")


def _limited(core: Core, nbytes: int, operation: str, site: Site) -> None:
    if nbytes > OUTPUT_LIMIT:
        text = f"{nbytes} bytes are shown here; the device prints nothing of a call above {OUTPUT_LIMIT} bytes"
        report(core, "ZERO_LENGTH", text, site, operation)


# ------------------------------------------------------------------ tensors


class Dump(NamedTuple):
    """What is shown of a tensor."""

    values: np.ndarray
    dtype: DataType
    where: str
    address: int


def dump_tensor(tensor: Any, desc: Any, dump_size: Any, shape_info: Any = None) -> None:
    """Print the first `dump_size` elements of a tensor in UB, L1, L0C or global memory, under the number `desc`.

    With `shape_info` the elements stand in its shape: those that are missing as "-", those in excess left out.
    Faults: BAD_POSITION, MISALIGNED_ADDR, OOB_PHYS, OOB_GM; warning: OOB_BUF. Page: DumpTensor.
    """
    site = author(1)
    core = running("dump_tensor")
    shape: tuple[int, ...] = ()
    if shape_info is not None:
        if not isinstance(shape_info, ShapeInfo):
            raise ArgumentTypeError("dump_tensor", operand="shape_info", value=shape_info, rule="a ShapeInfo")
        shape = tuple(shape_info.key[0])
    dump = _dump(core, tensor, 0, dump_size, "dump_tensor", site)
    if dump is not None:
        _show(core, dump, _natural(desc, "dump_tensor", "desc"), shape)


def dump_acc_chk_point(tensor: Any, index: Any, count_off: Any, dump_size: Any) -> None:
    """Print `dump_size` elements of a tensor from element `count_off` on, under the number `index`.

    Faults as dump_tensor. Page: DumpAccChkPoint.
    """
    site = author(1)
    core = running("dump_acc_chk_point")
    offset = _natural(count_off, "dump_acc_chk_point", "count_off")
    dump = _dump(core, tensor, offset, dump_size, "dump_acc_chk_point", site)
    if dump is not None:
        _show(core, dump, _natural(index, "dump_acc_chk_point", "index"), ())


def _natural(number: Any, operation: str, operand: str) -> int:
    value = index(number, operation, operand)
    if not 0 <= value < 1 << 32:
        nearest = min(max(value, 0), (1 << 32) - 1)
        rule = "0 to 4294967295"
        raise ArgumentValueError(operation, operand=operand, value=value, rule=rule, nearest=nearest)
    return value


def _dump(core: Core, tensor: Any, offset: int, size: Any, operation: str, site: Site) -> Dump | None:
    """The elements to show; None where this kind of core has not got the memory, or there are none."""
    count = _natural(size, operation, "dump_size")
    make = _global if isinstance(tensor, GlobalTensor) else _local
    dump = make(core, tensor, offset, count, operation, site)
    if dump is None:
        return None
    if count == 0:
        zero(core, "dump_size", operation, site)
        return None
    _limited(core, dump.values.nbytes, operation, site)
    return dump


def _local(core: Core, tensor: Any, offset: int, count: int, operation: str, site: Site) -> Dump | None:
    where = local(core, tensor, "tensor", operation, site, DUMPED)
    if not present(core, where.memory, operation, site):
        return None
    where = where.offset(offset)
    aligned(core, where, "tensor", operation, site)
    memory, nbytes = where.memory, count * where.dtype.size
    assert memory is not None
    end = where.start + nbytes
    if end > memory.size:
        text = f"tensor would be read to byte {end} of {memory.name}, which has {memory.size}"
        report(core, "OOB_PHYS", text, site, operation)
    elif nbytes > where.nbytes:
        report(core, "OOB_BUF", f"{count} elements of a tensor of {where.origin()} are shown", site, operation)
    return Dump(where.array(count).copy(), where.dtype, memory.name, where.start)


def _global(core: Core, tensor: GlobalTensor, offset: int, count: int, operation: str, site: Site) -> Dump:
    window = tensor._set(operation)
    start = tensor.start + offset * window.size
    end = start + count * window.size
    array = window.array
    assert array is not None
    if end > array.nbytes:
        text = f"tensor would be read to byte {end} of argument {array.name!r}, which has {array.nbytes}"
        report(core, "OOB_GM", text, site, operation)
    elif end > window.end:
        report(core, "OOB_BUF", f"{count} elements from byte {start} of {window.origin()} are shown", site, operation)
    values = np.frombuffer(bytes(array.bytes(start, end)), window.dtype.np)
    return Dump(values, window.dtype, "GM", array.address + start)


def _show(core: Core, dump: Dump, number: int, shape: tuple[int, ...]) -> None:
    count = dump.values.size
    lines = [
        f"DumpTensor: desc={number}, addr={dump.address:#x}, data_type={dump.dtype}, position={dump.where}, "
        f"dump_size={count}"
    ]
    form = "%.6f" if dump.values.dtype.kind in "fV" else "%d"
    shown = [form % value for value in dump.values.tolist()]
    if not shape:
        lines.append(f"[{', '.join(shown)}]")
    else:
        room = int(np.prod(shape))
        if room != count:
            what = "data is not enough" if room > count else "dumpSize is greater than shapeSize"
            lines.append(f"shape is [{', '.join(map(str, shape))}], dumpSize is {count}, {what}.")
        lines.append(_nested(shown[:room] + ["-"] * (room - count), shape))
    _write(core, "\n".join(lines) + "\n")


def _nested(values: list[str], shape: tuple[int, ...]) -> str:
    if len(shape) == 1:
        return f"[{','.join(values)}]"
    part = len(values) // shape[0]
    rows = [_nested(values[first : first + part], shape[1:]) for first in range(0, len(values), part)]
    return "[" + ",\n".join(rows) + "]"


# ------------------------------------------------------------------ profiling


def print_time_stamp(desc_id: Any) -> None:
    """Print the time of this core under the number `desc_id`; 0 to 65535 are the vendor's own. Page: PrintTimeStamp.

    The time is that of get_system_cycle, the pcPtr that of get_program_counter; the kernel starts at 0. On the device a
    build without ASCENDC_TIME_STAMP_ON prints nothing.
    """
    core = running("print_time_stamp")
    number, frame = _natural(desc_id, "print_time_stamp", "desc_id"), sys._getframe(1)
    _write(
        core,
        f"descId is {number}, rsv is 0, timeStamp is {ticks(core)}, pcPtr is {program_counter(frame)}, entry is 0.\n",
    )


def metrics_prof_start() -> None:
    """From here to metrics_prof_stop the report marks the core's timeline as "metrics_prof". Page: MetricsProfStart."""
    core = running("metrics_prof_start")
    if "metrics_prof" in core.state:
        report(core, "ZERO_LENGTH", "has been called already: it does nothing", author(1), "metrics_prof_start")
        return
    core.state["metrics_prof"] = core.now
    core.at_end.append(lambda: _stop(core))


def metrics_prof_stop() -> None:
    """End of the marked stretch, which otherwise ends with the kernel. Page: MetricsProfStop."""
    core = running("metrics_prof_stop")
    if "metrics_prof" not in core.state:
        text = "there was no metrics_prof_start before it: it does nothing"
        report(core, "ZERO_LENGTH", text, author(1), "metrics_prof_stop")
    _stop(core)


def _stop(core: Core) -> None:
    start = core.state.pop("metrics_prof", None)
    if start is not None:
        core.regions.append(("metrics_prof", start, core.now))


__all__ = [
    "dump_acc_chk_point",
    "dump_tensor",
    "metrics_prof_start",
    "metrics_prof_stop",
    "print_time_stamp",
    "printf",
]

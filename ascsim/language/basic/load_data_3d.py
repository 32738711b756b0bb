"""load_data with image-to-column parameters, and the registers it uses. Pages: LoadData (3D), SetLoadDataBoundary,
SetLoadDataPaddingValue, SetLoadDataRepeat.

Rows and columns of a load beyond the column matrix are not written. Not simulated: a last block of channels that is
filled in part beside full ones (how it lies in L1 is not published), and LoadData3DParamsV1, which other chips have.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from ...hw.core import Core
from ...hw.errors import ArgumentTypeError, ArgumentValueError, NotSimulatedError
from ...hw.findings import Site
from ...hw.instruction import Plan
from ..columns import Columns, Map
from ..core.dtype import DataType, float32, int32
from ..core.enums import TPosition
from ..core.ir_value import PlainValue, unwrap, value
from ..core.limits import required
from ..core.place import Place, index, report, running
from ..core.tensor import LocalTensor
from ..core.types import LoadData3DParamsV2, LoadDataRepeatParam
from ..fractals import BLOCK, ROW, SIDE, ZN, ZZ, Fractals, align_up, c0_of, ceil_div
from ..plans import zero
from .load_operands import places

NAME = "load_data"
BOUNDARY_LEAST = 1024  # bytes
EXTENT_LIMIT = 32767  # of l1_h, l1_w, m_start_pt
STRIDE_LIMIT = 63
REPEAT = LoadDataRepeatParam()
# names of V2Pro's packed fields, from the lowest bits up: (name, bits)
EXTENSION = (("k_extension", 16), ("m_extension", 16), ("k_start_pt", 16), ("m_start_pt", 16))
WINDOW = tuple((name, 8) for name in "stride_w stride_h filter_w filter_h dilation_filter_w dilation_filter_h".split())


def set_load_data_padding_value(pad_value: Any) -> None:
    """The register that a load with LoadData3DParamsV2Pro pads with: the value's bits, of which a load takes as many as
    an element has (8-bit types: the value twice). A load with LoadData3DParamsV2 sets it to its own pad_value.

    Page: SetLoadDataPaddingValue.
    """
    core = running("set_load_data_padding_value")
    given = unwrap(pad_value)
    if not isinstance(given, (int, float)):
        raise ArgumentTypeError("set_load_data_padding_value", "is no number", operand="pad_value", value=given)
    own = pad_value.dtype if isinstance(pad_value, PlainValue) else float32 if isinstance(given, float) else int32
    core.state["load3d pad"] = _bits(pad_value, own)


def set_load_data_boundary(boundary: Any) -> None:
    """The byte of L1 at which image-to-column loads go on at byte 0: at least 1024; 0: none.

    Page: SetLoadDataBoundary.
    """
    name = "set_load_data_boundary"
    core = running(name)
    given = index(boundary, name, "boundary")
    if given and not BOUNDARY_LEAST <= given < 1 << 32:
        rule = f"0, or {BOUNDARY_LEAST} and more bytes"
        raise ArgumentValueError(
            name, "is undefined", operand="boundary", value=given, rule=rule, nearest=BOUNDARY_LEAST
        )
    if given % BLOCK:
        raise NotSimulatedError(name, f"boundary {given}: only multiples of {BLOCK} bytes, which no pixel straddles")
    core.state["load3d boundary"] = given


def set_load_data_repeat(param: Any) -> None:
    """How often an image-to-column load is repeated: repeat_time 0 to 255 (0: loads do nothing), repeat_stride along
    the rows (repeat_mode 0) in 16 rows, along the columns (1) in 32 bytes. The repeats together are one matrix.

    Page: SetLoadDataRepeat.
    """
    name = "set_load_data_repeat"
    core = running(name)
    if not isinstance(param, LoadDataRepeatParam):
        raise ArgumentTypeError(name, "is no LoadDataRepeatParam", operand="param", value=param)
    required(name, "repeat_mode", param.repeat_mode, 0, 1)
    core.state["load3d repeat"] = param


def _bits(given: Any, dtype: DataType) -> bytes:
    """The padding register for a number of a type: 8-bit types fill both of its low bytes."""
    raw = dtype.np.type(value(given, dtype, "pad_value").v).tobytes()
    return (raw * 2 if dtype.size == 1 else raw).ljust(4, b"\0")


_known_bits = lru_cache(maxsize=64)(_bits)  # of the integers that LoadData3DParamsV2 brings


def columns(core: Core, dst: Any, src: Any, params: Any, site: Site) -> None:
    """load_data with LoadData3DParamsV2, or with LoadData3DParamsV2Pro: packed fields, and registers as they are."""
    plan = None
    if isinstance(dst, LocalTensor) and isinstance(src, LocalTensor):
        _registers(core, dst.place.dtype, params)
        plan = dst.place.plans.get(_key(core, src.place, params))
    if plan is None:
        found = places(core, NAME, dst, src, site)
        if found is None:
            return
        _registers(core, found[0].dtype, params)
        plan = _load(core, *found, params, site)
    if plan is not None:
        core.issue(plan, site)


def _registers(core: Core, dtype: DataType, params: Any) -> None:
    """LoadData3DParamsV2 sets the registers of the feature map and of the padding."""
    if params.__class__ is LoadData3DParamsV2:
        core.state["load3d map"] = (params.l1_h, params.l1_w, params.pad_list)
        core.state["load3d pad"] = _known_bits(params.pad_value, dtype)


def _key(core: Core, source: Place, params: Any) -> tuple[Any, ...]:
    """Everything that a plan depends on, of one destination."""
    state = core.state
    registers = [state.get(f"load3d {name}") for name in ("map", "pad", "boundary")]
    repeat: LoadDataRepeatParam = state.get("load3d repeat", REPEAT)
    return (NAME, source, params.__class__, params.key, *registers, repeat.key)


def _fields(params: Any) -> dict[str, int]:
    """The fields of either structure."""
    if params.__class__ is LoadData3DParamsV2:
        names = ("channel_size", "en_transpose", "f_matrix_ctrl", *(name for name, _ in (*EXTENSION, *WINDOW)))
        fields = {name: int(getattr(params, name)) for name in names}
    else:
        if params.en_small_k:
            raise NotSimulatedError(NAME, "en_small_k exists on other chips only")
        fields = {name: int(getattr(params, name)) for name in ("channel_size", "en_transpose", "f_matrix_ctrl")}
        for word, names_ in ((params.ext_config, EXTENSION), (params.filter_config, WINDOW)):
            for name, bits in names_:
                fields[name] = word & ((1 << bits) - 1)
                word >>= bits
    fields["filter_w"] += 256 * params.filter_size_w
    fields["filter_h"] += 256 * params.filter_size_h
    return fields


def _load(core: Core, to: Place, source: Place, params: Any, site: Site) -> Plan | None:
    """The plan of a load, remembered; None where there is nothing to do."""
    state = core.state
    if "load3d map" not in state:
        rule = "a load with LoadData3DParamsV2 sets it"
        raise ArgumentValueError(NAME, "no feature map has been set", operand="params", value=params, rule=rule)
    fields = _fields(params)
    height, width, pads = state["load3d map"]
    repeat: LoadDataRepeatParam = state.get("load3d repeat", REPEAT)
    nothing = {**fields, "l1_h": height, "l1_w": width, "repeat_time": repeat.repeat_time}
    for name in ("l1_h", "l1_w", "channel_size", "k_extension", "m_extension", "filter_w", "filter_h", "repeat_time"):
        if not nothing[name]:
            zero(core, name, NAME, site)
            return None
    _legal(core, to, fields, height, width, site)
    window = [(fields[f"{name}_w"], fields[f"{name}_h"]) for name in ("stride", "filter", "dilation_filter")]
    map_ = Map(height, width, pads, fields["channel_size"], *window)
    wrap, pad = state.get("load3d boundary", 0), state.get("load3d pad", bytes(4))
    plan: Plan = to.keep(_key(core, source, params), _plan(core, to, source, map_, fields, repeat, wrap, pad, site))
    return plan


def _legal(core: Core, to: Place, fields: dict[str, int], height: int, width: int, site: Site) -> None:
    """The rules of the page for the fields and the element type."""
    size, c0 = to.dtype.size, c0_of(to.dtype)
    if size == 1 and (to.position is TPosition.B2 or fields["en_transpose"]):
        text = f"dst has type {to.dtype}; rule: a type of 16 or 32 bits where the load transposes, as all to L0B do"
        report(core, "BAD_DTYPE", text, site, NAME)
    for name, given in (("l1_h", height), ("l1_w", width), ("m_start_pt", fields["m_start_pt"])):
        required(NAME, name, given, 0, EXTENT_LIMIT)
    for name in ("stride_w", "stride_h"):
        required(NAME, name, fields[name], 1, STRIDE_LIMIT)
    for name in ("dilation_filter_w", "dilation_filter_h"):
        required(NAME, name, fields[name], 1, 255)
    if fields["k_start_pt"] % c0:
        nearest = fields["k_start_pt"] // c0 * c0
        rule = f"a multiple of {c0} for {to.dtype}"
        raise ArgumentValueError(
            NAME, "is unaligned", operand="k_start_pt", value=fields["k_start_pt"], rule=rule, nearest=nearest
        )
    if fields["f_matrix_ctrl"]:
        raise ArgumentValueError(NAME, "is reserved", operand="f_matrix_ctrl", value=True, rule="False", nearest=False)
    channels = fields["channel_size"]
    rest = channels % c0
    legal = [rest_ for rest_ in (4, 8, 16) if rest_ < c0]
    if rest not in (0, *legal):
        rule = f"a multiple of {c0}, or that and {' or '.join(map(str, legal))}"
        raise ArgumentValueError(
            NAME, "is illegal", operand="channel_size", value=channels, rule=rule, nearest=channels // c0 * c0 or c0
        )
    if rest and channels > c0:
        raise NotSimulatedError(
            NAME, f"channel_size {channels}: how a last block of {rest} lies in L1 is not published"
        )


def _plan(
    core: Core,
    to: Place,
    source: Place,
    map_: Map,
    fields: dict[str, int],
    repeat: LoadDataRepeatParam,
    wrap: int,
    pad: bytes,
    site: Site,
) -> Plan:
    wide, high = map_.windows
    if wide < 1 or high < 1:
        rule = "the dilated filter fits the padded feature map"
        raise ArgumentValueError(NAME, "leaves no window", operand="filter", value=map_.filter, rule=rule)
    dtype, c0 = to.dtype, c0_of(to.dtype)
    rows, columns = (
        _axis(fields[f"{axis}_start_pt"], fields[f"{axis}_extension"], repeat, mode, step)
        for axis, mode, step in (("m", 0, SIDE), ("k", 1, c0))
    )
    shape = len(rows), len(columns)
    points = map_.filter[0] * map_.filter[1]
    _whole_fractals(fields, "m", SIDE if dtype.size < 4 else 1, wide * high)
    _whole_fractals(fields, "k", c0, points * map_.channels)
    rows, columns = rows[rows < wide * high], columns[columns < points * map_.channels]
    if not len(rows) or not len(columns) or (repeat.repeat_time > 1 and (len(rows), len(columns)) != shape):
        names = ("repeat_time",) if repeat.repeat_time > 1 else ("m_start_pt", "k_start_pt")
        given = tuple(fields.get(name, repeat.repeat_time) for name in names)
        rule = f"the column matrix has {wide * high} rows and {points * map_.channels} columns"
        raise ArgumentValueError(NAME, "reaches beyond it", operand=", ".join(names), value=given, rule=rule)
    if wrap and source.start >= wrap:
        rule = f"a byte of L1 below {wrap}, the boundary that set_load_data_boundary set"
        raise ArgumentValueError(NAME, "starts beyond the boundary", operand="src", value=source.start, rule=rule)
    seen = Columns(map_, source.start, dtype.size, rows, columns, wrap)
    turned = to.position is TPosition.A2 and bool(fields["en_transpose"])
    target = _target(to, len(rows), len(columns), shape, turned)
    write = to.region(target.pieces(), "dst", NAME, site)
    pieces = seen.pieces()
    assert source.memory is not None
    read = (source.region(pieces, "src", NAME, site),) if pieces else ()
    run = _Move(target, seen, write.memory.bytes, source.memory.bytes, pad[: dtype.size], turned)
    carry = _Move(target, seen, write.memory.defined, source.memory.defined, b"\1" * dtype.size, turned)
    cost = core.device.cost
    slower = cost.windows(write.memory.name, map_.strides[0], map_.filter[1])
    cycles = cost.load_l0(write.memory.name, shape[0] * shape[1] * dtype.size, slower)
    return Plan(NAME, core.pipes["MTE1"], read, (write,), run, cycles, carry=carry)


def _whole_fractals(fields: dict[str, int], axis: str, step: int, end: int) -> None:
    """An extension covers whole fractals, unless it reaches into the last one of the column matrix."""
    given, name = fields[f"{axis}_extension"], f"{axis}_extension"
    if given % step and fields[f"{axis}_start_pt"] + given <= (ceil_div(end, step) - 1) * step:
        rule = f"a multiple of {step} where it does not reach the last fractal (the column matrix ends at {end})"
        raise ArgumentValueError(NAME, operand=name, value=given, rule=rule, nearest=align_up(given, step))


def _axis(start: int, extension: int, repeat: LoadDataRepeatParam, mode: int, step: int) -> np.ndarray:
    """Numbers of the rows or columns that a load takes, its repeats one after the other."""
    once = start + np.arange(extension)
    if repeat.repeat_mode != mode or repeat.repeat_time == 1:
        return once
    if extension % step:
        name = "mk"[mode] + "_extension"
        rule = f"a multiple of {step} where the load repeats along it"
        raise ArgumentValueError(NAME, operand=name, value=extension, rule=rule, nearest=align_up(extension, step))
    return (np.arange(repeat.repeat_time)[:, None] * repeat.repeat_stride * step + once).reshape(-1)


def _target(to: Place, rows: int, columns: int, whole: tuple[int, int], turned: bool) -> Fractals:
    """Where the matrix goes: to L0A as (rows, columns) or turned, to L0B as (rows, columns) in ZN."""
    c0 = c0_of(to.dtype)
    if to.position is TPosition.B2:
        pitch = align_up(whole[1], SIDE) * c0 * to.dtype.size
        return Fractals(to.start, to.dtype, rows, columns, ZN, pitch=pitch)
    if turned:
        pitch = align_up(whole[0], SIDE) * SIDE * to.dtype.size
        return Fractals(to.start, to.dtype, columns, rows, ZZ, pitch=pitch)
    return Fractals(to.start, to.dtype, rows, columns, ZZ, pitch=align_up(whole[1], c0) * SIDE * to.dtype.size)


class _Move:
    """Writes the column matrix to its rectangles of fractals, in bytes or definedness.

    Units of 32 bytes stay together where nothing is turned and every row of a fractal is full; else elements move.
    """

    __slots__ = ("_kind", "_read", "_rectangles", "_turned")

    def __init__(
        self, target: Fractals, seen: Columns, to: np.ndarray, source: np.ndarray, fill: bytes, turned: bool
    ) -> None:
        self._read, self._turned, self._kind = seen.reader(source, fill), turned, f"u{seen.size}"
        full = seen.unit == BLOCK and target.columns == seen.pixels.shape[1] * target.fractal[1]
        if full and not turned and target.fractal[0] == SIDE and target.strides[1] == BLOCK:
            self._kind = ROW
        self._rectangles = target.rectangles(to, self._kind)

    def __call__(self) -> None:
        matrix = self._read()
        if self._kind[0] == "u":
            matrix = np.ascontiguousarray(matrix).view(self._kind)
            if self._turned:
                matrix = matrix.T
        for rows, columns, view in self._rectangles:
            view[...] = matrix[rows, columns].reshape(view.shape)


__all__ = ["set_load_data_boundary", "set_load_data_padding_value", "set_load_data_repeat"]

"""What a call of each family of the API costs beside `add`: one row a family, in a steady loop.

    python benchmarks/families.py [name ...]

A figure is the time of a call less the time of the bare numpy statement for the same values, over the time of `add`
on operands of as many bytes. A figure over its budget (2, where the row names no other) is marked and makes the exit
code 1; the reason for another one stands in docs/support.md. Operands have 8 KiB, 2048 float32; the checks are the
default ones. `overhead.py` has the same rows among its own.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import ascsim as asc
from ascsim.hw.device import Device
from ascsim.hw.soc import soc
from ascsim.language.core.place import running

BYTES = 8192  # of an operand
ROUNDS, CALLS = 80, 25
AIV = 0  # kernel type


class Row(NamedTuple):
    """A family: a call of it, the numpy statement of the same work, and the most that the difference may be."""

    name: str
    call: str
    bare: str
    budget: float = 2.0
    before: str = "None"  # once, before the loop


ROWS = (
    Row(
        "binary",
        "asc.add(f0, f1, f2, 2048)",
        "np.add(F1, F2, F0)",
    ),
    Row(
        "binary, mask and repeats",
        "asc.add(f0, f1, f2, 64, 32, BINARY)",
        "np.add(F1, F2, F0)",
    ),
    Row(
        "binary that reads dst",
        "asc.mul_add_dst(f0, f1, f2, 2048)",
        "np.add(F1 * F2, F0, F0)",
    ),
    Row(
        "max",
        "asc.max(f0, f1, f2, 2048)",
        "np.maximum(F1, F2, F0)",
        2.5,
    ),
    Row(
        "unary",
        "asc.abs(f0, f1, 2048)",
        "np.abs(F1, F0)",
    ),
    Row(
        "unary, relu",
        "asc.relu(f0, f1, 2048)",
        "np.maximum(F1, 0, F0)",
    ),
    Row(
        "exp",
        "asc.exp(f0, f1, 2048)",
        "F0[:] = np.exp(F1.astype(np.float64))",
    ),
    Row(
        "tensor and scalar",
        "asc.adds(f0, f1, 2.0, 2048)",
        "np.add(F1, TWO, F0)",
    ),
    Row(
        "shift",
        "asc.shift_left(i0, i1, 2, 2048)",
        "np.left_shift(I1, 2, I0)",
        3,
    ),
    Row(
        "duplicate",
        "asc.duplicate(f0, 2.0, 2048)",
        "F0[:] = 2.0",
    ),
    Row(
        "axpy",
        "asc.axpy(f0, f1, 2.0, 2048)",
        "np.add(F1 * TWO, F0, F0)",
    ),
    Row(
        "cast, wider",
        "asc.cast(f0, h1, asc.RoundMode.CAST_NONE, 2048)",
        "F0[:] = H1[:2048]",
    ),
    Row(
        "cast, narrower",
        "asc.cast(h0, f1, asc.RoundMode.CAST_RINT, 2048)",
        "H0[:2048] = F1",
    ),
    Row(
        "cast to integers",
        "asc.cast(i0, f1, asc.RoundMode.CAST_RINT, 2048)",
        "I0[:] = np.clip(np.rint(F1), LOW, HIGH)",
    ),
    Row(
        "cast of integers",
        "asc.cast(f0, i1, asc.RoundMode.CAST_RINT, 2048)",
        "F0[:] = I1",
    ),
    Row(
        "add_relu_cast",
        "asc.add_relu_cast(h0, f1, f2, 2048)",
        "H0[:2048] = np.maximum(F1 + F2, 0)",
    ),
    Row(
        "compare",
        "asc.compare(y0, f1, f2, asc.CMPMODE.LT, 2048)",
        "Y0[:256] = np.packbits(F1 < F2, bitorder='little')",
    ),
    Row(
        "compare_scalar",
        "asc.compare_scalar(y0, f1, 2.0, asc.CMPMODE.LT, 2048)",
        "Y0[:256] = np.packbits(F1 < TWO, bitorder='little')",
    ),
    Row(
        "select, tensors",
        "asc.select(f0, y1, f2, f3, asc.SelMode.VSEL_TENSOR_TENSOR_MODE, 2048)",
        "F0[:] = np.where(np.unpackbits(Y1[:256], bitorder='little').view(np.bool_), F2, F3)",
        2.5,
    ),
    Row(
        "select, number",
        "asc.select(f0, y1, f2, 2.0, asc.SelMode.VSEL_TENSOR_SCALAR_MODE, 2048)",
        "F0[:] = np.where(np.unpackbits(Y1[:256], bitorder='little').view(np.bool_), F2, TWO)",
        3.3,
    ),
    Row(
        "whole_reduce_sum",
        "asc.whole_reduce_sum(f0, f1, 64, 32, 1, 1, 8)",
        "F0[:32] = TREE(F1.reshape(32, 64))",
    ),
    Row(
        "whole_reduce_max",
        "asc.whole_reduce_max(f0, f1, 64, 32, 1, 1, 8)",
        "M = F1.reshape(32, 64); A = M.argmax(1); F0[:64:2] = M[ROWS, A]; F0.view(np.uint32)[1:65:2] = A",
        4,
    ),
    Row(
        "block_reduce_sum",
        "asc.block_reduce_sum(f0, f1, 32, 64, 1, 1, 8)",
        "F0[:256] = TREE(F1.reshape(256, 8))",
    ),
    Row(
        "pair_reduce_sum",
        "asc.pair_reduce_sum(f0, f1, 32, 64, 1, 1, 8)",
        "np.add(F1[::2], F1[1::2], F0[:1024])",
        3,
    ),
    Row(
        "reduce_sum",
        "asc.reduce_sum(f0, f1, f3, 2048)",
        "F0[0] = TREE(F1.reshape(32, 64)).cumsum()[-1]",
        3,
    ),
    Row(
        "reduce_max",
        "asc.reduce_max(f0, f1, f3, 2048, True)",
        "A = F1.argmax(); F0[0] = F1[A]; F0.view(np.uint32)[1] = A",
        5.5,
    ),
    Row(
        "gather",
        "asc.gather(f0, f1, u2, 0, 2048)",
        "np.take(F1, U2 // 4, out=F0)",
    ),
    Row(
        "gatherb",
        "asc.gatherb(u0, u1, u2, 32, BLOCKS)",
        "np.take(U1.reshape(256, 8), U2[:256] // 32, 0, out=U0.reshape(256, 8))",
    ),
    Row(
        "gather_mask",
        "asc.gather_mask(f0, f1, 1, False, 0, GATHERING)",
        "F0[:1024] = F1[::2]",
        4,
    ),
    Row(
        "brcb",
        "asc.brcb(f0, f1, 32, FILLING)",
        "F0.reshape(256, 8)[:] = F1[:256, None]",
    ),
    Row(
        "copy",
        "asc.copy(f0, f1, 64, 32, COPYING)",
        "F0[:] = F1",
    ),
    Row(
        "transpose",
        "asc.transpose(h0, h1)",
        "H0[:256].reshape(16, 16)[:] = H1[:256].reshape(16, 16).T",
    ),
    Row(
        "trans_data_to_5hd",
        "asc.trans_data_to_5hd(LIST0, LIST1, HALVES)",
        "H0.reshape(16, 16, 16)[:] = H1.reshape(16, 16, 16).transpose(2, 1, 0)",
        2.5,
    ),
    Row(
        "sort32",
        "asc.sort32(f0, f1, u2, 32)",
        "O = np.argsort(-F1[:1024].reshape(32, 32), 1, 'stable'); "
        "np.take_along_axis(F1[:1024].reshape(32, 32), O, 1); "
        "np.take_along_axis(U2[:1024].reshape(32, 32), O, 1)",
    ),
    Row(
        "mrg_sort",
        "asc.mrg_sort(f0, LISTS, MERGING)",
        "O = np.argsort(-F1[::2], kind='stable'); F0.view(np.uint64)[:] = F1.view(np.uint64)[O]",
        5,
    ),
    Row(
        "data_copy, UB to UB",
        "asc.data_copy(f0, f1, 2048)",
        "F0[:] = F1",
    ),
    Row(
        "data_copy, GM to UB, barrier",
        "asc.data_copy(f3, g, 2048); asc.pipe_barrier(MTE2)",
        "F0[:] = G",
        2.5,
    ),
    Row(
        "data_copy, strided, barrier",
        "asc.data_copy(f3, g, STRIDED); asc.pipe_barrier(MTE2)",
        "F0[:1024].reshape(16, 64)[:] = G.reshape(16, 128)[:, :64]",
        3,
    ),
    Row(
        "data_copy_pad, barrier",
        "asc.data_copy_pad(f3, g, PADDED, PADDING); asc.pipe_barrier(MTE2)",
        "F0[:2048].reshape(16, 128)[:, :125] = G[:2000].reshape(16, 125)",
        4,
    ),
    Row(
        "data_copy_pad, back, barrier",
        "asc.data_copy_pad(g, f3, PADDED); asc.pipe_barrier(asc.PipeID.PIPE_MTE3)",
        "G[:2000].reshape(16, 125)[:] = F0.reshape(16, 128)[:, :125]",
        7,
    ),
    Row(
        "set_flag and wait_flag",
        "asc.set_flag(EVENT, 0); asc.wait_flag(EVENT, 0)",
        "None",
    ),
    Row(
        "pipe_barrier",
        "asc.pipe_barrier(asc.PipeID.PIPE_V)",
        "None",
    ),
    Row(
        "adv, one source",
        "asc.adv.tanh(f0, f1, 2048, temp)",
        "F0[:] = np.tanh(F1.astype(np.float64))",
        5,
    ),
    Row(
        "adv, exact",
        "asc.adv.floor(f0, f1, 2048, temp)",
        "np.floor(F1, F0)",
        3.5,
    ),
    Row(
        "adv.axpy",
        "asc.adv.axpy(f0, f1, 2.0, 2048, temp)",
        "np.add(F1 * TWO, F0, F0)",
        4,
    ),
    Row(
        "adv.quant",
        "asc.adv.quant(c0, f1, 1.0, 0.0, 2048, temp)",
        "C0[:2048] = np.clip(np.rint(F1.astype(np.float16) * np.float16(1) + np.float16(0)), -128, 127)",
    ),
    Row(
        "adv.softmax",
        "asc.adv.softmax(f0, f2, f3, f1, SOFT, temp)",
        "M = F1.reshape(32, 64); "
        "E = np.exp((M - M.max(1, keepdims=True)).astype(np.float64)).astype(np.float32); "
        "S = TREE(E)[:, None]; "
        "F0.reshape(32, 64)[:] = E / S",
        11,
        before="f1.set_shape_info(asc.ShapeInfo(SHAPE)); f0.set_shape_info(asc.ShapeInfo(SHAPE))",
    ),
)


def tree(rows: Any) -> Any:
    """Sums of rows as binary trees over neighbours."""
    while rows.shape[1] > 1:
        rows = rows[:, ::2] + rows[:, 1::2]
    return rows[:, 0]


SLOTS = {"f": ("float32", 0, 4), "h": ("float16", 4, 2), "i": ("int32", 6, 2), "u": ("uint32", 8, 3)}
SLOTS |= {"y": ("uint8", 11, 2), "c": ("int8", 13, 1)}  # letter: element type, first of the 8 KiB of UB, how many
SCRATCH = 14  # its first 8 KiB
PARAMS = """
BINARY = asc.BinaryRepeatParams()
BLOCKS = asc.GatherRepeatParams(1, 8)
GATHERING = asc.GatherMaskParams(1, 32, 8, 0)
FILLING = asc.BrcbRepeatParams(1, 8)
COPYING = asc.CopyRepeatParams(1, 1, 8, 8)
HALVES = asc.TransDataTo5HDParams(False, False, 16, 1, 16)
LIST0 = [h0[256 * k] for k in range(16)]
LIST1 = [h1[16 * k] for k in range(16)]
LISTS = asc.MrgSortSrcList(asc.float32, f1[0], f1[512], f1[1024], f1[1536])
MERGING = asc.MrgSort4Info([256, 256, 256, 256], False, 15, 1)
STRIDED = asc.DataCopyParams(16, 8, 8, 0)
PADDED = asc.DataCopyExtParams(16, 500, 0, 0, 0)
PADDING = asc.DataCopyPadExtParams(asc.float32, False, 0, 0, 0.0)
MTE2 = asc.PipeID.PIPE_MTE2
EVENT = asc.HardEvent.V_MTE3
SHAPE = asc.array(asc.uint32, [32, 64])
SOFT = asc.adv.SoftmaxTiling()
"""


def fill(space: dict[str, Any], address: Any) -> None:
    """What calls and statements mention: tensors in small letters, arrays of the same contents in capitals."""
    rng = np.random.default_rng(1)
    memory = running("benchmark").memories["UB"]
    memory.defined[: 20 * BYTES] = True
    memory.high = 20 * BYTES
    for letter, (dtype, first, many) in SLOTS.items():
        for n in range(many):
            array = rng.integers(-50, 50, BYTES // np.dtype(dtype).itemsize).astype(dtype)
            if letter == "u":
                array = rng.permutation(array.size).astype(dtype) * 4
                array[:256] = rng.permutation(256) * 32
            start = (first + n) * BYTES
            memory.bytes[start : start + BYTES] = array.view(np.uint8)
            space[f"{letter}{n}"] = asc.LocalTensor(
                getattr(asc, dtype), asc.TPosition.VECCALC, start, BYTES // array.itemsize
            )
            space[f"{letter.upper()}{n}"] = array
    space["temp"] = asc.LocalTensor(asc.uint8, asc.TPosition.VECCALC, SCRATCH * BYTES, 6 * BYTES)
    space["g"] = asc.GlobalTensor()
    space["g"].set_global_buffer(address, BYTES // 4)
    space |= {"G": np.ones(BYTES // 4, np.float32), "TREE": tree, "TWO": np.float32(2), "ROWS": np.arange(32)}
    space |= {"LOW": np.float32(-(2.0**31)), "HIGH": np.float32(2.0**31 - 128), "asc": asc, "np": np}
    exec(PARAMS, space)


def loop(text: str, space: dict[str, Any]) -> Callable[[], object]:
    """A function that runs a statement CALLS times."""
    local: dict[str, Any] = {}
    exec(f"def steady():\n    for _ in range({CALLS}):\n        {text}\n", space, local)
    steady: Callable[[], object] = local["steady"]
    return steady


def best(*work: Callable[[], object]) -> list[float]:
    """The least time of each piece of work in microseconds a call; the pieces take turns."""
    times: list[list[float]] = [[] for _ in work]
    for _ in range(ROUNDS):
        for one, seconds in zip(work, times, strict=True):
            start = perf_counter()
            one()
            seconds.append(perf_counter() - start)
    return [min(seconds) / CALLS * 1e6 for seconds in times]


def measure(row: Row) -> tuple[float, float, float]:
    """Microseconds of a call of the row, of its bare statement, and of `add`, in one kernel."""
    found: list[float] = []

    def body(address: Any) -> None:
        space: dict[str, Any] = {}
        fill(space, address)
        exec(row.before, space)
        found.extend(best(*(loop(text, space) for text in (row.call, row.bare, ROWS[0].call))))

    device = Device(soc("Ascend910B1"), AIV, 1, checks=asc.Checks())
    raw = memoryview(np.ones(BYTES, np.uint8))
    address = asc.GlobalAddress(device.argument("g", raw), 0, asc.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        device.run(lambda: body(address))
    call, bare, add = found
    return call, bare, add


def figure(call: float, bare: float, add: float) -> float:
    """What a call costs beyond its numpy work, in calls of `add`."""
    return (call - bare) / add


def main(names: list[str]) -> int:
    over = 0
    print(f"{'':28}{'call us':>10}{'numpy us':>10}{'figure':>10}{'budget':>10}")
    for row in ROWS:
        if names and not any(name in row.name for name in names):
            continue
        call, bare, add = measure(row)
        cost = figure(call, bare, add)
        over += cost > row.budget
        mark = "  OVER" if cost > row.budget else ""
        print(f"{row.name:28}{call:10.2f}{bare:10.2f}{cost:10.2f}{row.budget:10g}{mark}", flush=True)
    print(f"{over} over budget" if over else "all within budget")
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

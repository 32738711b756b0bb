"""Reports of bytes past a tensor name the tensor, its size and range, and the line that made it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ascsim as asc
from ascsim.testing import find_hazards

T = asc.TPosition
HERE = Path(__file__)


def at(mark: str) -> str:
    """`file.py:12`: the line of this file that ends in `# mark`."""
    lines = HERE.read_text(encoding="utf-8").splitlines()
    (found,) = [i for i, text in enumerate(lines, 1) if text.endswith(f"# {mark}")]
    return f"{HERE.name}:{found}"


@asc.jit
def whole(x: asc.GlobalAddress) -> None:
    t = asc.LocalTensor(asc.float32, T.VECIN, 0, 64)  # whole
    asc.duplicate(t, 1.0, 65)


@asc.jit
def view(x: asc.GlobalAddress) -> None:
    asc.LocalTensor(asc.float32, T.VECIN, 0, 32)
    t = asc.LocalTensor(asc.float32, T.VECIN, 0, 64)  # viewed
    asc.duplicate(t[8:].reinterpret_cast(asc.int16), 1, 128)


@asc.jit
def shorter(x: asc.GlobalAddress) -> None:
    t = asc.LocalTensor(asc.float32, T.VECIN, 0, 64)
    t.set_size(16)  # shorter
    asc.duplicate(t, 1.0, 24)


@asc.jit
def allocated(x: asc.GlobalAddress) -> None:
    memory = asc.LocalMemAllocator()
    memory.alloc(T.VECIN, asc.float32, 64)
    t = memory.alloc(T.VECIN, asc.float32, 10)  # allocated
    asc.duplicate(t, 1.0, 16)


@asc.jit
def queued(x: asc.GlobalAddress) -> None:
    pipe, que = asc.TPipe(), asc.TQue(T.VECIN, 1)
    pipe.init_buffer(que, 2, 256)  # queued
    t = que.alloc_tensor(asc.float32)
    asc.duplicate(t, 1.0, 72)
    que.free_tensor(t)


@asc.jit
def part(x: asc.GlobalAddress) -> None:
    pipe, buf = asc.TPipe(), asc.TBuf(T.VECCALC)
    pipe.init_buffer(buf, 256)  # part of
    t = buf.get(asc.float32, 32)  # part
    asc.duplicate(t, 1.0, 40)


@asc.jit
def two_lines(x: asc.GlobalAddress) -> None:
    asc.LocalTensor(asc.float32, T.VECIN, 0, 64)  # first of two
    t = asc.LocalTensor(asc.float32, T.VECIN, 0, 64)  # second of two
    t.set_value(64, 1.0)


@asc.jit
def looped(x: asc.GlobalAddress) -> None:
    t = asc.LocalTensor(asc.float32, T.VECIN, 0, 64)  # looped
    for i in asc.range(4):
        asc.data_copy(t[i * 16 :], t, 24)
        asc.pipe_barrier(asc.PipeID.PIPE_V)


@asc.jit
def declared(x: asc.GlobalAddress) -> None:
    g = asc.GlobalTensor()
    g.set_global_buffer(x, 32)  # declared
    asc.data_copy(asc.LocalTensor(asc.float32, T.VECIN, 0, 64), g[8:], 32)


@asc.jit
def physical(x: asc.GlobalAddress) -> None:
    t = asc.LocalTensor(asc.float32, T.VECIN, 196608 - 128, 64)  # physical
    asc.duplicate(t, 1.0, 64)


CASES: list[tuple[Any, str, str, str]] = [  # kernel, bytes past the tensor, the tensor, lines that the text names
    (whole, "4", "64 elements of float32, bytes [0:256) of UB, made at {})", "whole"),
    (view, "32", "112 elements of int16, bytes [32:256) of UB, made at {})", "viewed"),
    (shorter, "32", "16 elements of float32, bytes [0:64) of UB, made at {})", "shorter"),
    (allocated, "24", "10 elements of float32, bytes [256:296) of UB, made at {})", "allocated"),
    (queued, "32", "64 elements of float32, bytes [0:256) of UB, of que (VECIN), init_buffer at {})", "queued"),
    (
        part,
        "32",
        "32 elements of float32, bytes [0:128) of UB, made at {}, of buf (VECCALC), init_buffer at {})",
        "part|part of",
    ),
    (
        looped,
        "32",
        "16 elements of float32, bytes [192:256) of UB, made at {}), in turn 3 of its loop",
        "looped",
    ),
    (declared, "32", "argument 'x' up to byte 128, declared by set_global_buffer at {})", "declared"),
]


@pytest.mark.parametrize(("kernel", "past", "tensor", "lines"), CASES)
def test_past_a_tensor(kernel: Any, past: str, tensor: str, lines: str) -> None:
    (found,) = [hazard for hazard in find_hazards(kernel, 1, np.zeros(64, np.float32)) if hazard.code == "OOB_BUF"]
    assert f"{past} bytes past its tensor (" + tensor.format(*map(at, lines.split("|"))) in found.text


def test_an_element_past_a_tensor_that_two_lines_make() -> None:
    (found,) = find_hazards(two_lines, 1, np.zeros(64, np.float32))
    says = (
        "index = 64; rule: 0 to 63, the elements of the tensor; nearest legal value: 63; tensor: 64 elements of float32"
    )
    lines = f"bytes [0:256) of UB, made at {at('first of two')} or {at('second of two')}"
    assert f"{says}, {lines}" in found.text


def test_past_a_memory() -> None:
    says = (
        "duplicate: dst touches UB bytes [196480:196736), 128 bytes past the end of UB (196608 bytes); its tensor: "
        f"64 elements of float32, bytes [196480:196736) of UB, made at {at('physical')}"
    )
    with pytest.raises(asc.MemoryFault, match="OOB_PHYS") as raised:
        physical[1](np.zeros(64, np.float32))
    assert says in str(raised.value)


def test_a_line_of_an_earlier_launch_is_not_named() -> None:
    """Cores and places outlive a launch; the lines do not."""

    @asc.jit
    def kernel(x: asc.GlobalAddress, first: asc.ConstExpr[bool]) -> None:
        t = asc.LocalTensor(asc.float32, T.VECIN, 0, 64)  # always
        if first:
            t = asc.LocalTensor(asc.float32, T.VECIN, 0, 64)  # at first
        asc.duplicate(t, 1.0, 65)

    def text(first: bool) -> str:
        (found,) = find_hazards(kernel, 1, np.zeros(64, np.float32), first)
        return found.text

    assert f"made at {at('always')} or {at('at first')})" in text(True)
    assert f"made at {at('always')})" in text(False)

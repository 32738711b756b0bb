"""Scratch of element-wise mathematics: how much, whose, what it leaves undefined, what it must keep clear of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from adv_machine import COLLECT, DST, END, OTHER, SRC, TEMP, run, scratch
from basic_machine import codes, launch, ub

from ascsim.hw.errors import ArgumentValueError, MemoryFault
from ascsim.language import adv
from ascsim.language.basic import adds, duplicate
from ascsim.language.core import TPosition
from ascsim.language.core import dtype as dt
from ascsim.language.fwk import TBuf, TPipe

# Least bytes of scratch, (half, float): what the vendor's tiling functions give.
LEAST = {
    "acos": (1536, 512), "acosh": (512, 256), "asin": (1536, 512), "asinh": (768, 768), "atan": (3072, 1280),
    "atanh": (1024, 256), "ceil": (512, 256), "cos": (2048, 768), "cosh": (1536, 512), "digamma": (4096, 1792),
    "erf": (2048, 768), "erfc": (4096, 1792), "exp": (1024, 768), "floor": (512, 0), "frac": (1024, 0),
    "lgamma": (6656, 2048), "log": (0, 0), "power": (2048, 1280), "round": (256, 0), "sign": (768, 768),
    "sin": (2048, 768), "sinh": (1024, 256), "tan": (2560, 1024), "tanh": (1024, 256), "trunc": (512, 256),
    "axpy": (1024, 0),
}  # fmt: skip


def anyhow(name: str, kind: dt.DataType, temp: Any, **more: Any) -> Callable[[], Any]:
    """A call of any of the functions, on 8 elements."""
    second = {"power": (ub, kind, OTHER), "axpy": (float, 2)}.get(name)
    last = {"count": 8, **({"taylor_expand_level": 2} if name == "exp" else {}), **more}

    def call() -> None:
        between = () if second is None else (second[0](*second[1:]),)
        getattr(adv, name)(ub(kind, DST), ub(kind, SRC), *between, temp_buffer=temp(), **last)

    return call


@pytest.mark.parametrize("name", LEAST)
def test_scratch_has_a_least_size(name: str) -> None:
    image = (SRC, np.ones(END // 2, np.float16))
    for kind, least in zip((dt.float16, dt.float32), LEAST[name], strict=True):
        if not least:
            _, device = run(anyhow(name, kind, lambda: ub(dt.uint8, DST)), image)  # a buffer that is not used
            assert codes(device) == []
            continue
        _, device = run(anyhow(name, kind, lambda least=least: scratch(least)), image)
        assert codes(device) == []
        _, device = run(anyhow(name, kind, lambda least=least: scratch(least - 32)), image)
        assert codes(device) == ["OOB_BUF"]
        assert f"temp_buffer has {least - 32} bytes; rule: at least {least}" in device.findings[0].message


def read_after(name: str, kind: dt.DataType, start: int, elements: int, **more: Any) -> list[str]:
    """What is found when bytes are read after a call."""

    def body() -> None:
        anyhow(name, kind, scratch, **more)()
        adds(ub(dt.float16, 16384), ub(dt.float16, start), 1.0, elements)

    _, device = run(body, (SRC, np.ones(END // 2, np.float16)), out=0)
    return codes(device)


def test_what_is_undefined_afterwards() -> None:
    assert "UNINIT_READ" in read_after("cos", dt.float32, TEMP, 384)
    # 8 elements use 3 * 256 bytes of scratch, 2 * 256 with is_reuse_source; bytes above stay.
    assert read_after("cos", dt.float32, TEMP + 768, 16) == []
    assert "UNINIT_READ" in read_after("cos", dt.float32, TEMP + 512, 16)
    assert read_after("cos", dt.float32, TEMP + 512, 16, is_reuse_source=True) == []
    assert read_after("cos", dt.float32, SRC, 16) == []
    assert "UNINIT_READ" in read_after("cos", dt.float32, SRC, 16, is_reuse_source=True)
    assert read_after("cos", dt.float16, SRC, 8, is_reuse_source=True) == []
    assert read_after("acos", dt.float32, SRC, 16, is_reuse_source=True) == []
    assert read_after("exp", dt.float32, TEMP, 16, taylor_expand_level=0) == []


def above_a_pipe(nbytes: int, hole: int) -> list[str]:
    """What is found when 32 bytes at `hole` are read after a call without buffer; the TPipe has given `nbytes`."""

    def body() -> None:
        buffer = TBuf(TPosition.VECCALC)
        TPipe().init_buffer(buffer, nbytes)
        duplicate(ub(dt.float32, SRC), 1.0, 2048)
        adv.tanh(ub(dt.float32, DST), ub(dt.float32, SRC), 8)
        adds(ub(dt.float32, DST + 256), ub(dt.float32, hole), 0.0, 8)

    return codes(launch(body, checks=COLLECT))


def test_without_a_buffer_the_memory_above_those_of_the_pipe_serves() -> None:
    assert above_a_pipe(4096, 4096) == ["UNINIT_READ"]
    assert above_a_pipe(4096, 4096 + 224) == ["UNINIT_READ"]
    assert above_a_pipe(4096, 4096 + 256) == []
    assert above_a_pipe(4096, 4096 - 32) == []
    # 256 bytes are left, of which 64 are not handed out.
    with pytest.raises(MemoryFault, match=r"MEM_OVERFLOW: adv\.tanh.*scratch needs 256 bytes, 192 of UB are left"):
        above_a_pipe(192 * 1024 - 256, 4096)
    with pytest.raises(ArgumentValueError, match=r"adv\.tanh: temp_buffer: no TPipe; rule: a uint8 tensor of at least"):
        launch(lambda: adv.tanh(ub(dt.float32, DST), ub(dt.float32, SRC), 8))


def test_overlaps() -> None:
    def on(dst: int, temp: int, name: str = "acos") -> list[str]:
        call = lambda: getattr(adv, name)(ub(dt.float32, dst), ub(dt.float32, SRC), 16, ub(dt.uint8, temp))  # noqa: E731
        return codes(run(call, (SRC, np.ones(END // 4, np.float32)), out=0)[1])

    assert on(SRC, TEMP) == ["OVERLAP_PARTIAL"]
    assert on(SRC, TEMP, "round") == []
    assert on(SRC, TEMP, "trunc") == []
    assert on(32, TEMP, "trunc") == ["OVERLAP_PARTIAL"]
    assert on(DST, DST + 32) == ["OVERLAP_PARTIAL"]
    assert on(DST, SRC + 32) == ["OVERLAP_PARTIAL"]

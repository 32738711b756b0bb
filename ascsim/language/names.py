"""The author's names of local buffers, looked up when a report wants them.

A buffer is called as the variable that holds it in the author's frame at the time of the report, or in a frame that
called it; else as the queue or buffer that owns the bytes. Nothing is kept for this while a kernel runs.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import FrameType
from typing import Any

from ..hw.core import Core
from ..hw.findings import Site
from ..hw.memory import Memory
from .core.place import PACKAGE, RUN
from .core.tensor import LocalTensor


def namer(core: Core, memory: Memory, start: int, end: int, site: Site) -> tuple[str, int]:
    """Name and first byte of the largest known buffer that holds bytes `start` to `end`; ("", 0) if none does."""
    for frame in _frames():
        held = [
            (tensor.place.nbytes, name, tensor.place.start)
            for name, tensor in _tensors(frame.f_locals)
            if tensor.place.memory is memory
            and tensor.place.start <= start
            and end <= tensor.place.start + tensor.place.nbytes
        ]
        if held:
            # The whole buffer rather than one of its views, so that the report's bytes are counted from its start.
            _, name, base = max(held, key=lambda item: item[0])
            return name, base
    pipe = core.state.get("tpipe")
    buffer = next(pipe.holding(memory.name, start, end), None) if pipe is not None else None
    return ("", 0) if buffer is None else (buffer.owner.label, buffer.start)


def _frames() -> Iterator[FrameType]:
    """The author's frames, innermost first."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and frame.f_code is not RUN:
        if not frame.f_code.co_filename.startswith(PACKAGE):
            yield frame
        frame = frame.f_back


def _tensors(variables: dict[str, Any]) -> Iterator[tuple[str, LocalTensor]]:
    for name, value in list(variables.items()):
        if isinstance(value, LocalTensor):
            yield name, value
        elif isinstance(value, (list, tuple)):
            for number, item in enumerate(value):
                if isinstance(item, LocalTensor):
                    yield f"{name}[{number}]", item

"""Runs calls of the cube side on images of its memories, and shows what is in them afterwards."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from basic_machine import at, launch

from ascsim.hw.checks import Checks
from ascsim.hw.device import Device
from ascsim.language.basic import data_copy, pipe_barrier
from ascsim.language.core import DataCopyParams, LocalTensor, PipeID, TPosition
from ascsim.language.core import dtype as dt
from ascsim.language.core.place import running


def tensor(dtype: dt.DataType, position: TPosition, start: int = 0, elements: int = 0) -> LocalTensor:
    """A tensor: first byte, and elements (0: to the end of its memory)."""
    return LocalTensor(dtype, position, start, elements)


def on_l1(
    image: np.ndarray,
    call: Callable[..., Any],
    *arrays: np.ndarray,
    checks: Checks | None = None,
    kind: str = "aic",
) -> tuple[dict[str, np.ndarray], Device]:
    """Every memory after `call(global tensor of each array)`, if `image` was in L1 from byte 0 on; and the device."""
    found: dict[str, np.ndarray] = {}

    def body(source: Any, *others: Any) -> None:
        core = running("test")
        if core.kind == "aic":
            data_copy(tensor(dt.uint8, TPosition.A1), at(source), DataCopyParams(1, image.nbytes // 32, 0, 0))
        pipe_barrier(PipeID.PIPE_ALL)
        call(*map(at, others))
        pipe_barrier(PipeID.PIPE_ALL)
        if core.kind == "aic":
            found.update({name: memory.bytes.copy() for name, memory in core.memories.items()})

    device = launch(body, image.reshape(-1).view(np.uint8), *arrays, kind=kind, checks=checks)
    return found, device

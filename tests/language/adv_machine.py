"""Calls of adv on bytes of UB that are all defined before, with the first of them brought back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from basic_machine import at, codes, launch, order, ub
from images import laid

from ascsim.hw.checks import Checks
from ascsim.hw.device import Device
from ascsim.language.basic import data_copy
from ascsim.language.core import GlobalAddress, HardEvent
from ascsim.language.core import dtype as dt
from ascsim.language.core.place import running

COLLECT = Checks.collect()
SRC, OTHER, DST, TEMP, END = 0, 512, 1024, 1536, 17920  # bytes


def scratch(elements: int = END - TEMP) -> Any:
    return ub(dt.uint8, TEMP, elements)


def run(call: Callable[[], Any], *laid_in: tuple[int, Any], out: int = TEMP) -> tuple[np.ndarray, Device]:
    """What is in the first `out` bytes of UB after `call`, and the device; before, all bytes are defined."""
    image, after = laid(END, *laid_in), np.zeros(out, np.uint8)

    def body(source: GlobalAddress, target: GlobalAddress) -> None:
        data_copy(ub(dt.uint8), at(source), END)
        order(HardEvent.MTE2_V)
        call()
        if out:
            order(HardEvent.V_MTE3)
            data_copy(at(target), ub(dt.uint8), out)

    return after, launch(body, image, after, checks=COLLECT)


Given = dict[int, np.ndarray]  # by first byte
Wanted = list[tuple[int, tuple[int, ...], Any]]  # first byte, shape, numpy type


def results(call: Callable[[], Any], nbytes: int, given: Given, wanted: Wanted) -> tuple[list[np.ndarray], list[str]]:
    """What `call` leaves in UB, whose first `nbytes` are 7 before except for what is given; and what is found."""
    after: list[np.ndarray] = []

    def body(source: GlobalAddress) -> None:
        data_copy(ub(dt.uint8), at(source), nbytes)
        order(HardEvent.MTE2_V)
        call()
        after.append(running("results").memories["UB"].bytes[:nbytes].copy())

    device = launch(body, laid(nbytes, *given.items()), checks=COLLECT)
    arrays = []
    for start, shape, kind in wanted:
        end = start + int(np.prod(shape)) * np.dtype(kind).itemsize
        arrays.append(after[0][start:end].view(kind).reshape(shape))
    return arrays, codes(device)


def spent(call: Callable[[], Any]) -> int:
    """Cycles for which a call keeps V busy."""
    out = []

    def body() -> None:
        pipe = running("spent").pipes["V"]
        before = pipe.free
        call()
        out.append(pipe.free - before)

    launch(body, checks=Checks.off())
    return out[0]

"""Calls of adv on bytes of UB that are all defined before, with the first of them brought back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from basic_machine import at, launch, order, ub
from images import laid

from ascsim.hw.checks import Checks
from ascsim.hw.device import Device
from ascsim.language.basic import data_copy
from ascsim.language.core import GlobalAddress, HardEvent
from ascsim.language.core import dtype as dt

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

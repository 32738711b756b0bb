"""Atomic stores: what the register of a core asks of a store to global memory, and what the update computes.

The register holds an operation and an element type (`Core.atomic`); the type is the switch. A store takes both when it
is issued. Sums round to nearest even in the type; integers wrap (the vendor says nothing of either; both are the
values of the vector unit). Not modelled: the time an update costs over a plain store.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..hw.core import PLAIN_STORE, Core
from ..hw.findings import Site
from . import values
from .core.dtype import DataType, bfloat16, float16, float32, int8, int16, int32
from .core.place import report

UPDATES: dict[str, Callable[..., Any]] = {"add": np.add, "max": values.maximum, "min": values.minimum}
TYPES = (float32, float16, int16, int32, int8, bfloat16)  # in the order of AtomicDtype, which starts at 1
_BY_NAME = {dtype.name: dtype for dtype in TYPES}


def switch(core: Core, dtype: DataType, name: str) -> None:
    """From now on stores to global memory update what stands there."""
    core.atomic = (name, dtype.name)


def kind(core: Core) -> str:
    """Name of the update, as footprints and reports carry it: `add float32`; "" for a plain store."""
    return "" if core.atomic is PLAIN_STORE else " ".join(core.atomic)


def element(core: Core, dtype: DataType, operation: str, site: Site) -> DataType:
    """The type in which a store of `dtype` elements is updated. A sum has the same bits with and without sign."""
    name, wanted = core.atomic
    if dtype.name not in (wanted, f"u{wanted}" if name == "add" else wanted):
        text = (
            f"the elements have type {dtype}, but set_atomic_{name} chose {wanted}; rule: one type for both, or "
            "set_atomic_none before the store"
        )
        report(core, "BAD_DTYPE", text, site, operation)
    return _BY_NAME[wanted]

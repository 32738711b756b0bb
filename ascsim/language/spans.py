"""Operands of irregular vector instructions that are one run of bytes: checks, footprints, views."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..hw.core import Core
from ..hw.findings import Site
from ..hw.memory import Region
from .core.dtype import DataType
from .core.place import Place
from .operand import aligned, local, typed
from .plans import present

Named = tuple[str, Any, Sequence[DataType]]  # name, tensor, legal types


def checked(core: Core, operation: str, tensors: Sequence[Named], site: Site, align: int = 0) -> list[Place] | None:
    """The places of tensor operands, checked one by one; None where this kind of core does nothing.

    `align`: bytes of which an operand's start is a multiple; 0 stands for its memory's alignment.
    """
    out = []
    for name, tensor, legal in tensors:
        where = local(core, tensor, name, operation, site)
        typed(core, where, legal, name, operation, site)
        if not present(core, where.memory, operation, site):
            return None
        aligned(core, where, name, operation, site, align)
        out.append(where)
    return out


def span(where: Place, nbytes: int, name: str, operation: str, site: Site) -> Region:
    """The footprint of the first bytes of an operand; past its tensor is reported, past its memory is a fault."""
    return where.region(((where.start, ((nbytes, 1),)),), name, operation, site)


def words(where: Place, shape: tuple[int, ...], size: int, strides: tuple[int, ...] | None = None) -> np.ndarray:
    """An operand's bytes as unsigned integers of `size` bytes, sharing the memory; strides in bytes."""
    assert where.memory is not None
    return np.ndarray(shape, f"u{size}", where.memory.bytes.data, where.start, strides)

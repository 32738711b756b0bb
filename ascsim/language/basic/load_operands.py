"""Operands of loads from L1 into L0A and L0B: their positions, types and checks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...hw.core import Core
from ...hw.findings import Site
from ..core.dtype import DataType, bfloat16, float16, float32, int8, int16, int32, uint8, uint16, uint32
from ..core.place import L0_POSITIONS, L1_POSITIONS, Place
from ..operand import aligned, local, typed
from ..paths import one_type
from ..plans import present

TYPES = (int8, uint8, int16, uint16, float16, bfloat16, int32, uint32, float32)


def places(
    core: Core, operation: str, dst: Any, src: Any, site: Site, legal: Sequence[DataType] = TYPES
) -> tuple[Place, Place] | None:
    """The checked operands of a load from L1; None where this kind of core does nothing."""
    to = local(core, dst, "dst", operation, site, L0_POSITIONS)
    source = local(core, src, "src", operation, site, L1_POSITIONS)
    typed(core, to, legal, "dst", operation, site)
    one_type(core, operation, source, to, site)
    if not present(core, to.memory, operation, site):
        return None
    aligned(core, to, "dst", operation, site)
    aligned(core, source, "src", operation, site)
    return to, source

"""Calls whose operands may differ in type and whose plan is worth keeping: it is made once for the same operands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...hw.core import Core
from ...hw.errors import ArgumentTypeError
from ...hw.findings import Site
from ..core.place import Place
from ..core.struct import Struct
from ..mixed import Tensors, Types, operands, places_of


def planned(
    core: Core,
    operation: str,
    tensors: Tensors,
    legal: Sequence[Types],
    key: tuple[Any, ...],
    make: Callable[[list[Place]], Any],
    site: Site,
) -> Any:
    """What `make` gives for the checked places of the operands, destination first, from the cache or new.

    `key`: all that it depends on besides them. None where this kind of core does nothing, or where `make` gives it.
    """
    places = places_of(tensors)
    plan = None if places is None else places[0].plans.get((operation, *places[1:], *key))
    if plan is None:
        ops = operands(core, operation, tensors, legal, site)
        if ops is None:
            return None
        places = [op.place for op in ops]
        plan = make(places)
        if plan is not None:
            places[0].keep((operation, *places[1:], *key), plan)
    return plan


def packed(operation: str, tiling: Any, kind: type[Struct]) -> bytes:
    """The bytes of a tiling, as a part of the key of a plan."""
    if not isinstance(tiling, kind):
        raise ArgumentTypeError(operation, f"is no {kind.__name__}", operand="tiling", value=tiling)
    return tiling.pack()

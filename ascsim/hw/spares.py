"""Cores that a launch leaves behind, for the next launch that is like it.

What a core has worked out for its instructions (plans, regions, cells) holds for every launch of the same kernel with
the same numbers and arrays of the same kinds, and costs as much to work out again as hundreds of steady tiles. A core
that is used again starts as at power-on (`Core.start`), as it does for the next block of one launch.
"""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .core import Core

KEPT = 4  # launches
MOST = 2  # cores of a kind; more are left only by launches whose blocks wait for each other
WORN = 4096  # footprints that a core knows; one that data moved about would learn more with every launch

Pool = dict[str, list["Core"]]

_left: dict[Any, Pool] = {}
_lock = Lock()


def take(like: Any) -> Pool:
    """The cores that a launch of this kind may use; nobody else has them."""
    with _lock:
        return _left.pop(like, None) or {"aic": [], "aiv": []}


def leave(like: Any, pool: Pool) -> None:
    """The launch has ended well."""
    for cores in pool.values():
        cores[:] = [core for core in cores[:MOST] if sum(len(m.regions) for m in core.memories.values()) < WORN]
    with _lock:
        _left.pop(like, None)
        _left[like] = pool
        if len(_left) > KEPT:
            del _left[next(iter(_left))]

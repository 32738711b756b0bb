"""Blocks that take turns by words in global memory: whose turn it is, the memory says; what has ended, a token says.

Not here: the words themselves, which belong to the calls (`notify_next_block`, `wait_pre_block`), and the polling.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import partial
from typing import TYPE_CHECKING

from .calls import recorded
from .deadlock import stuck_cores
from .meetings import Box, arrive, foreign

if TYPE_CHECKING:
    from .core import Core
    from .findings import Site


@recorded(at=1)
def wait_turn(
    key: Hashable, core: Core, ready: Callable[[], bool], why: Callable[[], str], site: Site, operation: str
) -> None:
    """Wait until `ready()`; from then on this core follows everyone who has passed the turn on before."""
    device = core.device
    box = device.cross.boxes.setdefault(key, Box())
    device.scheduler.wait(core, ready, why, site, partial(stuck_cores, device, "rendezvous", operation))
    if box.taken is not None:
        arrive(core, box.taken)


@recorded(at=1)
def pass_turn(key: Hashable, core: Core) -> None:
    """All that this core has done so far (after PIPE_ALL) comes before the turn of whoever is next."""
    core.device.cross.boxes.setdefault(key, Box()).taken = foreign(core, core.everything())

"""Calls for whose result the scalar unit waits within the call."""

from __future__ import annotations

from ..hw import deadlock
from ..hw.core import Core
from ..hw.findings import Site


def ready(core: Core, site: Site) -> None:
    """V must not stand at a wait: S, which would have to go on to end it, is about to wait for V."""
    if core.pipes["V"].parked is not None:
        deadlock.scalar_all(core, site)


def scalar_waits(core: Core, site: Site) -> None:
    """S waits until V has done all that was issued to it."""
    ready(core, site)
    core.drain(core.pipes["V"])

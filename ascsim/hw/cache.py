"""Placeholder until the data cache is written."""

from __future__ import annotations

from typing import Any

from .errors import NotSimulatedError


def load(core: Any, gm: Any, at: int, nbytes: int, site: Any) -> bytes:
    raise NotSimulatedError("get_value", "the data cache is not built yet")


def store(core: Any, gm: Any, at: int, data: bytes, site: Any) -> None:
    raise NotSimulatedError("set_value", "the data cache is not built yet")

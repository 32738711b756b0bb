"""High-level operations: none is built yet."""

from __future__ import annotations

from typing import NoReturn

from ..missing import ADVANCED, refuse


def __getattr__(name: str) -> NoReturn:
    refuse(ADVANCED, __name__, name)

"""Matmul tiling on the host: not built yet."""

from __future__ import annotations

from typing import NoReturn

from ascsim.language.missing import HOST, refuse


def __getattr__(name: str) -> NoReturn:
    refuse(HOST, __name__, name)

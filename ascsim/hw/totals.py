"""What is kept of a core that has ended."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class CoreTotals:
    """Times in cycles, traffic in bytes."""

    kind: str
    index: int
    block: int
    end: int
    busy: dict[str, int]
    gm_read: int
    gm_written: int
    regions: list[tuple[str, int, int]]

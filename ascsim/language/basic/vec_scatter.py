"""scatter, which the chips that are simulated do not have. Page: Scatter."""

from __future__ import annotations

from typing import Any

from ...hw.errors import NotSimulatedError
from ..core.place import running
from ..signatures import signatures


def scatter(
    dst: Any,
    src: Any,
    dst_offset: Any,
    dst_base: Any,
    count: Any = None,
    repeat_times: Any = None,
    src_rep_stride: Any = None,
    *,
    mask: Any = None,
) -> None:
    """Always refused: the vendor lists no 910B or 910_93 part among those that have it.

        scatter(dst, src, dst_offset, dst_base, count)
        scatter(dst, src, dst_offset, dst_base, mask, repeat_times, src_rep_stride)

    To the same end: gather by the inverse offsets, or set_value element by element. Page: Scatter.
    """
    soc = running("scatter").device.soc.name
    raise NotSimulatedError("scatter", f"{soc} has no such instruction", rule="gather by the inverse offsets")


scatter.__overloads__ = signatures(  # type: ignore[attr-defined]
    "dst, src, dst_offset, dst_base, count",
    "dst, src, dst_offset, dst_base, mask, repeat_times, src_rep_stride",
)

__all__ = ["scatter"]

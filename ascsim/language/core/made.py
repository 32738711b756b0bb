"""Which of the author's lines made a tensor: what a report of bytes past its end names.

Kept beside the places, which are interned: tensors that several lines make of the same bytes share one place. Not kept
for tensors of a queue, whose buffer says which init_buffer it is of, nor for views, which end where their tensor ends.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...hw.core import Core
from ...hw.findings import Site
from ...hw.findings import place as line_of

if TYPE_CHECKING:
    from .place import Place

Made = dict["Place", tuple[Site, ...]]


def remember(core: Core, where: Place, site: Site) -> None:
    """The line at `site` makes a tensor that lies there."""
    made: Made = core.state.setdefault("made", {})
    sites = made.get(where, ())
    if site not in sites:
        made[where] = (*sites, site)


def maker(where: Place) -> str:
    """`made at k.py:12`, of the smallest tensor that ends where this one ends; empty if nobody knows.

    Several lines are named where each makes a tensor of just these bytes. A tensor of a queue or TBuf is named by its
    buffer too: `of que (VECIN), init_buffer at k.py:9`.
    """
    core, memory, first, end = where.core, where.memory, where.start, where.start + where.nbytes
    made: Made = core.state.get("made", {})
    ending = {
        other.start: sites
        for other, sites in made.items()
        if other.memory is memory and other.start <= first and other.start + other.nbytes == end
    }
    parts = []
    if ending:
        parts.append("made at " + " or ".join(dict.fromkeys(map(line_of, ending[max(ending)]))))
    pipe = core.state.get("tpipe")
    if pipe is not None and memory is not None:
        for buffer in pipe.holding(memory.name, first, end):
            parts.append(f"of {buffer.owner.label}, init_buffer at {line_of(buffer.owner.given)}")
    return ", ".join(parts)

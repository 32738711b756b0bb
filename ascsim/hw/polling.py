"""Whether a scalar read may be one of many: only then does a word that another core has written order its reader.

A loop that polls a word goes on until the word has changed, so that its last read follows the write whichever core runs
first. A read that is made once may come before the write as well as after it: it is a race in either order of cores.
"""

from __future__ import annotations

import dis
import sys
from functools import lru_cache
from types import CodeType

from .findings import Site
from .scheduler import Scheduler


def repeats(site: Site) -> bool:
    """Whether the call at `site`, or a function that it is made from, stands in a `while` loop of the kernel.

    A call site that is no code (of a test of the machine) is taken to repeat.
    """
    code = site[0]
    if not isinstance(code, CodeType):
        return True
    frame = sys._getframe(1)
    while frame is not None and frame.f_code is not code:
        frame = frame.f_back  # type: ignore[assignment]
    while frame is not None and frame.f_code is not Scheduler._run.__code__:
        if _line(frame.f_code, frame.f_lasti) in _looped(frame.f_code):
            return True
        frame = frame.f_back  # type: ignore[assignment]
    return False


def _line(code: CodeType, offset: int) -> int | None:
    return next((line for start, end, line in code.co_lines() if start <= offset < end), None)


@lru_cache(maxsize=256)
def _looped(code: CodeType) -> frozenset[int | None]:
    """Lines inside the `while` loops of a function. Lines and not offsets: the first test of a loop is a copy."""
    steps = {step.offset: step for step in dis.get_instructions(code)}
    lines: set[int | None] = set()
    for step in steps.values():
        target = step.argval
        if step.opcode not in _JUMPS or not isinstance(target, int) or target > step.offset:
            continue
        if steps[target].opname != "FOR_ITER":
            lines.update(_line(code, offset) for offset in steps if target <= offset <= step.offset)
    return frozenset(lines)


_JUMPS = frozenset((*dis.hasjrel, *dis.hasjabs))

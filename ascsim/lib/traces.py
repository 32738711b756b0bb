"""Tracebacks as an author wants them: their own frames alone, ending at the line that is to blame."""

from __future__ import annotations

from collections.abc import Callable
from types import CodeType, TracebackType

from ascsim.hw.errors import FoundError
from ascsim.hw.findings import locate
from ascsim.language.core.place import PACKAGE
from ascsim.language.core.tail import tail


def authors_trace(error: BaseException) -> TracebackType | None:
    """The traceback of an error, for its author. A fault that is found when the kernel has ended ends at its line."""
    trace = authors_frames(error.__traceback__)
    sites = error.finding.sites if isinstance(error, FoundError) else ()
    return _frame_at(*locate(sites[-1])) if trace is None and sites and sites[-1] is not None else trace


class _Reached(Exception):
    """Raised to get a traceback."""


def _frame_at(name: str, line: int) -> TracebackType | None:
    """A traceback of one frame at a line that no longer runs; it has no local names."""
    code = compile("\n" * (line - 1) + "raise reached", name, "exec").replace(co_name="<after the kernel>")
    try:
        exec(code, {"reached": _Reached})
    except _Reached as reached:
        own = reached.__traceback__  # of this function; the next one is the stand-in's
        return own.tb_next if own is not None else None
    return None


def authors_frames(trace: TracebackType | None) -> TracebackType | None:
    """A traceback without the frames of this package."""
    return _only(trace, lambda code: not code.co_filename.startswith(PACKAGE))


def as_written(trace: TracebackType | None) -> TracebackType | None:
    """A traceback without what the rewrite of a kernel has put in the place of an expression."""
    return _only(trace, lambda code: code is not tail.__code__)


def _only(trace: TracebackType | None, kept: Callable[[CodeType], bool]) -> TracebackType | None:
    steps = []
    while trace is not None:
        if kept(trace.tb_frame.f_code):
            steps.append(trace)
        trace = trace.tb_next
    out: TracebackType | None = None
    for step in reversed(steps):
        out = TracebackType(out, step.tb_frame, step.tb_lasti, step.tb_lineno)
    return out

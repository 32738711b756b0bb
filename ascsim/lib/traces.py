"""Tracebacks as an author wants them: their own frames alone, ending at the line that is to blame."""

from __future__ import annotations

from types import TracebackType

from ascsim.language.core.place import PACKAGE


def authors_frames(trace: TracebackType | None) -> TracebackType | None:
    """A traceback without the frames of this package."""
    steps = []
    while trace is not None:
        if not trace.tb_frame.f_code.co_filename.startswith(PACKAGE):
            steps.append(trace)
        trace = trace.tb_next
    out: TracebackType | None = None
    for step in reversed(steps):
        out = TracebackType(out, step.tb_frame, step.tb_lasti, step.tb_lineno)
    return out

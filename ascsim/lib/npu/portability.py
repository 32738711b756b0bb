"""Portability of a script's kernels: our rules on each jit function, and the word of pyasc where it is installed."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from ascsim.hw.errors import FrontEndError, SimulatorError
from ascsim.hw.findings import many

from ..function import Function
from ..portable import Remark, remarks_of_all, seen_of
from ..portable_rules import Verdict
from ..reach import reached
from ..request import Request
from .emission import emission_of
from .front_end import missing, pyasc_version

WORDS = {
    Verdict.DIFFERS: " [pyasc accepts it]",
    Verdict.STALE: " [pyasc accepts it]",
    Verdict.ALONE: " [pyasc refuses it in a script that it runs itself]",
}


_SIGNATURES = " The following argument types are supported"  # where pybind11's lines of types and addresses begin


@dataclass
class Portability:
    """An observer of launches (`settings(observer=...)`) that gathers what keeps their kernels from being portable.

    A launch with arguments of other types, or other compile-time values, is looked at anew. `confirmed` holds what
    pyasc itself refused; it stops at the first fault of a kernel.
    """

    remarks: set[Remark] = field(default_factory=set)
    confirmed: set[Remark] = field(default_factory=set)
    kernels: set[Function] = field(default_factory=set)
    refused: set[Function] = field(default_factory=set)
    launches: set[tuple[Function, str]] = field(default_factory=set)
    pyasc: bool = field(default_factory=lambda: not missing())

    def __call__(self, request: Request, run: Callable[[], Any]) -> Any:
        with suppress(SimulatorError):  # wrong arguments: the launch itself is about to say so
            seen = seen_of(request.function, request.bound().arguments)
            launch = request.function, repr(seen)
            if launch not in self.launches:
                self.launches.add(launch)
                self.kernels.add(request.function)
                here = remarks_of_all(request.function, given=seen)
                self.remarks.update(here)
                if self.pyasc:
                    self._ask(request, here)
        return run()

    def look_at_the_rest(self, functions: Iterable[Any]) -> None:
        """Take down what our rules say of functions that no launch has reached."""
        seen = {known for kernel in self.kernels for known in reached(kernel)}
        for function in functions:
            if isinstance(function, Function) and function not in seen:
                self.remarks.update(remarks_of_all(function, kernel=False))

    def _ask(self, request: Request, here: list[Remark]) -> None:
        try:
            emission_of(request)
        except FrontEndError as error:
            self.refused.add(request.function)
            code = request.function.fn.__code__
            site = error.site or (code.co_filename, code.co_firstlineno)
            known = [remark for remark in here if remark.verdict in (Verdict.REFUSED, Verdict.ENDS)]
            meant = [remark for remark in known if (remark.file, remark.line) == site]
            meant = meant or [remark for remark in known if remark.file == site[0] and remark.line in statement(*site)]
            if not meant:
                remedy = "see the line; `python -m ascsim emit` shows the whole error"
                meant = [Remark(*site, request.name, error.problem.partition(_SIGNATURES)[0], remedy)]
            self.remarks.update(meant)
            self.confirmed.update(meant)

    @property
    def ok(self) -> bool:
        """Whether nothing was found."""
        return not self.remarks

    def __str__(self) -> str:
        lines = []
        for remark in sorted(self.remarks):
            by = f" [pyasc {pyasc_version()} refuses it]" if remark in self.confirmed else ""
            lines.append(f"{remark}{by or WORDS.get(remark.verdict, '')}")
        accepted = len(self.kernels - self.refused)
        who = f"pyasc {pyasc_version()} accepts {accepted}" if self.pyasc else "by rule alone: " + missing()
        lines.append(
            f"portability: {many(len(self.remarks), 'remark')}, {many(len(self.kernels), 'kernel')} launched; {who}"
        )
        return "\n".join(lines)


def statement(file: str, line: int) -> range:
    """The lines of the statement that begins at a line: pyasc tells a fault in a block at the head of the block."""
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except SyntaxError:
        return range(0)
    heads = [node for node in ast.walk(tree) if isinstance(node, ast.stmt) and node.lineno == line]
    return range(line, max((node.end_lineno or line for node in heads), default=line) + 1)

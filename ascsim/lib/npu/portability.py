"""Portability of a script's kernels: our rules on each jit function, and the word of pyasc where it is installed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from ascsim.hw.errors import FrontEndError, SimulatorError

from ..function import Function
from ..portable import Remark, remarks
from ..portable_rules import Verdict
from ..reach import reached
from ..request import Request
from .emission import emission_of
from .front_end import missing, pyasc_version


@dataclass
class Portability:
    """An observer of launches (`settings(observer=...)`) that gathers what keeps their kernels from being portable.

    `confirmed` holds the file and line of what pyasc itself refused; it stops at the first fault of a kernel.
    """

    remarks: set[Remark] = field(default_factory=set)
    confirmed: set[tuple[str, int]] = field(default_factory=set)
    kernels: set[Function] = field(default_factory=set)
    accepted: set[Function] = field(default_factory=set)
    pyasc: bool = field(default_factory=lambda: not missing())

    def __call__(self, request: Request, run: Callable[[], Any]) -> Any:
        first = request.function not in self.kernels
        self.kernels.add(request.function)
        if first:
            self.look_at(request.function, kernel=True)
            if self.pyasc:
                self._ask(request)
        return run()

    def look_at(self, function: Function, kernel: bool = False) -> None:
        """Take down what our rules say of a function and of those that it reaches."""
        for known in reached(function):
            self.remarks.update(remarks(known, kernel=kernel and known is function))

    def look_at_the_rest(self, functions: Iterable[Any]) -> None:
        """Take down what our rules say of functions that no launch has reached."""
        seen = {known for kernel in self.kernels for known in reached(kernel)}
        for function in functions:
            if isinstance(function, Function) and function not in seen:
                self.look_at(function)

    def _ask(self, request: Request) -> None:
        try:
            emission_of(request)
            self.accepted.add(request.function)
        except FrontEndError as error:
            code = request.function.fn.__code__
            site = error.site or (code.co_filename, code.co_firstlineno)
            self.confirmed.add(site)
            if site not in {(remark.file, remark.line) for remark in self.remarks}:
                construct, remedy = request.name, "see the line; `python -m ascsim emit` shows the whole error"
                self.remarks.add(Remark(*site, construct, error.problem, remedy))
        except SimulatorError:  # wrong arguments: the launch itself is about to say so
            return

    @property
    def ok(self) -> bool:
        """Whether nothing was found."""
        return not self.remarks

    def __str__(self) -> str:
        lines = []
        for remark in sorted(self.remarks):
            by = f" [pyasc {pyasc_version()} refuses it]" if (remark.file, remark.line) in self.confirmed else ""
            differs = " [pyasc accepts it]" if remark.verdict is not Verdict.REFUSED else ""
            lines.append(f"{remark}{by or differs}")
        who = f"pyasc {pyasc_version()} accepts {len(self.accepted)}" if self.pyasc else "by rule alone: " + missing()
        lines.append(f"portability: {len(self.remarks)} remarks, {len(self.kernels)} kernels launched; {who}")
        return "\n".join(lines)

"""The Ascend C text of a kernel, made by pyasc's front end without compiler, toolkit or device.

The text is what pyasc would hand to the device compiler. That the front end accepts a kernel does not show that the
device compiler does.
"""

from __future__ import annotations

import ast
import ctypes
import os
import re
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from ascsim.hw.errors import ArgumentTypeError, BackendError, FrontEndError, SimulatorWarning

from ..arguments import argument, constant, mapped
from ..function import Function
from ..options import LaunchOptions, compile_options
from ..platform import KernelType
from ..portable import Remark, Verdict, remarks_of_all, seen_of
from ..request import Request
from ..rewrite import definition
from .front_end import front_end, pyasc_version
from .pyasc import text_maker
from .rebinding import Rebinding

DIAGNOSTIC = re.compile(r"^(?P<file>.*?):(?P<line>\d+):(?:\d+:)? error: (?P<message>.*)$", re.M)


@dataclass(frozen=True, slots=True)
class Emission:
    """What pyasc makes of one launch of a kernel. `str` of it is the text.

    name          the kernel, which is also the entry point of the text
    text          Ascend C
    intermediate  the compiler's intermediate form (MLIR) that the text was made from
    kernel_type   which cores run it, as pyasc found it
    remarks       what pyasc is known to get wrong in this kernel, although it accepts it
    """

    name: str
    text: str
    intermediate: str
    kernel_type: KernelType
    remarks: tuple[Remark, ...]

    def __str__(self) -> str:
        return self.text


def emit(kernel: Any, blocks: int, /, *args: Any, **kwargs: Any) -> Emission:
    """The text of a launch, with warnings: see `device.emit`."""
    if not isinstance(kernel, Function):
        raise ArgumentTypeError("emit", "is no jit function", operand="kernel", value=kernel)
    request = Request(kernel, LaunchOptions(blocks), getattr(kernel, "default_options", {}), args, kwargs)
    emission = emission_of(request)
    for remark in emission.remarks:
        warnings.warn_explicit(remark.text, SimulatorWarning, remark.file, remark.line)
    return emission


def emission_of(request: Request) -> Emission:
    """`emit` for a launch that is asked for; it keeps its remarks to itself."""
    values, named = checked(request)
    with front_end(request.name) as asc:
        rebinding = Rebinding(asc, text_maker(asc))
        kernel = accepted(request, rebinding, values, named)
    differs = tuple(remark for remark in remarks_of(request) if remark.verdict is Verdict.DIFFERS)
    made = kernel.text
    return Emission(request.name, made.source, made.intermediate, KernelType[made.kernel_type], differs)


def remarks_of(request: Request) -> list[Remark]:
    """The remarks on the kernel of a launch and on the device functions that it calls."""
    return remarks_of_all(request.function, given=seen_of(request.function, request.bound().arguments))


def checked(request: Request, on_device: bool = False) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a launch as they were given, defaults filled in, once the simulator's own checks have passed."""
    _ = request.blocks
    compile_options(request.options)
    types = request.function.constants

    def check(parameter: str, label: str, value: Any) -> Any:
        if parameter in types:
            return constant(label, value, types[parameter])
        if not (on_device and getattr(getattr(value, "device", None), "type", "cpu") == "npu"):
            argument(label, value)
        return value

    return mapped(request.bound(), check)


def accepted(request: Request, rebinding: Rebinding, values: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
    """The kernel made over and launched through pyasc; FrontEndError where it is refused on the way."""
    for remark in remarks_of(request):
        if remark.verdict is Verdict.ENDS:
            refused = FrontEndError(request.name, f"not handed to pyasc: {remark}")
            refused.site = remark.file, remark.line
            raise refused
    with diagnostics() as said:
        try:
            kernel = rebinding.function(request.function)
            options = rebinding.value(request.options)
            call = kernel[request.blocks]
            call(*map(rebinding.value, values), **rebinding.value(dict(named)), **options)
        except BackendError:
            raise
        except Exception as error:  # of any class: pyasc wraps some and lets others through
            _keep_alive(error)
            said.flush()
            raise refusal(request, rebinding, error, said.read()) from error
    return kernel


def refusal(request: Request, rebinding: Rebinding, error: Exception, said: str) -> FrontEndError:
    """What pyasc says against a kernel, at the author's line where it can be told, with our own rule beside it."""
    match = DIAGNOSTIC.search(said)
    site = _site_of_node(getattr(error, "node", None), rebinding.functions)
    message = str(getattr(error, "error_message", None) or f"{type(error).__name__}: {error}")
    if site is None and match is not None:
        site = _site_of_line(int(match["line"]), match["file"], rebinding.functions)
        message = f"{message} ({match['message']})"
    known = [remark for remark in remarks_of(request) if remark.verdict is Verdict.REFUSED]
    here = [remark for remark in known if (remark.file, remark.line) == site] or known
    where = "" if site is None else f"{os.path.basename(site[0])}:{site[1]}: "
    rule = "; ".join(f"{remark.construct}: {remark.remedy}" for remark in here)
    refused = FrontEndError(request.name, f"pyasc {pyasc_version()} refuses it: {where}{message}", rule=rule)
    refused.site = site or ((here[0].file, here[0].line) if here else None)
    return refused


def _keep_alive(error: Exception) -> None:
    """Never let go of what pyasc was working on: freed in the order of Python's garbage, it ends the process."""
    held: list[Any] = [error]
    trace = error.__traceback__
    while trace is not None:
        held.append(dict(trace.tb_frame.f_locals))
        trace = trace.tb_next
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(held))


def _site_of_node(node: Any, functions: Mapping[Function, Any]) -> tuple[str, int] | None:
    """Where a node of pyasc's tree stands. pyasc counts lines from the `def`; nodes that it makes up have none."""
    if not isinstance(node, ast.AST):
        return None
    wanted = {id(inner): inner.lineno for inner in ast.walk(node) if hasattr(inner, "lineno")}
    for function, made in functions.items():
        found = definition(function.fn)
        lines = [wanted[id(inner)] for inner in ast.walk(made.node) if id(inner) in wanted]
        if lines and found is not None:
            return function.fn.__code__.co_filename, found.node.lineno + min(lines) - 1
    return None


def _site_of_line(line: int, file: str, functions: Mapping[Function, Any]) -> tuple[str, int] | None:
    """Where a line of pyasc's compiler stands: it adds the lines from the `def` to the line of the first decorator."""
    for function in functions:
        code, found = function.fn.__code__, definition(function.fn)
        if found is None or code.co_filename != file:
            continue
        at = found.node.lineno + line - code.co_firstlineno - 1
        if found.node.lineno <= at <= (found.node.end_lineno or 0):
            return file, at
    return None


class _Said:
    """What was written to the process's standard error while pyasc worked."""

    def __init__(self, file: Any) -> None:
        self.file = file

    def flush(self) -> None:
        if self.file is not None:
            self.file.flush()

    def read(self) -> str:
        if self.file is None:
            return ""
        self.file.seek(0)
        return str(self.file.read().decode(errors="replace"))


@contextmanager
def diagnostics() -> Iterator[_Said]:
    """Keep what pyasc's compiler writes past Python to standard error, where its reasons stand."""
    try:
        sys.stderr.flush()
        kept = os.dup(2)
    except (OSError, AttributeError, ValueError):  # a process without one
        yield _Said(None)
        return
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), 2)
        try:
            yield _Said(file)
        finally:
            os.dup2(kept, 2)
            os.close(kept)


@dataclass
class Emitting:
    """An observer of launches (`settings(observer=...)`): emits the text of each, then lets it run.

    A kernel that is refused ends the launch; `refused` keeps the error, should the script go on regardless.
    """

    emissions: list[Emission] = field(default_factory=list)
    refused: list[BackendError] = field(default_factory=list)

    def __call__(self, request: Request, run: Callable[[], Any]) -> Any:
        try:
            self.emissions.append(emission_of(request))
        except BackendError as error:
            self.refused.append(error)
            raise
        return run()

"""`jit`: makes a Python function a kernel, `kernel[blocks, stream](...)`, and a device function that kernels call.

What the options do here is told in `ascsim.lib.options`; how the body is made runnable in `ascsim.lib.rewrite`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import FunctionType
from typing import Any, overload

from ascsim.hw.errors import ArgumentTypeError, LaunchError, OptionError, SimulatorError, SimulatorWarning
from ascsim.report.table import Report

from .device_call import device_call
from .function import Function
from .launch import launch
from .options import COMPILING, LAUNCHING, LaunchOptions, check_options
from .request import Request
from .runtime.support import Stream
from .traces import as_written, authors_trace


class JITFunction(Function):
    """A function of kernel Python.

    On the host `kernel[blocks, stream](...)` launches it. In a kernel it is called like any function: numbers become
    run-time scalars on the way in (unless the parameter is a ConstExpr) and on the way out; objects are shared.
    """

    __slots__ = ("__call__",)  # a call goes straight to the function that the object holds here, see device_call

    __call__: Callable[..., Any]
    __iter__ = None  # kernel[0], kernel[1] ... is no sequence; Python would go through it without an end

    def __init__(self, fn: FunctionType, **options: Any) -> None:
        if not isinstance(fn, FunctionType):
            raise ArgumentTypeError("jit", "is not a Python function", operand="fn", value=fn)
        if inspect.isgeneratorfunction(fn) or inspect.iscoroutinefunction(fn) or inspect.isasyncgenfunction(fn):
            raise ArgumentTypeError("jit", "calling a generator or coroutine runs nothing", operand=fn.__qualname__)
        clash = [name for name in inspect.signature(fn).parameters if name in COMPILING | LAUNCHING]
        if clash:
            rule = "these names are options of jit: " + ", ".join(sorted(COMPILING | LAUNCHING))
            raise OptionError("jit", f"parameter of {fn.__name__} named like an option", operand=clash[0], rule=rule)
        check_options(options)
        super().__init__(fn)
        self.__call__ = self._first_call  # what it needs is known only when the module is complete
        self.default_options = options
        self.launch_options = LaunchOptions()
        self.__doc__, self.__module__ = fn.__doc__, fn.__module__
        self.__name__, self.__qualname__, self.__wrapped__ = fn.__name__, fn.__qualname__, fn

    def __repr__(self) -> str:
        return f"<jit function {self.__qualname__}>"

    def __getitem__(self, where: int | tuple[Any, ...]) -> Callable[..., Report]:
        parts = where if isinstance(where, tuple) else (where,)
        if len(parts) not in (1, 2):
            rule = "kernel[core_num] or kernel[core_num, stream]"
            raise ArgumentTypeError(self.__name__, "wrong launch options", operand="[...]", value=where, rule=rule)
        self.launch_options = options = LaunchOptions(*parts)
        if options.stream is not None and not isinstance(options.stream, Stream):
            rule = "None, or one of asc.lib.runtime"
            raise ArgumentTypeError(self.__name__, "is no stream", operand="stream", value=options.stream, rule=rule)

        def launcher(*args: Any, **kwargs: Any) -> Report:
            try:
                return launch(Request(self, options, self.default_options, args, kwargs))
            except (SimulatorError, SimulatorWarning) as error:
                raise error.with_traceback(authors_trace(error)) from error.__cause__
            except Exception as error:
                raise error.with_traceback(as_written(error.__traceback__)) from error.__cause__

        return launcher

    def __get__(self, owner: Any, kind: Any = None) -> Any:
        return self if owner is None else _Method(self, owner)

    def _first_call(self, *args: Any, **kwargs: Any) -> Any:
        self.__call__ = device_call(self)
        return self.__call__(*args, **kwargs)


class _Method:
    """A jit function found on an object: a device function that passes the object on."""

    __slots__ = ("function", "owner")

    def __init__(self, function: JITFunction, owner: Any) -> None:
        self.function, self.owner = function, owner

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(self.owner, *args, **kwargs)

    def __getitem__(self, where: Any) -> Any:
        name = self.function.__qualname__
        raise LaunchError(name, "a kernel cannot be a method", rule="a kernel is a function of a module")


@overload
def jit(fn: FunctionType) -> JITFunction: ...


@overload
def jit(**options: Any) -> Callable[[FunctionType], JITFunction]: ...


def jit(fn: Any = None, **options: Any) -> Any:
    """Make a kernel or device function: `@jit` or `@jit(option=value, ...)`.

    Options: see `ascsim.lib.options`, which tells what each does here.
    """
    if fn is not None:
        return JITFunction(fn, **options)
    return lambda function: JITFunction(function, **options)

"""`jit`: makes a Python function a kernel, `kernel[blocks, stream](...)`, and a device function that kernels call.

What the options do here is told in `ascsim.lib.options`; how the body is made runnable in `ascsim.lib.rewrite`.
"""

from __future__ import annotations

import inspect
import operator
import warnings
from collections.abc import Callable
from functools import cached_property
from types import FunctionType
from typing import Any, overload

from ascsim.hw import current
from ascsim.hw.errors import ArgumentTypeError, LaunchError, OptionError, SimulatorWarning
from ascsim.report.table import Report

from .arguments import NUMBERS, arranged, constant, mapped, typed
from .function import Function
from .launch import first_constants, launch
from .options import COMPILING, LAUNCHING, LaunchOptions, check_options

_PLAIN_KINDS = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


class JITFunction(Function):
    """A function of kernel Python.

    On the host `kernel[blocks, stream](...)` launches it. In a kernel it is called like any function: numbers become
    run-time scalars on the way in (unless the parameter is a ConstExpr) and on the way out; objects are shared.
    """

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

        def launcher(*args: Any, **kwargs: Any) -> Report:
            return launch(self, options, self.default_options, args, kwargs)

        return launcher

    def __get__(self, owner: Any, kind: Any = None) -> Any:
        return self if owner is None else _Method(self, owner)

    # --- as a device function: called for every tile of a kernel, so the plain case takes few steps -----------------

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if current.core.get() is None:
            raise LaunchError(self.__name__, "called on the host", rule=f"{self.__name__}[core_num](...) launches it")
        arity, numbers, fixed = self._plan
        if kwargs or len(args) != arity:
            args, kwargs = self._arranged(args, kwargs)
        elif not NUMBERS.isdisjoint(map(type, args if numbers is None else numbers(args))):
            args = self._converted(args)
        if fixed is not None:
            values, seen = fixed(args), first_constants.get()
            if seen is None or seen.get(self) != values:
                args = self._checked(args, values, seen)
        result = self.body(*args, **kwargs)
        if result is None:
            return None
        if result.__class__ is tuple or result.__class__ is list:
            return result.__class__(map(typed, result))
        return typed(result)

    @cached_property
    def _plan(self) -> tuple[int, Callable[..., Any] | None, Callable[..., Any] | None]:
        """Number of parameters (-1: not all plain), and what picks the run-time and the compile-time ones."""
        names = list(self.signature.parameters)
        if any(parameter.kind not in _PLAIN_KINDS for parameter in self.signature.parameters.values()):
            return -1, None, None
        if not self.constants:
            return len(names), None, None
        chosen = [index for index, name in enumerate(names) if name in self.constants]
        others = [index for index in range(len(names)) if index not in chosen]
        return len(names), _picker(others), _picker(chosen)

    def _arranged(self, args: Any, kwargs: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """A call with keywords or defaults, or of a function that has other than plain parameters."""

        def converted(name: str, label: str, value: Any) -> Any:
            return constant(label, value, self.constants[name]) if name in self.constants else typed(value)

        return mapped(arranged(self.fn, self.signature, args, kwargs), converted)

    def _converted(self, args: Any) -> tuple[Any, ...]:
        """A plain call some of whose run-time arguments are plain numbers."""
        named = zip(self.signature.parameters, args, strict=True)
        return tuple(value if name in self.constants else typed(value) for name, value in named)

    def _checked(self, args: Any, values: Any, seen: dict[Any, Any] | None) -> tuple[Any, ...]:
        """The first call in a launch, or one whose compile-time arguments differ from those of the first."""
        names = self.signature.parameters
        pairs = zip(names, args, strict=True)
        args = [
            constant(name, value, self.constants[name]) if name in self.constants else value for name, value in pairs
        ]
        if seen is None or seen.setdefault(self, values) is values or (self, "warned") in seen:
            return args
        seen[self, "warned"] = True
        text = (
            f"{self.__name__}: compile-time arguments {values} differ from {seen[self]} of the first call; "
            "the compiler would reuse the code made for the first"
        )
        warnings.warn(text, SimulatorWarning, stacklevel=3)
        return args


def _picker(indices: list[int]) -> Callable[[Any], Any]:
    """A function from the arguments to the tuple of those at `indices`."""
    if len(indices) > 1:
        return operator.itemgetter(*indices)
    start = indices[0] if indices else 0
    return operator.itemgetter(slice(start, start + len(indices)))


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

"""Calls of one jit function from another: the function between the author's call and the author's body.

Kernels make such calls for every tile, so each function gets one of its own, with the parameters of the original
(Python itself binds keywords and defaults) and a test of just those arguments that may have to change:

    def copy_in(i, x, n):                                # n: ConstExpr[int]
        now = core()
        if now is None: refuse()                         # called on the host
        if i.__class__ in NUMBERS: i = typed(i)          # numbers become run-time scalars
        if x.__class__ in NUMBERS: x = typed(x)
        known = firsts()                                 # compile-time arguments are fixed by the first call
        if known is None or known.get(key) != (n, n.__class__): (n,) = checked((n,))
        outer = now.activation                           # None where the launch is not recorded
        if outer is not None: enter(now)
        result = body(i, x, n)
        now.activation = outer
        return result if result is None else returned(result)
"""

from __future__ import annotations

import inspect
import sys
import warnings
from typing import Any, NoReturn

from ascsim.hw import current
from ascsim.hw.calls import Activation
from ascsim.hw.core import Core
from ascsim.hw.errors import LaunchError, SimulatorWarning
from ascsim.hw.findings import locate
from ascsim.language.core.place import PACKAGE

from .arguments import NUMBERS, constant, typed
from .function import Function
from .launch import first_constants

_VARIADIC: dict[Any, str] = {
    inspect.Parameter.VAR_POSITIONAL: "{0} = tuple(map(_jit_typed, {0}))",
    inspect.Parameter.VAR_KEYWORD: "{0} = {{key: _jit_typed(value) for key, value in {0}.items()}}",
}
_SINGLE = "if {0}.__class__ in _jit_numbers: {0} = _jit_typed({0})"
_PASSED: dict[Any, str] = {
    inspect.Parameter.VAR_POSITIONAL: "*{0}",
    inspect.Parameter.VAR_KEYWORD: "**{0}",
    inspect.Parameter.KEYWORD_ONLY: "{0}={0}",
}


def device_call(function: Function) -> Any:
    """The function that runs when a kernel calls `function`."""
    fn, parameters, constants = function.fn, function.signature.parameters, function.constants
    empty = inspect.Parameter.empty
    bare = inspect.Signature([p.replace(annotation=empty, default=empty) for p in parameters.values()])
    lines = [f"def call{bare}:", "_jit_now = _jit_core()", "if _jit_now is None: _jit_refuse()"]
    lines += [_VARIADIC.get(p.kind, _SINGLE).format(name) for name, p in parameters.items() if name not in constants]
    if constants:
        names = f"({', '.join(constants)},)"
        known = f"({', '.join((*constants, *(f'{name}.__class__' for name in constants)))})"  # 4.0 is no 4
        lines.append("_jit_known = _jit_firsts()")
        lines.append(f"if _jit_known is None or _jit_known.get(_jit_key) != {known}: {names} = _jit_checked({names})")
    passed = ", ".join(_PASSED.get(p.kind, "{0}").format(name) for name, p in parameters.items())
    lines += ["_jit_outer = _jit_now.activation", "if _jit_outer is not None: _jit_enter(_jit_now)"]
    lines += [f"_jit_result = _jit_body({passed})", "_jit_now.activation = _jit_outer"]
    lines.append("return _jit_result if _jit_result is None else _jit_returned(_jit_result)")

    space: dict[str, Any] = {
        "_jit_core": current.core.get,
        "_jit_enter": _enter,
        "_jit_refuse": lambda: _refuse(fn.__name__),
        "_jit_numbers": NUMBERS,
        "_jit_typed": typed,
        "_jit_firsts": first_constants.get,
        "_jit_key": function,
        "_jit_checked": lambda values: _checked(function, values),
        "_jit_body": function.body,
        "_jit_returned": _returned,
    }
    exec(compile("\n    ".join(lines), f"<call of {fn.__qualname__}>", "exec"), space)
    call: Any = space["call"]
    call.__defaults__, call.__kwdefaults__ = fn.__defaults__, fn.__kwdefaults__
    call.__name__, call.__qualname__, call.__module__ = fn.__name__, fn.__qualname__, fn.__module__
    return call


def _refuse(name: str) -> NoReturn:
    raise LaunchError(name, "called on the host", rule=f"{name}[core_num](...) launches it")


def _enter(core: Core) -> None:
    """A recorded launch tells the runs of a device function apart."""
    frame = sys._getframe(2)
    while frame.f_code.co_filename.startswith(PACKAGE) and frame.f_back is not None:  # a first call, or a method's
        frame = frame.f_back
    core.activation = Activation(core.activation, locate((frame.f_code, frame.f_lasti)))


def _returned(result: Any) -> Any:
    """What a device function gives back: numbers as run-time scalars, in a tuple or list too."""
    if result.__class__ is tuple or result.__class__ is list:
        return result.__class__(map(typed, result))
    return typed(result)


def _checked(function: Function, values: tuple[Any, ...]) -> tuple[Any, ...]:
    """The compile-time arguments of the first call in a launch, or of one that differs from the first."""
    name = function.fn.__name__
    named = zip(function.constants.items(), values, strict=True)
    values = tuple(constant(label, value, types) for (label, types), value in named)
    known = first_constants.get()
    if known is None:
        return values
    first = known.setdefault(function, (*values, *[value.__class__ for value in values]))[: len(values)]
    if first == values or (function, "warned") in known:
        return values
    known[function, "warned"] = True
    text = (
        f"{name}: compile-time arguments {values} differ from {first} of the first call; "
        "the compiler would use the code made for the first again"
    )
    warnings.warn(text, SimulatorWarning, stacklevel=4)
    return values

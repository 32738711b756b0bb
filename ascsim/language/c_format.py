"""The format strings of `printf`, with the conversions that the device prints. Page: printf.

Flags, width and precision are C's. A literal backslash and n is a newline, as in the C source that a kernel becomes;
the device prints no other escapes. Integers are printed as their bits: %u and %x of -1 in int32 give 4294967295 and
ffffffff, whatever length modifier stands there; so does %d show an unsigned number as a signed one.
"""

from __future__ import annotations

import operator
import re
from typing import Any

import numpy as np

from ..hw.errors import ArgumentTypeError, ArgumentValueError
from ..hw.findings import one
from .core.address import GlobalAddress
from .core.ir_value import PlainValue, unwrap

_SPEC = re.compile(r"%(?:%|([-+ #0]*\d*(?:\.\d*)?)(ll|l)?(.?))", re.DOTALL)
CONVERSIONS = "%d %i %u %x %f %F %s %p, the integers also with l or ll, and %%"
_WORD = 32  # bits: what C makes of a narrower integer


def formatted(text: str, arguments: tuple[Any, ...]) -> str:
    """What `printf(text, *arguments)` prints."""
    if not isinstance(text, str):
        raise ArgumentTypeError("printf", "is no string", operand="desc", value=text)
    rest = list(arguments)

    def one(match: re.Match[str]) -> str:
        if match.group() == "%%":
            return "%"
        shape, length, kind = match.groups()
        if kind not in _KINDS or not kind or (length and kind not in "dixu"):
            raise ArgumentValueError("printf", operand="conversion", value=match.group(), rule=CONVERSIONS)
        if not rest:
            raise _count(text, len(arguments))
        return _KINDS[kind](f"%{shape}", rest.pop(0), match.group())

    out = _SPEC.sub(one, _newlines(text))
    if rest:
        raise _count(text, len(arguments))
    return out


def _newlines(text: str) -> str:
    escape = re.search(r"\\(?!n)", text)
    if escape:
        shown = text[escape.start() : escape.start() + 2]
        raise ArgumentValueError("printf", operand="escape", value=shown, rule="the device knows \\n alone")
    return text.replace("\\n", "\n")


def _count(text: str, given: int) -> ArgumentValueError:
    needs = sum(match.group() != "%%" for match in _SPEC.finditer(text))
    return ArgumentValueError("printf", operand="params", value=given, rule=f"as many as {text!r} asks for: {needs}")


def _integer(argument: Any, spec: str) -> tuple[int, int]:
    """The number and its width in bits."""
    plain = unwrap(argument)
    try:
        number = operator.index(plain)
    except TypeError:
        raise _wrong(argument, spec, "an integer") from None
    if isinstance(argument, PlainValue):
        bits = max(argument.dtype.bitwidth or 0, _WORD)
    else:
        bits = _WORD if -(1 << 31) <= number < 1 << 32 else 64
    return number, bits


def _wrong(argument: Any, spec: str, rule: str) -> ArgumentTypeError:
    kind = str(argument.dtype) if isinstance(argument, PlainValue) else type(argument).__name__
    return ArgumentTypeError("printf", f"got {one(kind)}", operand=spec, value=argument, rule=f"{spec} takes {rule}")


def _signed(shape: str, argument: Any, spec: str) -> str:
    number, bits = _integer(argument, spec)
    half = 1 << (bits - 1)
    return f"{shape}d" % ((number + half) % (2 * half) - half)


def _unsigned(shape: str, argument: Any, spec: str) -> str:
    number, bits = _integer(argument, spec)
    return f"{shape}d" % (number % (1 << bits))


def _hexadecimal(shape: str, argument: Any, spec: str) -> str:
    number, bits = _integer(argument, spec)
    return f"{shape}x" % (number % (1 << bits))


def _float(shape: str, argument: Any, spec: str) -> str:
    plain = unwrap(argument)
    if isinstance(plain, (bool, int, str, np.ndarray, type)) or not hasattr(plain, "__float__"):
        raise _wrong(argument, spec, "a float")
    text: str = f"{shape}f" % float(plain)
    return text


def _string(shape: str, argument: Any, spec: str) -> str:
    plain = unwrap(argument)
    if not isinstance(plain, str):
        raise _wrong(argument, spec, "a string")
    return f"{shape}s" % plain


def _pointer(shape: str, argument: Any, spec: str) -> str:
    if isinstance(argument, GlobalAddress):
        number = argument.array.address + argument.offset
    else:
        number, _ = _integer(argument, spec)
    return f"{shape}s" % f"{number % (1 << 64):#x}"


_KINDS = {
    **dict.fromkeys("di", _signed),
    "u": _unsigned,
    "x": _hexadecimal,
    **dict.fromkeys("fF", _float),
    "s": _string,
    "p": _pointer,
}

"""What can go wrong, as values: the error classes. The finding that a report is made of is in `findings`.

An error is built from fields (operation, operand, value, rule, nearest legal value), never from a ready
sentence, so that tests, tools and the report agree on them. Where kernel Python promises a builtin exception
(a bad option is a RuntimeError, say) the class derives from that one too.

Bad input is told in one of two ways. What the fault list has a code for (mask, repeat, stride, position, type, flag id
of an instruction that a core is given) is a finding: a `FoundError` that a launch may collect instead, as far as it can
go on. All else (a value of the wrong kind, a limit without a code) is an `ArgumentTypeError` or `ArgumentValueError`,
raised at once whatever the checks say; so is a field of a parameter structure, which is made before any instruction
is, with the code of the list in `code`.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any

_SHOWN = 200  # characters of a value


def shown(value: Any) -> str:
    """A value in one line, cut where it is long."""
    text = " ".join(repr(value).split())
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]} ..."


class SimulatorError(Exception):
    """Base of every exception that ascsim raises.

    Fields: `code` (a name of the fault list, or ''), `operation` (the call), `operand`, `value` (what was
    given), `rule` (what is legal, and where it is written), `nearest` (a legal value to use instead).
    """

    code = ""

    def __init__(
        self,
        operation: str,
        problem: str = "",
        *,
        operand: str = "",
        value: Any = None,
        rule: str = "",
        nearest: Any = None,
        code: str = "",
    ) -> None:
        self.operation, self.problem, self.operand = operation, problem, operand
        self.value, self.rule, self.nearest = value, rule, nearest
        if code:
            self.code = code
        super().__init__(self.text())

    def text(self) -> str:
        """One line: `CODE: operation: operand = value: problem; rule: ...; nearest legal value: ...`."""
        head = f"{self.code}: {self.operation}" if self.code else self.operation
        subject = self.operand if self.value is None else f"{self.operand or 'value'} = {shown(self.value)}"
        line = ": ".join(part for part in (head, subject, self.problem) if part)
        if self.rule:
            line += f"; rule: {self.rule}"
        if self.nearest is not None:
            line += f"; nearest legal value: {self.nearest}"
        return line


class FoundError(SimulatorError):
    """An error that carries a `Finding` of the machine."""

    def __init__(self, finding: Any) -> None:
        self.finding = finding
        super().__init__(finding.operation, finding.message, code=finding.code)

    def text(self) -> str:
        return str(self.finding.text())

    def __reduce__(self) -> Any:
        return type(self), (self.finding,)


class HazardError(FoundError):
    """Two accesses to the same bytes that nothing orders (RAW, WAR, WAW, NO_BARRIER_*, GM_RACE_*)."""


class SyncError(FoundError):
    """A flag, event or barrier used against its rules (FLAG_*, XFLAG_*, EVENT_EXHAUSTED, SYNC_*)."""


class DeadlockError(SyncError):
    """No core can go on: the report lists where every core and pipe waits."""


class MemoryFault(FoundError):
    """An access outside, across, or before anything was written (OOB_*, MISALIGNED_*, UNINIT_READ, ...)."""


class QueueError(FoundError):
    """A TQue, TBuf, TBufPool or TPipe used against its states (QUE_*, BUF_LIMIT, POOL_OVERLAP, PIPE_TWICE)."""


class OperandError(FoundError):
    """An operand, mask, repeat or stride that the instruction does not take (BAD_*, OVERLAP_*, WRONG_CORE)."""


class TrapError(FoundError):
    """The kernel called `trap`."""


class ArgumentTypeError(SimulatorError, TypeError):
    """A value of a type that the call does not take."""


class ArgumentValueError(SimulatorError, ValueError):
    """A value outside what the call takes."""


class ScalarError(SimulatorError, TypeError):
    """An operation that run-time scalars do not have (`**`, `~`, `int(x)`, float shifts ...)."""


class OptionError(SimulatorError, RuntimeError):
    """An unknown or clashing option of `jit`, or a setting that does not exist."""


class ConstExprError(SimulatorError, RuntimeError):
    """An argument that its `ConstExpr[...]` annotation does not allow."""


class StructError(SimulatorError, RuntimeError):
    """A struct declared or constructed against its rules."""


class StaticAssertError(SimulatorError, AssertionError):
    """`static_assert` failed."""


class ScalarRangeError(SimulatorError, OverflowError):
    """A number that does not fit the width it must have."""


class ArrayIndexError(SimulatorError, IndexError):
    """An index outside a fixed-length array or a tensor."""


class LaunchError(SimulatorError, RuntimeError):
    """A kernel called outside a launch, or a launch that cannot be made."""


class NotSimulatedError(SimulatorError, NotImplementedError):
    """A part of the API that the simulator does not model; the text says why."""


class NoSuchNameError(SimulatorError, AttributeError):
    """A name that neither the API nor the package has."""

    @classmethod
    def among(cls, module: str, name: str, names: Iterable[str], rule: str = "") -> NoSuchNameError:
        """The error for a name of a module, with the one of `names` that differs least (case and `_` aside)."""
        bare = {known.rpartition(".")[2].replace("_", "").lower(): known for known in names if known[0] != "_"}
        near = get_close_matches(name.replace("_", "").lower(), bare, 1, 0.8)
        nearest = bare[near[0]] if near else None
        return cls(module, "no such name", operand="attribute", value=name, rule=rule, nearest=nearest)


class BackendError(SimulatorError, RuntimeError):
    """What the chosen backend or platform lacks."""


class FrontEndError(BackendError):
    """pyasc's front end refuses a kernel. `site` is the file and line that it names, None where it names none."""

    site: tuple[str, int] | None = None


class NoCounterpartError(FrontEndError):
    """pyasc has no counterpart of a name that a kernel uses."""


class MissingExtraError(SimulatorError, ImportError):
    """An optional package that a part of ascsim needs is not installed."""


class OrderDependenceError(SimulatorError, AssertionError):
    """A kernel gives other bytes in another legal order. `orders` maps each such order to the first difference."""

    def __init__(self, story: str, orders: dict[str, Any]) -> None:
        self.orders = orders
        super().__init__("assert_order_independent", story)

    def text(self) -> str:
        return self.problem

    def __reduce__(self) -> Any:
        return type(self), (self.problem, self.orders)


class SimulatorWarning(UserWarning):
    """Category of every warning that ascsim gives."""

"""What a recorded launch was told to do: the calls of every core's text, in program order.

The calls are those by which the machine is driven: an instruction, a flag, a barrier, a meeting of cores. Made again
(`rerun`), with some left out or some put in, they tell what a kernel would be with other flags. Calls inside such a
call are not entered, nor is the execution of what was parked.

A long launch makes a few calls over and over. So a call is kept as four words: what is the same in every turn of its
loop, once for all turns, and the turn, the run of the function and the place in global memory, which differ.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from types import CodeType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

from . import current
from .findings import Site, locate

if TYPE_CHECKING:
    from .core import Core

F = TypeVar("F", bound=Callable[..., Any])
SLOTS = 4  # of a call in the rows of its core
NO_NAMES: dict[str, Any] = {}  # named arguments of nearly every call: one dictionary for all


class Activation:
    """One run of a function of the kernel: where it was called (file and line), in which run. The kernel's own has
    neither."""

    __slots__ = ("outer", "site")

    def __init__(self, outer: Activation | None = None, site: Site | None = None) -> None:
        self.outer, self.site = outer, site


class Call(NamedTuple):
    """One call: a method of `core` by its name, or a function. `core` is another than the text's where it serves that
    one; such calls have no site, for the author cannot put anything beside them."""

    core: Core
    what: str | Callable[..., Any]
    args: tuple[Any, ...]
    named: dict[str, Any]
    site: Site | None
    turn: int  # of the innermost loop
    activation: Activation | None = None  # of the function whose text makes it


class Calls:
    """The calls of a launch, by the serial number of the core whose text makes them."""

    __slots__ = ("inside", "rows", "same", "sites")

    def __init__(self) -> None:
        self.rows: dict[int, list[Any]] = {}  # its Calls without what differs, at, turn, activation
        self.same: dict[tuple[Any, ...], Call] = {}
        self.sites: dict[tuple[int, int], Site] = {}
        self.inside: set[int] = set()  # cores whose text is inside an entered call

    @property
    def of(self) -> dict[int, list[Call]]:
        """The calls of every core, in order; their sites as file and line, for they are asked for them many times."""
        sites = {id(call.site): call.site for rows in self.rows.values() for call in rows[::SLOTS]}
        lines = {key: None if site is None else locate(site) for key, site in sites.items()}
        return {
            serial: [
                call._replace(
                    args=call.args if at is None else (*call.args, at),
                    site=lines[id(call.site)] if call.core.serial == serial else None,
                    turn=turn,
                    activation=activation,
                )
                for call, at, turn, activation in zip(*(rows[slot::SLOTS] for slot in range(SLOTS)), strict=True)
            ]
            for serial, rows in self.rows.items()
        }

    def site(self, site: Site) -> Site:
        """The one object for a call site. (Equal code objects may come from two files.)"""
        return self.sites.setdefault((id(site[0]), site[1]), site)

    def enter(self, core: Core, what: str, args: tuple[Any, ...], site: Site | None, at: int | None = None) -> None:
        """Append a call of a method that the program makes; `at`, where it has one, is its last argument."""
        key = (what, core.serial, *map(id, args))
        call = self.same.get(key)
        if call is None:
            call = self.same[key] = Call(core, what, args, NO_NAMES, site, -1)
        self._append(call, at)

    def function(
        self,
        core: Core,
        what: Callable[..., Any],
        args: tuple[Any, ...],
        site: Site | None,
        named: dict[str, Any] = NO_NAMES,
    ) -> None:
        """Append a call of a function."""
        self._append(Call(core, what, args, named or NO_NAMES, site, -1))

    def _append(self, call: Call, at: int | None = None) -> None:
        serial = _running(call.core)
        if call.core.resumed is None and serial not in self.inside:
            self.rows.setdefault(serial, []).extend((call, at, call.core.turn, call.core.activation))

    def whole(self, core: Core, function: Callable[..., Any], args: tuple[Any, ...], named: dict[str, Any]) -> Any:
        """Make a call that makes others, and enter it alone."""
        serial = _running(core)
        if core.resumed is not None or serial in self.inside:
            return function(*args, **named)
        self.function(core, function, args, named.get("site") or _site(args), named)
        self.inside.add(serial)
        try:
            return function(*args, **named)
        finally:
            self.inside.discard(serial)


def recorded(at: int = 0) -> Callable[[F], F]:
    """A function whose calls a recorded launch enters as one; its argument number `at` is the core."""

    def decorate(function: F) -> F:
        @wraps(function)
        def call(*args: Any, **named: Any) -> Any:
            core = args[at]
            record = core.device.record
            if record is None:
                return function(*args, **named)
            return record.calls.whole(core, function, args, named)

        return cast(F, call)

    return decorate


def _running(core: Core) -> int:
    """The core whose text runs: not always the one that is told to do something."""
    running = current.core.get()
    return int((core if running is None else running).serial)


def _site(args: tuple[Any, ...]) -> Site | None:
    """The call site among the arguments."""
    for arg in args:
        if isinstance(arg, tuple) and len(arg) == 2 and isinstance(arg[0], CodeType | str) and isinstance(arg[1], int):
            return arg
    return None

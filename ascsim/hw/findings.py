"""The fault list: every code with its severity and error class, and the Finding a report is made of."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from types import CodeType
from typing import Any

from . import errors as e

# code: (severity, error class, ends the launch even when faults are collected)
_ROWS: tuple[tuple[str, type[e.FoundError], bool, str], ...] = (
    ("fault", e.HazardError, False, "RAW WAR WAW NO_BARRIER_RAW NO_BARRIER_WAW"),
    ("fault", e.HazardError, False, "GM_RACE_RW GM_RACE_WW UNITFLAG_MISMATCH"),
    ("fault", e.HazardError, False, "CACHE_NOT_FLUSHED CACHE_STALE CACHE_LINE_SHARED"),
    ("warn", e.HazardError, False, "NO_BARRIER_WAR"),
    ("warn", e.HazardError, False, "GM_TAIL"),
    ("note", e.HazardError, False, "ATOMIC_ORDER"),
    ("fault", e.SyncError, False, "FLAG_LEFT_SET FLAG_DOUBLE_SET FLAG_ID_CONFLICT XFLAG_LEFT_SET XFLAG_OVERFLOW"),
    ("fault", e.SyncError, False, "XFLAG_BAD_ID XFLAG_RESERVED_ID XFLAG_MODE_MIX XFLAG_AMBIGUOUS XFLAG_KERNEL_TYPE"),
    ("fault", e.SyncError, False, "SYNC_WORKSPACE"),
    ("fault", e.SyncError, True, "FLAG_BAD_ID EVENT_EXHAUSTED"),
    ("note", e.SyncError, False, "SYNC_REDUNDANT"),
    ("warn", e.SyncError, False, "FLAG_RESERVED_ID FLAG_BAD_PAIR XFLAG_TOO_MANY_BLOCKS"),
    ("fault", e.DeadlockError, True, "DEADLOCK"),
    ("fault", e.MemoryFault, True, "OOB_GM OOB_PHYS MISALIGNED_ADDR MEM_OVERFLOW"),
    ("fault", e.MemoryFault, False, "USE_AFTER_FREE"),
    ("warn", e.MemoryFault, False, "OOB_BUF MISALIGNED_LEN UNINIT_READ RESERVED_MEM"),
    ("note", e.MemoryFault, False, "DEAD_STORE"),
    ("fault", e.OperandError, True, "BAD_POSITION BAD_DTYPE WRONG_CORE BAD_REPEAT BAD_STRIDE BAD_MASK BAD_PIPE"),
    ("fault", e.OperandError, False, "OVERLAP_PARTIAL OVERLAP_REPEAT"),
    ("warn", e.OperandError, False, "ZERO_LENGTH"),
    ("fault", e.QueueError, True, "QUE_DOUBLE_FREE QUE_EMPTY QUE_FULL QUE_STATE QUE_WRONG_TENSOR"),
    ("fault", e.QueueError, True, "QUE_POSITION QUE_NOT_INIT"),
    ("fault", e.QueueError, True, "BUF_LIMIT PIPE_TWICE"),
    ("fault", e.QueueError, False, "QUE_NOT_DEQUED POOL_OVERLAP"),
    ("warn", e.QueueError, False, "QUE_LEAK"),
    ("fault", e.TrapError, True, "TRAP"),
)
SEVERITY = {code: severity for severity, _, _, codes in _ROWS for code in codes.split()}
ERROR = {code: error for _, error, _, codes in _ROWS for code in codes.split()}
AT_ONCE = frozenset(code for _, _, at_once, codes in _ROWS if at_once for code in codes.split())

Site = tuple[Any, int]  # (code object of the author's function, instruction offset), or (file name, line)


def author(depth: int) -> Site:
    """The call site `depth` frames above the caller."""
    frame = sys._getframe(depth + 1)
    return frame.f_code, frame.f_lasti


def locate(site: Site | None) -> tuple[str, int]:
    """File name and line of a call site."""
    if site is None:
        return "?", 0
    code, offset = site
    if not isinstance(code, CodeType):
        return str(code), offset
    for start, end, line in code.co_lines():
        if start <= offset < end and line is not None:
            return code.co_filename, line
    return code.co_filename, code.co_firstlineno


def place(site: Site | None) -> str:
    """`kernel.py:31`, the form in which reports name a line."""
    name, line = locate(site)
    return f"{name.replace(chr(92), '/').rsplit('/', 1)[-1]}:{line}"


def many(n: int, thing: str) -> str:
    """`1 entry`, `2 entries`."""
    if n == 1:
        return f"1 {thing}"
    return f"{n} {thing[:-1]}ies" if thing.endswith("y") else f"{n} {thing}s"


def one(name: str) -> str:
    """`a float`, `an int`."""
    return f"{'an' if name[:1] in 'aeiouAEIOU' else 'a'} {name}"


@dataclass
class Finding:
    """One fault, warning or note, folded over cores and loop turns.

    `sites` are the call sites concerned, the one at which it was found last; `core` names the first core it
    was seen on ("aiv 0"); `count` and `cores` grow when an equal one is found again. `remedy` is the part of the
    message that tells what mends it, "" where there is none; `at_end` whether the program had made its last call.
    """

    code: str
    message: str
    core: str = ""
    operation: str = ""
    sites: tuple[Site | None, ...] = ()
    severity: str = ""
    count: int = 1
    cores: list[str] = field(default_factory=list)
    remedy: str = ""
    at_end: bool = False

    def __post_init__(self) -> None:
        self.severity = self.severity or SEVERITY[self.code]
        if self.core and not self.cores:
            self.cores.append(self.core)

    def __getstate__(self) -> dict[str, Any]:
        """For pickling and copying: call sites become file and line."""
        return {**self.__dict__, "sites": tuple(site and locate(site) for site in self.sites)}

    @property
    def key(self) -> tuple[Any, ...]:
        """Equal for findings that are one fault seen again."""
        return (self.code, self.severity, *map(locate, self.sites)) if self.sites else (self.code, self.message)

    def text(self) -> str:
        """One line: the code, then what happened and the remedy."""
        line = self.message if self.message.startswith(self.code) else f"{self.code}: {self.message}"
        if self.count > 1:
            more = f", on {len(self.cores)} cores" if len(self.cores) > 1 else ""
            line += f" [{self.count} times{more}]"
        return line

    def listed(self) -> str:
        """The text as an entry of a list, where no traceback tells the line: with the line, if the text has it not."""
        at = place(self.sites[-1]) if self.sites and self.sites[-1] is not None else ""
        return self.text() if not at or at in self.message else f"{self.text()} ({at})"

    def error(self) -> e.FoundError:
        """The exception that carries this finding."""
        return ERROR[self.code](self)

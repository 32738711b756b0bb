"""Flags inside a core, and the tokens and counters of flags between cores."""

from __future__ import annotations

from collections import deque
from typing import Any

from .findings import Site
from .pipe import Clock, Known, Pipe, Token

IDS = 8  # ids of one pipe pair
RESERVED = (6, 7)  # kept by the system and by automatic synchronisation
CROSS_IDS = 16
CROSS_LIMIT = 15  # a counter that would pass this stops the program

# HardEvent values of the vendor's API: number -> (source pipe, destination pipe)
EVENTS = tuple(
    tuple(name.split("_"))
    for name in (
        "MTE2_MTE1 MTE1_MTE2 MTE1_M M_MTE1 MTE2_V V_MTE2 MTE3_V V_MTE3 M_V V_M V_V MTE3_MTE1 MTE1_MTE3 MTE1_V MTE2_M "
        "M_MTE2 V_MTE1 M_FIX FIX_M MTE3_MTE2 MTE2_MTE3 S_V V_S S_MTE2 MTE2_S S_MTE3 MTE3_S MTE2_FIX FIX_MTE2 FIX_S "
        "M_S FIX_MTE3 MTE1_FIX FIX_MTE1 FIX_FIX"
    ).split()
)
EVENT_NUMBER = {"_".join(pair): number for number, pair in enumerate(EVENTS)}
# Pairs that the vendor's calls drop silently on the other kind of core; both halves of a mix kernel hold them.
SILENT = {
    "aic": frozenset("MTE2_V V_MTE2 MTE3_V V_MTE3 V_V S_V V_S".split()),
    "aiv": frozenset("MTE2_MTE1 MTE1_MTE2 MTE1_M M_MTE1 M_FIX FIX_M".split()),
}


class Flag:
    """One flag of a core: (source pipe, destination pipe, id).

    A FIFO of tokens pairs the k-th wait with the k-th set; `outstanding` counts sets less waits in issue order.
    """

    __slots__ = (
        *("dst", "event", "fetched", "fetched_at", "guard", "holder", "id", "last_set", "outstanding", "row", "src"),
        "tokens",
    )

    def __init__(self, row: FlagRow, number: int) -> None:
        self.row, self.id = row, number
        self.event, self.src, self.dst = row.event, row.src, row.dst
        self.reset()

    def reset(self) -> None:
        """As at power-on."""
        self.tokens: deque[tuple[Clock, Known, int]] = deque()  # the fields of a Token
        self.outstanding = 0
        self.last_set: Site | None = None
        self.holder = ""  # the queue that holds the id, in words
        self.fetched: tuple[Site, ...] = ()  # where the id was got without being reserved since `fetched_at`, at most 2
        self.fetched_at: Site | None = None  # `last_set` at that time: the same object as long as there is no new set
        self.guard = self.id in RESERVED  # the author may not use it without a word (`basic.block_sync`)

    @property
    def name(self) -> str:
        """`MTE2_V id 0`."""
        return f"{self.event} id {self.id}"


class FlagRow(dict[int, Flag]):
    """The flags of one event by id, made when first asked for. `guarded`: under a TPipe, which owns the ids.

    `taken` is what the last wait of the event has brought (`notes.redundant`).
    """

    __slots__ = ("dst", "event", "guarded", "src", "taken")

    def __init__(self, event: str, src: Pipe, dst: Pipe) -> None:
        super().__init__()
        self.event, self.src, self.dst, self.guarded = event, src, dst, False
        self.taken: Clock = []

    def reset(self) -> None:
        """As at power-on. The flags are kept: a kernel that has run on this core is likely to run on it again."""
        self.guarded, self.taken = False, []
        for flag in self.values():
            flag.reset()

    def __missing__(self, number: int) -> Flag:
        if number not in range(IDS):
            raise KeyError(number)
        flag = self[number] = Flag(self, number)
        flag.guard = self.guarded or flag.guard
        return flag


class Counter:
    """One cross-core flag of one core: as a counter that others raise, and as a flag that this core reports."""

    __slots__ = (
        *("key", "last_report", "last_set", "mode", "own_sets", "own_waits", "pushed", "targets", "token_mode"),
        *("token_site", "tokens", "waits"),
    )

    def __init__(self) -> None:
        self.tokens: deque[Token] = deque()  # not yet waited for
        self.pushed = self.waits = 0
        self.token_mode: int | None = None  # of the last token
        self.token_site: Site | None = None
        # Of this core's own reports: the last one's pipe, number and line, and since its mode is in use the round's
        # key, the cores it raises, sets and waits.
        self.last_report: tuple[Pipe, int, Site] | None = None
        self.last_set: Site | None = None
        self.mode: int | None = None
        self.key: tuple[Any, ...] = ()
        self.targets: list[int] = []
        self.own_sets = self.own_waits = 0


class Round:
    """Reports of one (mode, id) of one scope: the k-th of every member make the k-th round."""

    __slots__ = ("members", "reports")

    def __init__(self) -> None:
        self.reports: dict[int, deque[Token]] = {}
        self.members: list[int] = []

    def report(self, member: int, token: Token, members: list[int]) -> list[Token] | None:
        """Enter a report; the tokens of the round it completes, or None."""
        self.members = members
        self.reports.setdefault(member, deque()).append(token)
        if all(self.reports.get(m) for m in members):
            return [self.reports[m].popleft() for m in members]
        return None

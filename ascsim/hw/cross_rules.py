"""The rules of flags between cores: ids, modes, kernel types, and what is left at the end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .events import CROSS_IDS, Counter, Round
from .findings import Finding, Site, place
from .meetings import Meetings

if TYPE_CHECKING:
    from .core import Core
    from .device import Device

SYNC_ALL_IDS = range(11, 15)  # kept for the hard form of sync_all
MODES = ("all cores of one kind", "the two vector cores of a group", "cube and vector cores of a group")


class CrossRules(Meetings):
    """The part of `cross.Cross` that keeps the books and finds fault."""

    def __init__(self, device: Device) -> None:
        super().__init__(device)
        self.rounds: dict[tuple[Any, ...], Round] = {}
        self.counters: dict[int, list[Counter]] = {}
        self.by_author: dict[int, Site] = {}
        self.kept: dict[int, tuple[str, range, Site]] = {}  # ids of the library: whose, which, since where

    def counter(self, serial: int, number: int) -> Counter:
        """The counter of one core; it exists before the core has started."""
        return self.counters.setdefault(serial, [Counter() for _ in range(CROSS_IDS)])[number]

    def check(self, core: Core, number: int, site: Site, operation: str) -> int:
        """The id as the hardware takes it; ids that are not the author's are reported."""
        if not 0 <= number < CROSS_IDS:
            cut = number & (CROSS_IDS - 1)
            what = f"flag = {number} of {core.name}, {place(site)}, is cut to {cut}"
            text = f"{operation}: {what}; rule: 0 to 15; nearest legal value: {cut}"
            core.report("XFLAG_BAD_ID", text, site, operation=operation)
            number = cut
        self.by_author.setdefault(number, site)
        self.reserved(core, number, site)
        return number

    def keep(self, core: Core, numbers: range, operation: str, site: Site) -> None:
        """From now on these ids belong to a call of the library; the author's earlier uses count too."""
        for number in numbers:
            self.kept.setdefault(number, (operation, numbers, site))
            if number in self.by_author:
                self.reserved(core, number, self.by_author[number])

    def reserved(self, core: Core, number: int, site: Site) -> None:
        if number in self.kept:
            operation, numbers, since = self.kept[number]
            core.report(
                "XFLAG_RESERVED_ID",
                f"flag {number} of {core.name} ({place(site)}) belongs to {operation} ({place(since)}), "
                f"which uses {numbers[0]} to {numbers[-1]}",
                site,
                operation="cross_core_set_flag",
            )

    def check_mode(self, core: Core, mode: int, site: Site, operation: str = "cross_core_set_flag") -> None:
        device = self.device
        if not device.has_scheduler or (mode != 0 and not device.mix):
            needs = "a MIX kernel type" if mode == 0 else "MIX_AIC_1_1 or MIX_AIC_1_2"
            what = f"mode {mode} on {core.name}, {place(site)}, needs {needs}"
            text = f"{operation}: {what}; this launch is {device.kernel_type_name}"
            core.report("XFLAG_KERNEL_TYPE", text, site, operation=operation)
        cores, there = device.blocks * getattr(device, core.kind), getattr(device.soc, core.kind)
        if mode == 0 and cores > there:
            text = f"{cores} {core.kind} cores meet at {place(site)}, the chip has {there}; they may wait for ever"
            core.report("XFLAG_TOO_MANY_BLOCKS", f"{operation}: {text}", site, operation=operation)

    def mixed(self, name: str, number: int, mode: int, former: int | None, since: Site | None, site: Site) -> None:
        text = (
            f"flag {number} of {name} is used in mode {mode} ({place(site)}) before its sets and waits in mode "
            f"{former} are known to be done (last set: {place(since)})"
        )
        self.device.report(Finding("XFLAG_MODE_MIX", text, name, "cross_core_set_flag", (since, site)))

    def begun(self) -> bool:
        """Whether a core waits for others to report."""
        return any(queue for turn in self.rounds.values() for queue in turn.reports.values())

    def missing(self, number: int) -> str:
        """The rounds of a flag that have begun, with who has reported and who has not."""
        parts = []
        for key, turn in self.rounds.items():
            present = [serial for serial, queue in turn.reports.items() if queue]
            absent = [serial for serial in turn.members if not turn.reports.get(serial)]
            if key[-1] == number and present:
                here, missing = (", ".join(map(self.device.core_name, part)) for part in (present, absent))
                parts.append(f" [round among {MODES[key[0]]}: {here} reported, {missing} did not]")
        return "".join(parts)

    def finish(self) -> None:
        """Flags that are still up, and rounds that some member never joined."""
        for serial, row in self.counters.items():
            for number, counter in enumerate(row):
                if counter.tokens:
                    sets = len(counter.tokens)
                    self._left(serial, number, f"has {sets} set{'s' * (sets > 1)} that no wait has taken")
        for key, turn in self.rounds.items():
            for serial, queue in turn.reports.items():
                if queue:
                    what = f"was reported among {MODES[key[0]]}, but other members of the round never did"
                    self._left(serial, key[-1], what)
        super().finish()

    def _left(self, serial: int, number: int, what: str) -> None:
        name = self.device.core_name(serial)
        sites = [row[number].last_set for row in self.counters.values() if row[number].last_set is not None]
        site = self.counter(serial, number).last_set or (sites[0] if sites else None)
        text = f"flag {number} of {name} {what} (last set: {place(site)}); the next kernel would start with it up"
        self.device.report(Finding("XFLAG_LEFT_SET", text, name, "cross_core_set_flag", (site,)))

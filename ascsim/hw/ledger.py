"""What a launch has found: folding, policy, and the judgement of undefined bytes.

Equal findings are one with a count. A use of undefined bytes is judged when the launch ends, because an unordered
write that explains it may come later in the order of simulation: then the race alone is reported.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from .checks import Checks
from .errors import SimulatorWarning
from .findings import AT_ONCE, SEVERITY, Finding, Site, locate
from .memory import Region, runs_of, show_runs
from .partition import Access

if TYPE_CHECKING:
    from .core import Core
    from .instruction import Plan

Name = tuple[int, int, int]  # of an access: core serial, pipe slot, number
USES = 256  # uses of undefined bytes remembered a source line; later ones tell nothing new


class Use(NamedTuple):
    """A use of undefined bytes that waits for its judgement."""

    core: str
    me: Access
    region: Region | None  # None: global memory
    runs: list[tuple[int, int]]
    text: str  # with a place for the runs
    sources: list[Name]  # the copies that brought undefined bytes here


def name_of(access: Access) -> Name:
    """What tells one access from all others of the launch."""
    return access[5], access[1], access[0]


class Ledger:
    """The part of a Device that takes findings. `device.Device` is one."""

    def __init__(self, checks: Checks) -> None:
        self.checks = checks
        self.found: dict[tuple[object, ...], Finding] = {}
        self.noted: dict[tuple[object, ...], Finding] = {}  # by code and call sites: notes are found again and again
        self.seen: dict[tuple[object, ...], tuple[Name, Name]] = {}  # last pair of accesses counted for a finding
        # Accesses of reported races -> the local footprints that the other side writes, None for global memory.
        self.races: dict[Name, set[Region | None]] = {}
        self.carried: dict[Name, tuple[Plan, list[Name]]] = {}  # copies of undefined bytes, and their sources
        self.uses: dict[tuple[str, int], list[Use]] = {}

    def core_name(self, serial: int) -> str:
        """`aiv 3`."""
        raise NotImplementedError

    @property
    def findings(self) -> list[Finding]:
        """All that was found, in the order in which it was."""
        return list(self.found.values())

    def enter(self, finding: Finding) -> tuple[Finding, bool]:
        """Fold a finding into the list; it, and whether the checks want it raised."""
        known = self.found.get(finding.key)
        if known is not None:
            known.count += 1
            if finding.core not in known.cores:
                known.cores.append(finding.core)
            finding = known
        action = {"fault": self.checks.faults, "warn": self.checks.warnings}.get(finding.severity, "collect")
        at_once = finding.code in AT_ONCE and finding.severity == "fault"
        if action == "off" and not at_once:
            return finding, False
        self.found[finding.key] = finding
        return finding, at_once or action == "raise"

    def report(self, finding: Finding) -> None:
        """Raise, warn later, or collect, as the checks say."""
        entered, raises = self.enter(finding)
        if raises:
            raise entered.error()

    def report_deadlock(
        self, core: Core, text: str, site: Site | None, operation: str, at_end: bool = False
    ) -> NoReturn:
        """Report that a core can never go on; `operation` is the call that it stands at."""
        self.report(Finding("DEADLOCK", text, core.name, operation, (site,), at_end=at_end))
        raise AssertionError("DEADLOCK ends the launch")

    def raced(self, earlier: Access, me: Access, local: bool) -> tuple[Name, Name]:
        """Remember a race, which explains undefined bytes that either access uses."""
        first, second = name_of(earlier), name_of(me)
        self.races.setdefault(first, set()).update(me[3].writes if local else (None,))
        self.races.setdefault(second, set()).update(earlier[3].writes if local else (None,))
        return first, second

    def again(self, code: str, earlier: Access, me: Access, severity: str = "", *, local: bool = False) -> bool:
        """Whether a clash at these two lines is known; if so it is counted (once a pair of accesses)."""
        pair = self.raced(earlier, me, local)
        key = (code, severity or SEVERITY[code], locate(earlier[2]), locate(me[2]))
        before = self.seen.get(key)
        self.seen[key] = pair
        found = self.found.get(key)
        if before is None or found is None:
            return False
        if before != pair:
            found.count += 1
            name = self.core_name(me[5])
            if name not in found.cores:
                found.cores.append(name)
        return True

    # ------------------------------------------------------------------ undefined bytes

    def undefined(self, core: Core, use: Use) -> None:
        """An access uses undefined bytes: judged at the end, or raised now where nothing later can excuse it."""
        if self.checks.warnings == "raise" and not use.sources and not self._explained(use, use.runs):
            self._report_use(use, use.runs)
        uses = self.uses.setdefault(locate(use.me[2]), [])
        if len(uses) < USES:
            uses.append(use)

    def judge_undefined(self, raising: bool = True) -> None:
        """Decide every use, at the end of the launch."""
        pending, self.uses = self.uses, {}
        for uses in pending.values():
            for use in uses:
                runs = self._left(use)
                if runs and not self._explained(use, runs):
                    self._report_use(use, runs, raising)

    def _report_use(self, use: Use, runs: list[tuple[int, int]], raising: bool = True) -> None:
        finding = Finding("UNINIT_READ", use.text.format(show_runs(runs)), use.core, use.me[3].name, (use.me[2],))
        entered, raises = self.enter(finding)
        if raises and raising:
            raise entered.error()

    def _left(self, use: Use) -> list[tuple[int, int]]:
        """The undefined bytes that no unordered write touches."""
        races = self.races.get(name_of(use.me), ())
        if use.region is None:
            return [] if None in races else use.runs
        writes = [r for r in races if r is not None and r.memory is use.region.memory]
        if not writes:
            return use.runs
        mask = use.region.mask()
        mask[:] = False
        for a, b in use.runs:
            mask[a:b] = True
        for region in writes:
            mask &= ~region.mask()
        return runs_of(mask)

    def _explained(self, use: Use, runs: list[tuple[int, int]]) -> bool:
        """Whether a copy that brought the bytes here has itself raced for them."""
        for source in use.sources:
            plan, _ = self.carried[source]
            raced = self.races.get(source, ())
            if plan.gm is not None and None in raced:
                return True
            if any(r is not None and any(r.meets(read) for read in plan.reads) for r in raced):
                return True
        return False

    # ------------------------------------------------------------------ warnings

    def give_warnings(self) -> None:
        """Give the launch's warnings, each once, at the author's lines."""
        for finding in self.findings:
            action = {"fault": self.checks.faults, "warn": self.checks.warnings}.get(finding.severity)
            if action == "warn":
                name, line = locate(finding.sites[-1]) if finding.sites else ("ascsim", 0)
                warnings.warn_explicit(finding.text(), SimulatorWarning, name, line)

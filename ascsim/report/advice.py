"""Advice on a recorded launch: what would put it in order, or what it could do without, and where it leans on the
compiler.

All of it is found by making the launch again with other calls (`ascsim.hw.rerun`), so it holds for what was launched:
these arguments, this many blocks. Cores that make the same calls are looked at once, but for order between cores.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from ..hw.calls import Call
from ..hw.findings import AT_ONCE, Finding, locate, place
from ..hw.ledger import Name
from ..hw.rerun import Outcome, rerun
from .between import RACES, ordered
from .completions import Completion, Text, completed
from .edits import CodeLine, Repair, line_of
from .redundancy import Redundant, redundant
from .repairs import IN_CORE, Pair, Repairs, with_changes

if TYPE_CHECKING:
    from ..hw.device import Device

CALLS = 50_000  # of the cores looked at; longer launches get no advice
FLAGS = ("FLAG_", "DEADLOCK")  # codes of faults that a call of a flag may mend


@dataclass(frozen=True)
class Lean:
    """A pair of accesses that only the compiler orders: what would be found without it."""

    finding: Finding
    by: str  # the option that does it

    def __str__(self) -> str:
        first, second = self.finding.sites[0], self.finding.sites[-1]
        return f"{place(second)} follows {place(first)} only by {self.by} ({self.finding.code} without it)"


class Cure(NamedTuple):
    """What the report says of a finding that was not mended. `tried`: order between cores was, and did not help."""

    code: str
    cure: str
    tried: bool

    def __str__(self) -> str:
        what = "no order between the cores was found" if self.tried else "not tried"
        return f"for {self.code}, {what}: {self.cure}"


@dataclass(frozen=True)
class Advice:
    """What could be better. `str(advice)` is the text, `advice.data()` plain values for tools.

    repairs    the other half of a flag, then flag pairs and barriers, in the order in which they were found
    smallest   no smaller set of the candidates does as well
    left       races for which no repair was found
    redundant  of a kernel without faults: what it could do without
    leans      where the compiler's order is relied upon
    others     codes of what else the repairs leave
    cures      of findings that are no matter of order in one core and were not mended
    halted     code of the fault that ended the launch: what comes after it was not looked at; "": nothing did
    silent     why nothing was tried; "" if something was
    """

    repairs: tuple[Repair | Completion, ...] = ()
    smallest: bool = True
    left: tuple[Finding, ...] = ()
    redundant: tuple[Redundant, ...] = ()
    leans: tuple[Lean, ...] = ()
    others: tuple[str, ...] = ()
    cures: tuple[Cure, ...] = ()
    halted: str = ""
    silent: str = ""

    @property
    def lines(self) -> list[CodeLine]:
        """The code of all repairs, by place."""
        lines = (line for repair in self.repairs for line in repair.lines)
        return sorted(lines, key=lambda line: line.order)

    def __str__(self) -> str:
        text = [f"Advice: not given: {self.silent}"] if self.silent else []
        if self.repairs:
            few = "the fewest calls that put it in order" if self.smallest else "calls that put it in order"
            text.append(f"Advice: {few}" + f", as far as it came ({self.halted} ended it)" * bool(self.halted))
            text += [f"  {line}" for line in self.lines]
        if self.left:
            text.append(f"Advice: nothing found for {', '.join(finding.code for finding in self.left)}")
        elif self.repairs and self.others:
            text.append(f"  (this does not mend {', '.join(self.others)})")
        text += [f"Advice: {cure}" for cure in self.cures]
        text += [f"Advice: not needed: {item}" for item in self.redundant]
        text += [f"Note: {item}" for item in self.leans]
        return "\n".join(text) or "Advice: none needed"

    def data(self) -> dict[str, Any]:
        """Lists and dicts of plain values."""
        return {
            "repairs": [
                {
                    "where": line.where,
                    "file": line.file,
                    "line": line.line,
                    "last": line.last or None,
                    "code": line.code,
                }
                for line in self.lines
            ],
            "smallest": self.smallest,
            "left": [finding.text() for finding in self.left],
            "others": list(self.others),
            "cures": [cure._asdict() for cure in self.cures],
            "halted": self.halted,
            "redundant": [
                {"lines": [list(line) for line in item.lines], "us": item.microseconds, "auto_sync": item.compiler_only}
                for item in self.redundant
            ],
            "compiler": [
                {"code": item.finding.code, "by": item.by, "lines": [list(locate(site)) for site in item.finding.sites]}
                for item in self.leans
            ],
            "silent": self.silent,
        }


def advise(device: Device) -> Advice:
    """Look at a recorded launch."""
    return _Adviser(device).advice


@dataclass
class _Adviser:
    device: Device
    calls: dict[int, list[Call]] = field(init=False)  # of the cores that differ
    entries: dict[Name, Any] = field(init=False)
    halted: str = field(init=False)  # code of the fault that ended the launch before its last call

    @property
    def mixed(self) -> bool:
        """Whether cores of both kinds run the text."""
        serving = {core.serial for core in self.device.servers.cores.values()}
        return len({place.kind for place in self.device.places if place.serial not in serving}) > 1

    @property
    def advice(self) -> Advice:
        device, record = self.device, self.device.record
        assert record is not None
        faults = [finding for finding in device.findings if finding.severity == "fault"]
        made = record.calls.of
        every = {place.serial: made.get(place.serial, []) for place in device.places}
        self.calls = _different(every)
        if sum(map(len, self.calls.values())) > CALLS:
            return Advice(cures=self.cures(), silent=f"more than {CALLS} calls")
        raised = faults[-1:] if len(device.finished) < len(device.places) else []
        self.halted = next((f.code for f in faults if (f.code in AT_ONCE or f in raised) and not f.at_end), "")
        ended = f"{self.halted} ended the launch before its last call"
        if self.halted in AT_ONCE and self.halted != "DEADLOCK":
            return Advice(cures=self.cures(), halted=self.halted, silent=ended)
        self.entries = {(e.core.serial, e.plan.pipe.slot, e.n): e for e in record.entries()}
        framework = any("tpipe" in entry.core.state for entry in self.entries.values())  # gone when made again
        leans = self.leans()
        repairs, left, fewest, outcome = self.in_core(framework)
        known = sum(map(len, every.values())) <= CALLS and not self.halted
        races = [f for f in device.findings if f.code in RACES and known]
        between, mended = ordered(races, every, lambda more: rerun(device, with_changes((*repairs, *more)), every))
        if between:
            repairs, fewest = (*repairs, *between), not repairs and len(between) == 1
        cures = self.cures(mended, races)
        same = [f.code for f in faults if not f.code.startswith(FLAGS) and f.key not in mended]
        again = [f.code for f in outcome.serious if f.code not in RACES and f.key not in mended]
        others = tuple(code for code in dict.fromkeys((*same, *again)) if code not in IN_CORE)
        if repairs or left:
            return Advice(repairs, fewest, left, (), leans, others, cures, self.halted)
        if faults:
            codes = dict.fromkeys(others or (f.code for f in faults))
            why = ended if self.halted else f"no call of a flag or barrier mends {', '.join(codes)}"
            return Advice(leans=leans, cures=cures, halted=self.halted, silent=why)
        cycles_per_us = device.soc.clock_mhz
        return Advice(redundant=tuple(redundant(self.calls, self.trial, lambda c: c / cycles_per_us)), leans=leans)

    def in_core(self, framework: bool) -> tuple[tuple[Repair | Completion, ...], tuple[Finding, ...], bool, Outcome]:
        """What puts each core in order, the races that are left, whether nothing smaller does, and what it comes to.

        `framework`: a TPipe gives the ids.
        """
        done, outcome, fewest = completed(
            self.calls,
            lambda changes: self.trial(with_changes(changes), True),
            Text(self.mixed, not self.halted, framework),
        )
        if not any(finding.code in IN_CORE for finding in outcome.findings):
            return done, (), fewest, outcome
        search = Repairs(
            self.calls,
            lambda more: self.trial(with_changes((*done, *more)), True),
            self.describe,
            framework,
        )
        smallest = search.smallest and not done
        return (*done, *search.chosen), tuple(search.left), smallest, search.trial(search.chosen)

    def cures(self, mended: Collection[tuple[object, ...]] = (), tried: Collection[Finding] = ()) -> tuple[Cure, ...]:
        """What the report says of findings that nothing was tried for, or nothing helped."""
        left = [f for f in self.device.findings if f.code not in IN_CORE and f.remedy and f.key not in mended]
        return tuple(Cure(f.code, f.remedy, f in tried and locate(f.sites[0]) != locate(f.sites[-1])) for f in left)

    def trial(self, edit: Callable[[list[Call]], Iterable[Call]], compiler: bool) -> Outcome:
        """The launch made again, on the cores that differ."""
        outcome = rerun(self.device, edit, self.calls, compiler=compiler)
        if self.halted:  # the waits for what is still up may come later
            outcome = replace(outcome, findings=[f for f in outcome.findings if f.code != "FLAG_LEFT_SET"])
        return outcome

    def leans(self) -> tuple[Lean, ...]:
        """What would be found without the compiler's order."""
        device = self.device
        if not (device.auto_sync or device.insert_sync):
            return ()
        known = {finding.key for finding in self.trial(list, True).findings}
        by = "insert_sync" if device.insert_sync else "auto_sync"
        found = self.trial(list, False).findings
        return tuple(Lean(f, by) for f in found if f.key not in known and f.code in IN_CORE)

    def describe(self, first: Name, second: Name) -> Pair | None:
        """Pipes, turns and kind of core of two accesses."""
        a, b = self.entries.get(first), self.entries.get(second)
        if a is None:
            return None
        serial, slot, _ = second
        pipe = a.core.slots[slot].name
        turn = self.calls[serial][-1].turn if b is None else b.turn  # the call that raised is not among the entries
        turns = (a.turn, turn) if a.turn >= 0 and turn >= 0 else (0, 0)
        return a.plan.pipe.name, pipe, *turns, a.core.kind if self.mixed else ""


def _different(calls: dict[int, list[Call]]) -> dict[int, list[Call]]:
    """One core of each kind that makes the same calls; all where they wait for each other."""
    if any(not isinstance(call.what, str) for made in calls.values() for call in made):
        return calls
    first: dict[tuple[Any, ...], int] = {}
    for serial, made in calls.items():
        first.setdefault(tuple(map(_shape, made)), serial)
    return {serial: calls[serial] for serial in first.values()}


def _shape(call: Call) -> tuple[Any, ...]:
    """What tells two calls apart, but for their core and their place in global memory."""
    head = call.what, line_of(call), call.core.kind
    if call.what != "issue":
        return (*head, *(getattr(arg, "name", arg) for arg in call.args[:1]))
    plan = call.args[0]
    regions = tuple((r.memory.name, r.start, r.end) for r in (*plan.reads, *plan.writes))
    return (*head, plan.name, plan.pipe.name, plan.span, *regions)

"""Advice on a recorded launch: what would put it in order, or what it could do without, and where it leans on the
compiler.

All of it is found by making the launch again with other calls (`ascsim.hw.rerun`), so it holds for what was launched:
these arguments, this many blocks. Cores that make the same calls are looked at once. Not looked at: order between
cores, and launches in which cube cores serve matmul objects.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..hw.calls import Call
from ..hw.findings import Finding, locate, place
from ..hw.ledger import Name
from ..hw.rerun import Outcome, rerun
from .edits import WHERE, CodeLine, Repair, line_of
from .redundancy import Redundant, redundant
from .repairs import IN_CORE, Pair, Repairs, ids_in_use, with_repairs

if TYPE_CHECKING:
    from ..hw.device import Device

CALLS = 50_000  # of the cores looked at; longer launches get no advice


@dataclass(frozen=True)
class Lean:
    """A pair of accesses that only the compiler orders: what would be found without it."""

    finding: Finding
    by: str  # the option that does it

    def __str__(self) -> str:
        first, second = self.finding.sites[0], self.finding.sites[-1]
        return f"{place(second)} follows {place(first)} only by {self.by} ({self.finding.code} without it)"


@dataclass(frozen=True)
class Advice:
    """What could be better. `str(advice)` is the text, `advice.data()` plain values for tools.

    repairs    flag pairs and barriers that order what is not ordered, in the order in which they were found
    smallest   no smaller set of the candidates does as well
    left       races for which no repair was found
    redundant  of a kernel without faults: what it could do without
    leans      where the compiler's order is relied upon
    others     codes of the faults that the repairs leave: no flag or barrier put into one core mends them
    silent     why there is no advice; "" if there is
    """

    repairs: tuple[Repair, ...] = ()
    smallest: bool = True
    left: tuple[Finding, ...] = ()
    redundant: tuple[Redundant, ...] = ()
    leans: tuple[Lean, ...] = ()
    framework: bool = False
    others: tuple[str, ...] = ()
    silent: str = ""

    @property
    def lines(self) -> list[CodeLine]:
        """The code of all repairs, by place."""
        lines = (line for repair in self.repairs for line in repair.lines)
        return sorted(lines, key=lambda line: (line.file, line.line, WHERE.index(line.where)))

    def __str__(self) -> str:
        if self.silent:
            return f"Advice: not given: {self.silent}"
        text = []
        if self.repairs:
            few = "the fewest calls that put it in order" if self.smallest else "calls that put it in order"
            text.append(f"Advice: {few}")
            text += [f"  {line}" for line in self.lines]
            if self.framework and any(repair.event for repair in self.repairs):
                text.append("  (under a TPipe the ids come from alloc_event_id)")
        if self.left:
            text.append(f"Advice: nothing found for {', '.join(finding.code for finding in self.left)}")
        elif self.repairs and self.others:
            text.append(f"  (this does not mend {', '.join(self.others)})")
        text += [f"Advice: not needed: {item}" for item in self.redundant]
        text += [f"Note: {item}" for item in self.leans]
        return "\n".join(text) or "Advice: none needed"

    def data(self) -> dict[str, Any]:
        """Lists and dicts of plain values."""
        return {
            "repairs": [
                {"where": line.where, "file": line.file, "line": line.line, "code": line.code} for line in self.lines
            ],
            "smallest": self.smallest,
            "left": [finding.text() for finding in self.left],
            "others": list(self.others),
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
    entries: dict[Name, Any] = field(init=False)

    @property
    def advice(self) -> Advice:
        device, record = self.device, self.device.record
        assert record is not None
        if device.servers.cores:
            return Advice(silent="its cube cores serve matmul objects")
        self.calls = _different(record.calls.of)
        if sum(map(len, self.calls.values())) > CALLS:
            return Advice(silent=f"more than {CALLS} calls")
        self.entries = {(e.core.serial, e.plan.pipe.slot, e.n): e for e in record.entries()}
        framework = any("tpipe" in entry.core.state for entry in self.entries.values())  # gone when made again
        base = self.trial(list, True)
        faults = (finding.code for finding in device.findings if finding.severity == "fault")
        others = tuple(dict.fromkeys(code for code in faults if code not in IN_CORE))
        leans = self.leans(base)
        if any(finding.code in IN_CORE for finding in base.findings):
            search = Repairs(
                lambda repairs: self.trial(with_repairs(repairs), True), ids_in_use(self.calls.values()), self.describe
            )
            return Advice(search.chosen, search.smallest, tuple(search.left), (), leans, framework, others)
        if base.ended or others:
            return Advice(leans=leans, silent="first mend what is no matter of order inside a core")
        cycles_per_us = device.soc.clock_mhz
        return Advice(redundant=tuple(redundant(self.calls, self.trial, lambda c: c / cycles_per_us)), leans=leans)

    def trial(self, edit: Callable[[list[Call]], Iterable[Call]], compiler: bool) -> Outcome:
        """The launch made again, on the cores that differ."""
        return rerun(self.device, edit, self.calls, compiler=compiler)

    def leans(self, base: Outcome) -> tuple[Lean, ...]:
        """What would be found without the compiler's order."""
        device = self.device
        if not (device.auto_sync or device.insert_sync):
            return ()
        known = {finding.key for finding in base.findings}
        by = "insert_sync" if device.insert_sync else "auto_sync"
        found = self.trial(list, False).findings
        return tuple(Lean(f, by) for f in found if f.key not in known and f.code in IN_CORE)

    def describe(self, first: Name, second: Name) -> Pair | None:
        """Pipes and turns of two accesses."""
        a, b = self.entries.get(first), self.entries.get(second)
        if a is None or b is None:
            return None
        turns = (a.turn, b.turn) if a.turn >= 0 and b.turn >= 0 else (0, 0)
        return a.plan.pipe.name, b.plan.pipe.name, *turns


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

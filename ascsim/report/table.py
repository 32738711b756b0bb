"""The report of a launch in msprof's words: task duration, busy time of every pipe, findings, marked regions.

As in msprof, the time of a core kind or pipe is the mean over the cores of the launch that ran, and a ratio is pipe
time over core time. Task duration is the longest way through the chip (blocks beyond its cores wait for their turn),
or the time that the GM traffic takes if that is longer, plus the launch overhead.
Not modelled: L2 re-use between cores (all traffic counts as GM traffic), start-up spread between cores.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from heapq import heapreplace
from typing import TYPE_CHECKING

from .recording import Recording

if TYPE_CHECKING:
    from ..hw.device import Device
    from ..hw.findings import Finding
    from ..hw.soc import Soc
    from ..hw.totals import CoreTotals

# msprof's word for each pipe, in its column order. (It has no column for stores out of L1, `aic_mte3`.)
_WORDS = {
    "aic": {"M": "mac", "S": "scalar", "MTE1": "mte1", "MTE2": "mte2", "FIX": "fixpipe", "MTE3": "mte3"},
    "aiv": {"V": "vec", "S": "scalar", "MTE2": "mte2", "MTE3": "mte3"},
}
_CORE_TIME = {"aic": "aicore_time(us)", "aiv": "aiv_time(us)"}
_CORES_SHOWN = 8  # names of cores in a finding's line


@dataclass(frozen=True, slots=True)
class Report:
    """What one launch did. `str(report)` is the table; the fields are for programs.

    `core_us[kind]` and `totals[kind][pipe]` are microseconds, means over the cores of that kind ("aic", "aiv");
    `regions` lists (name, microseconds) of every marked region that a core passed through. `recording` is what
    `settings(record=True)` adds: the launch in other orders, and what it would be with other flags.
    """

    name: str
    platform: str
    borrowed_from: str  # the platform whose numbers were used, if this one's are not published
    blocks: int
    simulated: int  # blocks that ran; fewer than `blocks` if the settings picked some
    task_us: float
    core_us: dict[str, float]
    totals: dict[str, dict[str, float]]
    regions: list[tuple[str, float]]
    findings: list[Finding]
    recording: Recording | None = field(default=None, compare=False, repr=False)

    @classmethod
    def of(cls, device: Device, name: str) -> Report:
        """Read a device after its run: `soc`, `cost`, `blocks`, `findings` and the records of `totals()`."""
        records, soc, cost = list(device.totals()), device.soc, device.cost
        by_kind = {kind: group for kind in _WORDS if (group := [r for r in records if r.kind == kind])}
        clock = soc.clock_mhz  # cycles a microsecond
        cores = sum(min(len(group), getattr(soc, kind)) for kind, group in by_kind.items())
        read, written = sum(r.gm_read for r in records), sum(r.gm_written for r in records)
        gm_us = cost.gm_time_us(read, written, read + written, cores)
        return cls(
            name=name,
            platform=soc.name,
            borrowed_from=soc.borrowed_from,
            blocks=device.blocks,
            simulated=len({r.block for r in records}),
            task_us=max(_longest(records, soc) / clock, gm_us) + cost.launch_overhead_us(cores, len(by_kind) > 1),
            core_us={kind: _mean(r.end for r in group) / clock for kind, group in by_kind.items()},
            totals={
                kind: {pipe: _mean(r.busy.get(pipe, 0) for r in group) / clock for pipe in _WORDS[kind]}
                for kind, group in by_kind.items()
            },
            regions=[(region, (end - start) / clock) for r in records for region, start, end in r.regions],
            findings=list(device.findings),
            recording=None if device.record is None else Recording(device),
        )

    @property
    def ok(self) -> bool:
        """No fault was found; warnings and notes may have been."""
        return all(finding.severity != "fault" for finding in self.findings)

    @property
    def columns(self) -> dict[str, str | int | float]:
        """One row of msprof's op summary: column name -> value."""
        row: dict[str, str | int | float] = {
            "Op Name": self.name,
            "Block Dim": self.blocks,
            "Task Duration(us)": self.task_us,
        }
        for kind, pipes in self.totals.items():
            core = row[_CORE_TIME[kind]] = self.core_us[kind]
            for pipe, time in pipes.items():
                row[f"{kind}_{_WORDS[kind][pipe]}_time(us)"] = time
                row[f"{kind}_{_WORDS[kind][pipe]}_ratio"] = time / core if core else 0.0
        return row

    def __str__(self) -> str:
        return "\n\n".join(part for part in (self._table(), self._findings(), self._regions()) if part)

    def _table(self) -> str:
        platform = self.platform + (f" (numbers of {self.borrowed_from})" if self.borrowed_from else "")
        blocks = str(self.blocks) + (f" ({self.simulated} simulated)" if self.simulated != self.blocks else "")
        columns = self.columns
        head = [["Op Name", self.name], ["Platform", platform], ["Block Dim", blocks]]
        rows = []
        for column, value in columns.items():
            if column.endswith("(us)"):
                share = columns.get(column.removesuffix("_time(us)") + "_ratio")
                rows.append([column, f"{value:.3f}", "" if share is None else f"{share:.3f}"])
        return "\n".join([*_left(head), "", *_right([["simulated", "us", "ratio"], *rows])])

    def _findings(self) -> str:
        lines = []
        for finding in self.findings:
            lines.append(f"  {finding.severity}: {finding.listed()}")
            if finding.cores:
                more = len(finding.cores) - _CORES_SHOWN
                shown = ", ".join(finding.cores[:_CORES_SHOWN])
                lines.append(f"    on {shown}" + (f" and {more} more" if more > 0 else ""))
        return "\n".join(["Findings", *lines]) if lines else "Findings: none"

    def _regions(self) -> str:
        times: dict[str, list[float]] = defaultdict(list)
        for region, time in self.regions:
            times[region].append(time)
        rows = [
            [region, str(len(all_)), *(f"{value:.3f}" for value in (_mean(all_), min(all_), max(all_)))]
            for region, all_ in times.items()
        ]
        return "\n".join(_right([["Region", "times", "mean(us)", "min(us)", "max(us)"], *rows])) if rows else ""


def _longest(records: list[CoreTotals], soc: Soc) -> int:
    """Cycles until the last block has ended, blocks started in order on the first cores that come free."""
    groups: dict[int, list[CoreTotals]] = defaultdict(list)
    for record in records:
        groups[record.block].append(record)
    if not groups:
        return 0
    needs = Counter(record.kind for record in next(iter(groups.values())))
    free = [0] * max(1, min(getattr(soc, kind) // count for kind, count in needs.items()))
    for block in sorted(groups):
        heapreplace(free, free[0] + max(record.end for record in groups[block]))
    return max(free)


def _mean(values: Iterable[float]) -> float:
    numbers = list(values)
    return sum(numbers) / len(numbers)


def _left(rows: list[list[str]]) -> list[str]:
    width = max(len(row[0]) for row in rows)
    return [f"{first:<{width}}  {second}" for first, second in rows]


def _right(rows: list[list[str]]) -> list[str]:
    """First column to the left, numbers to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join([first.ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(rest, widths[1:], strict=True))]).rstrip()
        for first, *rest in rows
    ]

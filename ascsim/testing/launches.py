"""What a test asks of a kernel in one line: its hazards as values, or that its results do not depend on the order."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ascsim.hw.checks import Checks
from ascsim.hw.entry import Entry
from ascsim.hw.errors import ArgumentTypeError, FoundError, OrderDependenceError
from ascsim.hw.findings import Finding, locate
from ascsim.hw.orders import SEEDS
from ascsim.lib.jit import JITFunction
from ascsim.lib.settings import settings
from ascsim.report.recording import Recording
from ascsim.report.table import Report

from .story import story


@dataclass(frozen=True, repr=False)
class Hazard:
    """One finding of a launch, as plain values.

    code       name of the fault ("RAW", "FLAG_LEFT_SET", ...); `severity` is "fault" or "warn"
    text       the report, in one line
    places     file and line of each access or call concerned; the one at which it was found comes last
    pipes      of the two accesses; empty where there are none
    bytes      what both touch: memory or kernel parameter, first byte, last byte + 1
    remedy     the calls that mend it, as the report has it; "" where it names none
    count      how often it was seen; `cores` on which
    witness    the two orders and the first bytes that differ, in words; "" where there are no two accesses
    """

    code: str
    severity: str
    text: str
    places: tuple[tuple[str, int], ...]
    pipes: tuple[str, ...] = ()
    bytes: tuple[tuple[str, int, int], ...] = ()
    remedy: str = ""
    count: int = 1
    cores: tuple[str, ...] = ()
    witness: str = ""

    def __str__(self) -> str:
        return f"{self.severity}: {self.text}"

    def __repr__(self) -> str:
        return f"<{self}>"


def find_hazards(kernel: JITFunction, blocks: int, *args: Any, **kwargs: Any) -> list[Hazard]:
    """Launch `kernel[blocks](*args)` and return what was found, in the order in which it was; [] for a clean kernel.

    Faults and warnings, not notes. Nothing is raised for a finding: one after which a launch cannot go on is the last
    of the list (the arguments are then as they were; otherwise they hold the results). Races of two cores count
    whatever the bytes.
    """
    _check_kernel("find_hazards", kernel)
    reports: list[Report] = []
    ended: Finding | None = None
    try:
        with settings(checks=Checks.collect(), record=True, reports=reports):
            kernel[blocks](*args, **kwargs)
    except FoundError as error:
        ended = error.finding
        if not reports:  # found before the launch
            return [_hazard(ended, None)]
    (report,) = reports
    found = sorted(report.findings, key=lambda finding: finding is ended)
    return [_hazard(finding, report.recording) for finding in found if finding.severity != "note"]


def assert_order_independent(
    kernel: JITFunction, blocks: int, *args: Any, seeds: Iterable[int] = SEEDS, **kwargs: Any
) -> None:
    """Launch `kernel[blocks](*args)`, and replay it in legal orders (`ascsim.hw.orders`): all must give the same bytes.

    OrderDependenceError, an AssertionError, tells the race that does it, as a story: pipe rows, both accesses, the
    missing edge. `seeds` are those of the orders drawn at random. The arguments hold the results of the launch. A fault
    that ends a launch is raised.
    """
    __tracebackhide__ = True  # pytest ends at the author's line
    _check_kernel("assert_order_independent", kernel)
    drawn = _seeds(seeds)
    with settings(checks=Checks.collect(), record=True):
        report = kernel[blocks](*args, **kwargs)
    recording = report.recording
    assert recording is not None
    differences = recording.differences(drawn)
    if not differences:
        return
    order, difference = next(iter(differences.items()))
    head = f"{report.name}: {difference} (the launch, or order {order!r})"
    more = f"; {len(differences)} of {len(recording.orders(drawn))} orders differ" if len(differences) > 1 else ""
    raise OrderDependenceError("\n".join([head + more, *_stories(recording, report.findings)]), differences)


def _check_kernel(operation: str, kernel: Any) -> None:
    if not isinstance(kernel, JITFunction):
        rule = "a function decorated with asc.jit"
        raise ArgumentTypeError(operation, "is no jit function", operand="kernel", value=kernel, rule=rule)


def _seeds(seeds: Iterable[int]) -> tuple[int, ...]:
    try:
        drawn = tuple(map(operator.index, seeds))
    except TypeError:
        drawn = (-1,)
    if any(seed < 0 for seed in drawn):
        rule = "integers from 0 on, such as range(3)"
        raise ArgumentTypeError("assert_order_independent", operand="seeds", value=seeds, rule=rule)
    return drawn


def _stories(recording: Recording, findings: list[Finding]) -> list[str]:
    """The first race that changes a byte; else what has no two instructions and may; else the first race."""
    races = [finding for finding in findings if recording.pair(finding) is not None]
    shows = (finding for finding in races if recording.witness(finding).difference)  # type: ignore[union-attr]
    others = [finding for finding in findings if finding.code.startswith(("ATOMIC_", "CACHE_"))]
    race = next(shows, next(iter(others + races), None))
    return [] if race is None else [story(recording, race)]


def _hazard(finding: Finding, recording: Recording | None) -> Hazard:
    pair: tuple[Entry, Entry] | None = None if recording is None else recording.pair(finding)
    common: list[tuple[str, int, int]] = [] if recording is None else recording.common(finding)
    return Hazard(
        code=finding.code,
        severity=finding.severity,
        text=finding.text(),
        places=tuple(locate(site) for site in finding.sites),
        pipes=() if pair is None else (pair[0].plan.pipe.name, pair[1].plan.pipe.name),
        bytes=tuple(common),
        remedy=finding.remedy,
        count=finding.count,
        cores=tuple(finding.cores),
        witness="" if pair is None or recording is None else str(recording.witness(finding)),
    )

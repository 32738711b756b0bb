"""The verdict on recorded launches: what was found, which bytes show it, and advice; as text and as plain values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from ..hw.findings import Finding, locate
from .table import Report

WORDS = (("fault", "faults"), ("warn", "warnings"), ("note", "notes"))


def verdict(report: Report) -> str:
    """One launch: a line for each finding, for what it does to the results, and for each piece of advice."""
    blocks = f"{report.blocks} block{'s' * (report.blocks != 1)}"
    lines = [f"{report.name}: {blocks} on {report.platform}, {report.task_us:.3f} us simulated"]
    for finding in report.findings:
        lines.append(f"  {finding.severity}: {finding.listed()}")
        witness = _witness(report, finding)
        if witness:
            lines.append(f"    {witness}")
    if report.recording is not None:
        lines += [f"  {line}" for line in str(report.recording.advice()).splitlines()]
    return "\n".join(lines)


def summary(reports: Sequence[Report]) -> str:
    """`2 launches: 1 fault, no warnings, no notes`."""
    parts = [f"{n or 'no'} {words[:-1] if n == 1 else words}" for words, n in counts(reports).items()]
    return f"{len(reports) or 'no'} launch{'es' * (len(reports) != 1)}: {', '.join(parts)}"


def counts(reports: Sequence[Report]) -> dict[str, int]:
    """How many faults, warnings and notes there are."""
    count = Counter(finding.severity for report in reports for finding in report.findings)
    return {words: count[key] for key, words in WORDS}


def data(report: Report) -> dict[str, Any]:
    """One launch as plain values."""
    return {
        "name": report.name,
        "platform": report.platform,
        "blocks": report.blocks,
        "task_us": report.task_us,
        "findings": [_finding(report, finding) for finding in report.findings],
        "advice": None if report.recording is None else report.recording.advice().data(),
    }


def _finding(report: Report, finding: Finding) -> dict[str, Any]:
    return {
        "code": finding.code,
        "severity": finding.severity,
        "text": finding.text(),
        "places": [list(locate(site)) for site in finding.sites],
        "cores": finding.cores,
        "count": finding.count,
        "witness": _witness(report, finding),
    }


def _witness(report: Report, finding: Finding) -> str:
    found = None if report.recording is None else report.recording.witness(finding)
    return "" if found is None else str(found)

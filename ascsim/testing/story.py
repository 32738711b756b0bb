"""A race told in the size of a kernel: a row for each pipe, the two accesses, the edge that is missing."""

from __future__ import annotations

from ascsim.hw.entry import Entry
from ascsim.hw.findings import Finding, place
from ascsim.report.recording import Recording

COLUMNS = 10  # instructions shown, the two accesses among them


def story(recording: Recording, finding: Finding) -> str:
    """What a finding is about, from the record of its launch; its text alone where it names no two instructions.

    The rows are the pipes of the core (or of both cores), the columns the order of the launch; `*` marks the two
    accesses, `...` what is left out.
    """
    pair = recording.pair(finding)
    if pair is None:
        return finding.text()
    cores = {entry.core.serial for entry in pair}
    entries = [entry for entry in recording.entries if entry.core.serial in cores]
    shown = _around(entries, pair)
    witness = recording.witness(finding)
    bytes_ = ", ".join(f"{memory}[{a}:{b})" for memory, a, b in recording.common(finding)[:3])
    lines = [finding.text(), *_rows(shown, pair), f"both touch {bytes_}", f"{witness}"]
    advice = recording.advice()
    wrong = ("leave out", "instead of")
    cure = [f"{'wrong' if line.where in wrong else 'missing'}: {line}" for line in advice.lines]
    return "\n".join(lines + cure)


def _around(entries: list[Entry], pair: tuple[Entry, Entry]) -> list[Entry | None]:
    """The instructions from the first access to the second, with one before and after; None for a gap."""
    numbers = [entry.number for entry in entries]
    first, second = sorted(numbers.index(entry.number) for entry in pair)
    wanted = list(range(max(0, first - 1), min(len(entries), second + 2)))
    if len(wanted) <= COLUMNS:
        return [entries[k] for k in wanted]
    half = COLUMNS // 2
    return [*(entries[k] for k in wanted[:half]), None, *(entries[k] for k in wanted[-half:])]


def _rows(shown: list[Entry | None], pair: tuple[Entry, Entry]) -> list[str]:
    """One line a pipe; a column is as wide as its call."""
    marked = {entry.number for entry in pair}
    cells = ["..." if entry is None else _cell(entry, entry.number in marked) for entry in shown]
    rows = dict.fromkeys(_row(entry) for entry in shown if entry is not None)
    width = max(map(len, rows))
    out = []
    for row in rows:
        line = "  ".join(
            cell if entry is None or _row(entry) == row else " " * len(cell)
            for cell, entry in zip(cells, shown, strict=True)
        )
        out.append(f"  {row:<{width}} | {line}".rstrip())
    return out


def _row(entry: Entry) -> str:
    return f"{entry.core.name} {entry.plan.pipe.name}"


def _cell(entry: Entry, marked: bool) -> str:
    return f"{'*' if marked else ''}{entry.plan.name}:{place(entry.site).rpartition(':')[2]}"

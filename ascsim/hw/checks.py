"""What is checked, and what a finding does: one frozen object that is handed down and never changed."""

from __future__ import annotations

from dataclasses import dataclass

from .errors import ArgumentTypeError, ArgumentValueError

ACTIONS = ("raise", "warn", "collect", "off")


@dataclass(frozen=True, kw_only=True)
class Checks:
    """Policy of a launch. This docstring is the manual.

    faults      what a *fault* does: "raise" at the author's line (default), "warn", "collect" into the report,
                "off". The faults after which no later byte would mean anything (an access outside a memory, a
                malformed call, a queue used against its states, a deadlock) end the launch even when collected.
    warnings    what a *warn* does: "warn" once at the end of the launch (default), "raise", "collect", "off".
    gm_races    unordered accesses of two cores to global memory: "bytes" makes them a fault only where the
                write changed a byte and a warning elsewhere (default); "always" makes each a fault.
    queue_depth entries a pipe's queue holds before the scalar unit stalls; None (default) is unbounded. Depth
                cannot create a race, only a deadlock.
    hold_sets   True lets a set_flag whose flag is still up hold its pipe until the flag is consumed.
    hazards     False builds the machine without order, definedness and bounds bookkeeping (see `off`).
    """

    faults: str = "raise"
    warnings: str = "warn"
    gm_races: str = "bytes"
    queue_depth: int | None = None
    hold_sets: bool = False
    hazards: bool = True

    def __post_init__(self) -> None:
        for name, legal in (("faults", ACTIONS), ("warnings", ACTIONS), ("gm_races", ("bytes", "always"))):
            if not isinstance(getattr(self, name), str) or getattr(self, name) not in legal:
                raise ArgumentValueError(
                    "Checks", operand=name, value=getattr(self, name), rule="one of " + ", ".join(map(repr, legal))
                )
        for name in ("hold_sets", "hazards"):
            if not isinstance(getattr(self, name), bool):
                raise ArgumentTypeError("Checks", operand=name, value=getattr(self, name), rule="True or False")
        depth = self.queue_depth
        if depth is not None and not (isinstance(depth, int) and depth >= 1):
            raise ArgumentValueError("Checks", operand="queue_depth", value=depth, rule="None or 1 and more", nearest=1)
        if self.hold_sets and not self.hazards:
            raise ArgumentValueError(
                "Checks", operand="hold_sets", value=True, rule="False where hazards is off: held sets need clocks"
            )

    @classmethod
    def strict(cls) -> Checks:
        """Every warning is an error, and races of two cores raise whatever the bytes."""
        return cls(warnings="raise", gm_races="always")

    @classmethod
    def collect(cls) -> Checks:
        """Nothing raises that need not: faults and warnings are gathered in the report (gm_races="always")."""
        return cls(faults="collect", warnings="collect", gm_races="always")

    @classmethod
    def off(cls) -> Checks:
        """For speed: values, flags, queues and timeline only; no order, definedness or bounds bookkeeping."""
        return cls(hazards=False, warnings="off")

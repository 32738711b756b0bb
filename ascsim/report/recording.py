"""What a launch with `settings(record=True)` leaves to its report: replays, witnesses, and the launch made again.

The arguments are held as they were before the launch; what became of the caller's arrays since does not matter.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Any

from ..hw.device import Device
from ..hw.entry import Entry
from ..hw.errors import ArgumentValueError
from ..hw.findings import Finding
from ..hw.orders import SEEDS, legal_orders
from ..hw.record import execute
from ..hw.witness import Difference, Witness, common, compare, pair, witness
from .advice import Advice, advise


def _nothing() -> None:
    """What a recording becomes elsewhere."""


class Recording:
    """The record of one launch. `len(recording)` is the number of its instructions.

    Legal orders are told in `ascsim.hw.orders`; bytes are given by the name of the kernel's parameter.
    """

    def __init__(self, device: Device) -> None:
        self.device = device

    def __reduce__(self) -> Any:
        """A report that is pickled or copied leaves the launch's machine behind: it has no recording then."""
        return _nothing, ()

    @cached_property
    def entries(self) -> list[Entry]:
        """The recorded instructions, in the order in which the launch executed them."""
        assert self.device.record is not None
        return self.device.record.entries()

    def __len__(self) -> int:
        return len(self.entries)

    def orders(self, seeds: Iterable[int] = SEEDS) -> tuple[str, ...]:
        """Names of the legal orders that `replay` takes; `random N` is drawn with seed N."""
        return tuple(legal_orders(self.entries, seeds))

    def replay(self, order: str = "canonical") -> dict[str, bytes]:
        """Execute the launch in a legal order; the bytes of every array that it wrote.

        ArgumentValueError for a name that is not in `orders()`; any seed is legal in `random N`.
        """
        _, _, seed = order.partition("random ")
        found = legal_orders(self.entries, [int(seed)] if seed.isdecimal() else SEEDS).get(order)
        if found is None:
            raise ArgumentValueError("replay", operand="order", value=order, rule="one of " + ", ".join(self.orders()))
        return execute(self.device, found())

    def differences(self, seeds: Iterable[int] = SEEDS) -> dict[str, Difference]:
        """The orders that give other bytes than the launch did, each with the first of them."""
        expected = self.replay()
        made = {order: compare(expected, self.replay(order)) for order in self.orders(seeds)}
        return {order: difference for order, difference in made.items() if difference is not None}

    def advice(self) -> Advice:
        """What would put the launch in order, or what it could do without."""
        return advise(self.device)

    def pair(self, finding: Finding) -> tuple[Entry, Entry] | None:
        """The two instructions of a finding (the last such pair of the launch), or None if it names none."""
        return pair(self.device, finding)

    def witness(self, finding: Finding) -> Witness | None:
        """The two accesses of a race in either order, and what that does to the results; None if it names none."""
        found = self.pair(finding)
        return None if found is None else witness(self.device, *found)

    def common(self, finding: Finding) -> list[tuple[str, int, int]]:
        """The bytes of a race: memory or argument, first byte, last byte + 1."""
        found = self.pair(finding)
        return [] if found is None else common(*found)

"""A cube core that serves: its text has ended at a call, from then on the vector cores of its group have it work.

A request travels as a message that MTE3 stores to global memory after a barrier of its own (matmul framework,
KfcCommClient of the vendor); the server's scalar unit polls for it. So the server follows all that MTE3 of the client
has stored and all that MTE3 had waited for, and nothing else of the client. The answer is a cross-core flag that FIX
raises. A request is worked on in the client's turn: one core runs at a time here too, and the server has no other work.
Not modelled: the time of the message itself, the order in which a server meets requests that two clients make at once
(here: in the order of their turns), and a message that MTE3 cannot send before its client goes on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING, NoReturn

from . import deadlock
from .calls import recorded
from .findings import Site, place
from .meetings import arrive, foreign

if TYPE_CHECKING:
    from .core import Core
    from .device import Device
    from .pipe import Token


class Serving(BaseException):
    """Unwinds the text of a core that serves from now on. Not for the kernel to catch."""


class Servers:
    """The servers of a launch, by group, and how many clients of each group have not ended yet."""

    def __init__(self, groups_of_clients: Iterable[int]) -> None:
        self.cores: dict[int, Core] = {}
        self.clients = Counter(groups_of_clients)
        self.asked: Counter[int] = Counter()  # answers by client, and those that it has not heard yet
        self.answers: dict[tuple[int, int], Token] = {}

    def stays(self, core: Core) -> bool:
        """Whether a core whose text has ended has work to do still."""
        return self.cores.get(core.group) is core and self.clients[core.group] > 0

    def left(self, core: Core) -> Core | None:
        """A core has ended. Returns the server that has no client left now."""
        if core.kind != "aiv":
            return None
        self.clients[core.group] -= 1
        return None if self.clients[core.group] else self.cores.get(core.group)


def serve(core: Core) -> NoReturn:
    """End the text of this cube core here; its vector cores may make requests."""
    core.device.servers.cores[core.group] = core
    raise Serving


@recorded()
def request(client: Core, operation: str, site: Site) -> Core:
    """Send a message; returns the server, which has received it."""
    servers, group = client.device.servers.cores, client.group
    if group not in servers:
        stuck = partial(deadlock.stuck_cores, client.device, "server", operation)

        def why() -> str:
            return f"{client.name} sends a message to aic {group} ({place(site)}), which does not serve"

        client.device.scheduler.wait(client, lambda: group in servers, why, site, stuck)
    mte3 = client.pipes["MTE3"]
    if mte3.parked is not None:
        deadlock.scalar_all(client, site)
    told = client.scalar.ended(client.now)
    mte3.clock = client.join(mte3.clock, told.clock)
    mte3.rest(told.time)
    client.barrier(mte3, site)
    mte3.n += 1  # the message
    server = servers[group]
    arrive(server, foreign(client, mte3.ended(client.now)))
    return server


@recorded()
def answer(client: Core, server: Core) -> int:
    """All that the server's work on FIX has come to, as the number by which the client may wait for it."""
    servers = client.device.servers
    servers.asked[client.serial] = number = servers.asked[client.serial] + 1
    servers.answers[client.serial, number] = foreign(server, server.pipes["FIX"].ended(server.now))
    return number


@recorded()
def hear(client: Core, number: int) -> None:
    """The scalar unit waits for an answer; everything issued from now on follows it."""
    arrive(client, client.device.servers.answers.pop((client.serial, number)))


def remedy(device: Device, first: int, earlier: str, line: str, then: int, later: str) -> str | None:
    """What orders accesses of two cores one of which serves: pipe and lines given; None if neither does."""
    serve = {core.serial for core in device.servers.cores.values()}
    if first in serve:
        return (
            f"a wait for the end of the call of line {line} (sync=True, or its wait_ call) before line {later}, "
            "and from the core that waits a flag to any other"
        )
    if then in serve:
        own = "" if earlier == "MTE3" else f"; on that core itself set_flag(HardEvent.{earlier}_MTE3, id) and its wait"
        return (
            f"cross_core_set_flag on pipe {earlier} after line {line} on {device.core_name(first)} and "
            f"cross_core_wait_flag before line {later} on the vector core that makes that call{own}"
        )
    return None

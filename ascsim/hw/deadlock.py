"""Deadlock reports: why the scalar unit or a pipe of a core can never go on."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from . import unitflag
from .findings import Finding, Site, many, place

if TYPE_CHECKING:
    from .core import Core
    from .device import Device
    from .events import Flag
    from .partition import Access
    from .pipe import Pipe
    from .scheduler import Waiter

TIMEOUT = "on the device this ends as an AI-core timeout (error 507014 or 507018)"


def stuck(
    core: Core, kind: str, text: str, site: Site | None, operation: str = "wait_flag", at_end: bool = False
) -> NoReturn:
    """Report that a core can never go on: why, where its pipes stand, and what the device makes of it."""
    whole = "; ".join(part for part in (text, describe(core), TIMEOUT) if part)
    core.device.report_deadlock(core, f"DEADLOCK ({kind}) on {core.name}: {whole}", site, operation, at_end)


def waiting(core: Core, pipe: Pipe) -> tuple[Flag | None, str]:
    """The flag at which a parked pipe stands (None: a unit flag), and the wait in words with its line."""
    assert pipe.parked is not None
    call, args, site, *_ = pipe.parked[0]
    if call is unitflag.issue:
        numbers = ", ".join(map(str, unitflag.blocks(args[1])))
        return None, f"the unit flag of L0C block {numbers} ({place(site)})"
    return args[0], f"{args[0].name} ({place(site)})"


def describe(core: Core) -> str:
    """Each parked pipe, its blocking wait, and how many entries queue behind it."""
    parts = []
    for pipe in core.slots:
        if pipe.parked is not None:
            behind = len(pipe.parked) - 1
            parts.append(f"{pipe.name} waits for {waiting(core, pipe)[1]}, {many(behind, 'entry')} behind it")
    return "; ".join(parts)


def queued_set(core: Core, flag: Flag) -> Site | None:
    """The line of a set of this flag that is stuck in a parked queue."""
    for call, args, site, *_ in flag.src.parked or ():
        if call == core._fire and args[0] is flag:
            return site
    return None


def kind_of(core: Core, otherwise: str) -> tuple[str, str]:
    """Follow "waits for" from the first parked pipe: a ring, a held set, or a set that was never issued."""
    pipe = next(pipe for pipe in core.slots if pipe.parked is not None)
    seen: list[Pipe] = []
    chain = []
    while pipe not in seen:
        seen.append(pipe)
        flag, words = waiting(core, pipe)
        chain.append(f"{pipe.name} waits {words}")
        assert pipe.parked is not None
        if flag is None:
            side = "fixpipe with value 3 clears" if pipe.name == "M" else "mmad with value 3 sets"
            return "unitflag", f"{chain[-1]}, which no {side}"
        if pipe.parked[0][0] == core._fire:
            return "held_set", chain[-1] + ": the flag is still up and holds its set"
        if queued_set(core, flag) is None:
            return otherwise, f"{chain[-1]}, whose set was never issued"
        pipe = flag.src
    ring = chain[seen.index(pipe) :]
    return "cycle", " <- ".join([*ring, pipe.name])


def scalar(core: Core, flag: Flag, site: Site) -> NoReturn:
    """The scalar unit waits for a flag that nothing already issued can set."""
    at = queued_set(core, flag)
    if at is None:
        text = f"S waits for {flag.name} ({place(site)}) before the program has issued its set"
        stuck(core, "scalar", text, site)
    _, why = kind_of(core, "scalar")
    text = f"S waits for {flag.name} ({place(site)}), whose set ({place(at)}) is stuck: {why}"
    stuck(core, "cycle", text, site)


def scalar_all(core: Core, site: Site | None) -> NoReturn:
    """The scalar unit waits for all pipes, one of which stands at a wait."""
    kind, why = kind_of(core, "scalar")
    text = f"S waits at {place(site)} until every pipe has drained, but {why}"
    stuck(core, kind, text, site, "pipe_barrier")


def ordered_scalar(core: Core, access: Access, me: Access) -> NoReturn:
    """The compiler makes a scalar access follow an instruction that was parked when S came to it."""
    core.device.raced(access, me, local=me[3].gm is None)
    text = (
        f"S stands at {access[3].name} ({place(access[2])}), which automatic synchronisation makes wait for "
        f"{me[3].name} ({place(me[2])}, {me[3].pipe.name}); that one waits for a set that S issues later"
    )
    stuck(core, "scalar", text, access[2], access[3].name)


def queue_full(core: Core, pipe: Pipe, depth: int, site: Site | None) -> NoReturn:
    """The scalar unit cannot issue: the queue of a parked pipe is full."""
    stuck(
        core,
        "queue_full",
        f"S stalls at {place(site)}: the queue of {pipe.name} holds its {many(depth, 'entry')} behind the wait for "
        f"{waiting(core, pipe)[1]}",
        site,
    )


def at_end(core: Core) -> None:
    """The kernel has ended and a pipe still stands at a wait."""
    if all(pipe.parked is None for pipe in core.slots):
        return
    kind, why = kind_of(core, "no_set")
    queue = next(pipe.parked for pipe in core.slots if pipe.parked is not None)
    stuck(core, kind, f"the kernel has ended, but {why}", queue[0][2], at_end=True)


def stuck_cores(device: Device, kind: str, operation: str, waiters: list[Waiter]) -> BaseException:
    """The error of a core that waits for others when none of them can go on; the first waiter is the one it is for."""
    stuck = sorted(waiters, key=lambda waiter: waiter.core.serial)
    lines = [waiter.why() + "".join(f"; {text}" for text in (describe(waiter.core),) if text) for waiter in stuck]
    serials = {waiter.core.serial for waiter in stuck}
    serve = {core.serial for core in device.servers.cores.values()}
    ended = [
        device.core_name(p.serial) + " (its text: it serves)" * (p.serial in serve)
        for p in device.places
        if p.serial not in serials
    ]
    rest = f"; ended before: {', '.join(ended[:8])}{' ...' if len(ended) > 8 else ''}" if ended else ""
    if kind == "cross_core" and not device.mix and not device.cross.begun():
        rest += f"; a launch of {device.kernel_type_name} has no {'aiv' if device.aic else 'aic'} cores"
    text = f"DEADLOCK ({kind}): {'; '.join(lines)}{rest}; {TIMEOUT}"
    sites = dict.fromkeys(waiter.site for waiter in reversed(waiters))  # that of the first waiter last
    finding, _ = device.enter(Finding("DEADLOCK", text, waiters[0].core.name, operation, tuple(sites)))
    return finding.error()

"""What a clash of two accesses means: an order that the compiler adds, or a finding with both sites and the cure.

Called only when two accesses to common bytes are not ordered by the clocks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import clashes, deadlock, notes, serving
from .cache_line import APART, CLEAN
from .events import EVENT_NUMBER
from .findings import Finding, place
from .intervals import DIRTY, WHOLE_LINE
from .memory import Region, overlap, show_runs
from .partition import Access, Cell
from .pipe import Clock, Token

if TYPE_CHECKING:
    from .core import Core

VERB = {"RAW": ("reads", "writes"), "WAR": ("overwrites", "reads"), "WAW": ("overwrites", "writes")}
AUTO_SYNC = frozenset(("V", "MTE2", "MTE3"))  # what the compiler orders with S, in both directions, on an AIV


def updates(core: Core, me: Access) -> Clock:
    """Reads of this pipe that an instruction is about to replace in the cells, which it also overwrites."""
    found = clashes.replaced(me)
    if found:
        _judge_all(core, me, found)
    return me[6]


def local(core: Core, earlier: Access, me: Access, cell: Cell, code: str) -> Clock:
    """Two accesses to one local memory. Returns the clock of the access being issued, which may have grown."""
    reading = code == "RAW"
    region = next(r for r in (me[3].reads if reading else me[3].writes) if cell in r.cells)
    if earlier is me:
        return me[6]
    if settled(core, earlier, me, region.memory.name):
        if code == "WAW":
            notes.dead_store(core, earlier, me, cell)
        return me[6]
    if core.judged[0] is not me or core.judged[1] is not reading:
        core.judged = me, reading
        _judge_all(core, me, clashes.of(me, reading))
    return me[6]


def _judge_all(core: Core, me: Access, found: list[clashes.Clash]) -> None:
    """Settle the clashes that can be, and report those that are left."""
    left = [
        clash
        for clash in found
        if clash[0][0] > me[6][clash[0][1]] and not settled(core, clash[0], me, clash[2].memory.name)
    ]
    for earlier, code, region in left:
        if earlier[0] > me[6][earlier[1]]:
            _unordered(core, earlier, me, same_pipe(earlier, me, code), region)


def _unordered(core: Core, earlier: Access, me: Access, code: str, region: Region) -> None:
    """Report two accesses of which the later one touches `region`."""
    if not core.device.again(code, earlier, me, local=True):
        common = []
        for other in (*earlier[3].reads, *earlier[3].writes):
            if other.memory is region.memory:
                common += overlap(other, region)
        common = sorted(set(common))
        name, base = core.device.namer(core, region.memory, common[0][0], common[0][1], me[2])
        where = f"{region.memory.name} {name}{show_runs(common, base)}"
        finding(core, earlier, me, code, where, _queue(core, earlier, me, code, region.memory.name, common[0]))


def in_core_gm(core: Core, earlier: Access, me: Access, a: int, b: int, earlier_writes: bool) -> None:
    """Two accesses of one core to global memory."""
    if beside_cache(core, earlier, me, a, b) or settled(core, earlier, me, "GM"):
        return
    writes = me[3].gm.write
    code = same_pipe(earlier, me, "RAW" if not writes else "WAW" if earlier_writes else "WAR")
    if not core.device.again(code, earlier, me):
        finding(core, earlier, me, code, f"GM {core.touching.name}[{a}:{b})")


def across(core: Core, earlier: Access, me: Access, a: int, b: int, earlier_writes: bool, judging: bytes = b"") -> None:
    """Accesses of two cores to global memory.

    Whether a store changes the common bytes is known only after it: then `judge` calls again with the bytes that
    stood there before.
    """
    if beside_cache(core, earlier, me, a, b):
        return
    writes = me[3].gm.write
    code = "GM_RACE_WW" if writes and earlier_writes else "GM_RACE_RW"
    device = core.device
    array = core.touching
    if device.checks.gm_races == "always":
        changed = True
    elif writes and not judging:
        core.racing.append((earlier, me, a, b, earlier_writes, bytes(array.bytes(a, b))))
        return
    elif writes:
        changed = judging != array.bytes(a, b)
    else:
        changed = array.bytes(a, b) != array.source[a:b]
    severity = "fault" if changed else "warn"
    if device.again(code, earlier, me, severity):
        return
    other = device.core_name(earlier[5])
    verb, was = VERB["WAW" if writes and earlier_writes else "WAR" if writes else "RAW"]
    first, second = place(earlier[2]), place(me[2])
    tail = ""
    if code == "GM_RACE_WW" and (b - a < 32 or min(b - a, me[3].gm.block) != me[3].gm.block):
        tail = "; hint tail: whole 32-byte blocks reach into the neighbour's share, data_copy_pad stores single bytes"
    pipe, line, later = device.pipe_name(earlier), _line(first), _line(second)
    cure = serving.remedy(device, earlier[5], pipe, line, core.serial, later)
    if first == second:
        turns = (
            f", or turns: cross_core_set_flag on pipe {pipe} after it on {other} and cross_core_wait_flag before it on "
            f"{core.name}"
        )
        cure = f"bytes of its own for each core at line {line}{turns if cure is None else ''}"
    elif cure is None:
        cure = (
            f"cross_core_set_flag on pipe {pipe} after line {line} on {other} and cross_core_wait_flag before line "
            f"{later} on {core.name}, or sync_all between"
        )
    message = (
        f"{code} on GM {array.name}[{a}:{b}): {core.name}: {me[3].name}, {second} ({_pipe(core, me)}) {verb} what "
        f"{other}: {earlier[3].name}, {first} ({pipe}) {was}; nothing orders the two cores"
        f"{'' if changed else ', though the bytes stay the same'}. Needs {cure}{tail}"
    )
    sites = earlier[2], me[2]
    device.report(Finding(code, message, core.name, me[3].name, sites, severity, remedy=cure + tail))


def beside_cache(core: Core, earlier: Access, me: Access, a: int, b: int) -> bool:
    """Whether the earlier access is an entry of a data cache; then the clash is judged here."""
    kind = earlier[3].gm.atomic
    if kind not in (DIRTY, WHOLE_LINE):
        return False
    other, array = core.device.core_name(earlier[5]), core.touching.name
    verb = "writes" if me[3].gm.write else "reads"
    if kind == DIRTY:
        code, cure = "CACHE_NOT_FLUSHED", f"{CLEAN} between, and an order after it"
        why = f"which the data cache of {other} holds newer (set_value, {place(earlier[2])})"
        concerns = earlier[5] != me[5] or earlier[1] != me[1]  # a core may clean its own line
    else:
        code, cure = "CACHE_LINE_SHARED", APART
        why = f"over which {other} may write an old copy with the line around it ({place(earlier[2])})"
        concerns = bool(me[3].gm.write) and earlier[5] != me[5]
    if concerns and not core.device.again(code, earlier, me):
        message = (
            f"{code} on GM {array}[{a}:{b}): {core.name}: {me[3].name}, {place(me[2])} ({_pipe(core, me)}) {verb} "
            f"bytes {why}; needs {cure}"
        )
        sites = earlier[2], me[2]
        core.device.report(Finding(code, message, core.name, me[3].name, sites, remedy=cure))
    return True


def judge(core: Core) -> None:
    """Decide the races of the store that has just run."""
    races, core.racing = core.racing, []
    for earlier, me, a, b, earlier_writes, before in races:
        across(core, earlier, me, a, b, earlier_writes, judging=before)


def settled(core: Core, earlier: Access, me: Access, memory: str) -> bool:
    """Whether the compiler adds this order, the hardware has it, or a data-sync barrier gave it."""
    fence = core.fences.get(memory)
    if fence is not None and fence[earlier[1]] >= earlier[0]:
        return True
    first, second = core.slots[earlier[1]], core.slots[me[1]]
    device = core.device
    chained = first is second and earlier[3].chained and me[3].chained
    if not device.insert_sync and not chained:
        pair = {first.name, second.name}
        if not (device.auto_sync and core.kind == "aiv" and "S" in pair and pair - {"S"} <= AUTO_SYNC):
            return False
    if first is core.scalar and core.resumed is not None and earlier[0] > core.resumed:
        deadlock.ordered_scalar(core, earlier, me)
    clock = list(earlier[6])
    clock[earlier[1]] = earlier[0]
    token = Token(clock, second.known, first.free)
    if second is core.scalar:
        core.join_scalar(token)
    else:
        second.clock = core.join(second.clock, token.clock)
        second.rest(token.time)
    me[6] = second.clock
    return True


def same_pipe(earlier: Access, me: Access, code: str) -> str:
    """NO_BARRIER_* where both accesses belong to one pipe."""
    return f"NO_BARRIER_{code}" if earlier[1] == me[1] else code


def finding(core: Core, earlier: Access, me: Access, code: str, where: str, queue: str = "") -> None:
    """Report two accesses of one core that nothing orders. `queue`: how a queue would order them, in words."""
    verb, was = VERB[code.rpartition("_")[2]]
    first, second = place(earlier[2]), place(me[2])
    cure = remedy(core, earlier, me, first, second) + queue
    message = (
        f"{code} on {where} ({core.name}): {me[3].name}, {second} ({_pipe(core, me)}) {verb} what {earlier[3].name}, "
        f"{first} ({_pipe(core, earlier)}) {was}; nothing orders them. Needs {cure}."
    )
    # Where the text runs on from the one to the other, they belong to two loops, or to one turn.
    back = earlier[2][0] is not me[2][0] or me[2][1] <= earlier[2][1]
    if back and earlier[1] != me[1] and earlier[4] >= 0 and me[4] >= 0 and earlier[4] != me[4]:
        message += (
            f" Loop-carried: turn {earlier[4]} against turn {me[4]}; the usual cure is the reverse flag, set once "
            "before the loop and waited for once after it."
        )
    core.device.report(Finding(code, message, core.name, me[3].name, (earlier[2], me[2]), remedy=cure))


def remedy(core: Core, earlier: Access, me: Access, first: str, second: str) -> str:
    """The calls that order the two, and where."""
    a, b = core.slots[earlier[1]].name, core.slots[me[1]].name
    if a == b:
        return f"pipe_barrier(PIPE_{a}) {_between(first, second)}"
    if f"{a}_{b}" not in EVENT_NUMBER:
        return f"pipe_barrier(PIPE_ALL) {_between(first, second)}"
    return f"set_flag(HardEvent.{a}_{b}, id) after line {_line(first)} and wait_flag before line {_line(second)}"


def _queue(core: Core, earlier: Access, me: Access, code: str, memory: str, common: tuple[int, int]) -> str:
    """Under a TPipe: the queue that would order the two, and what the buffer's own queue orders instead."""
    a, b = core.slots[earlier[1]].name, core.slots[me[1]].name
    pipe = core.state.get("tpipe")
    if pipe is None or a == b or f"{a}_{b}" not in EVENT_NUMBER:
        return ""
    first, then = (b, a) if code.endswith("WAR") else (a, b)  # a queue holds its buffer until the reader frees it
    text = f", or a queue {first} -> {then} for this buffer"
    queue = pipe.ordered(memory, *common)
    if queue is not None:
        label, *ordered = queue
        strange = [name for name in (b, a) if name not in ordered]
        if strange:
            text += f" (hint queue position: {label} orders {' with '.join(ordered)}, but {strange[0]} uses its tensor)"
    return text


def _between(first: str, second: str) -> str:
    """Where a barrier goes."""
    return f"before line {_line(first)}" if first == second else f"between line {_line(first)} and line {_line(second)}"


def _pipe(core: Core, access: Access) -> str:
    return core.slots[access[1]].name


def _line(text: str) -> str:
    return text.rpartition(":")[2]

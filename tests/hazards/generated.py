"""Random kernels in the notation of the cases: flags, barriers, queues, strided footprints, one core and two.

A kernel is written correctly first, each conflict ordered by a flag or a barrier, and then, as often as not, spoiled:
lines are taken out, moved, or made to name another flag. Whether it is right in the end is not known here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

AIV = ("V", "MTE2", "MTE3", "S")
AIC = ("MTE2", "MTE1", "M", "FIX")
UNIT, SIZE = 16, 512  # bytes
NO_EVENT = {"M_MTE3", "MTE3_M"}


@dataclass(eq=False)
class Line:
    """A line of the text; of an instruction its pipe and the bytes it reads and writes."""

    text: str
    pipe: str = ""
    reads: frozenset[tuple[str, int]] = frozenset()
    writes: frozenset[tuple[str, int]] = frozenset()


def kernel(random: Random) -> str:
    """The text of one kernel."""
    family = random.choices((flat, cube, loop, queues, two_cores), (4, 2, 2, 2, 3))[0]
    head, body = family(random)
    if random.random() < 0.6:
        for _ in range(random.choice((1, 1, 1, 2))):
            spoil(random, body)
    return "\n".join([*head, *body]) + "\n"


# ---------------------------------------------------------------------- straight lines


class Straight:
    """Instructions one after the other; each is ordered behind those it meets."""

    def __init__(self, random: Random, pipes: tuple[str, ...]) -> None:
        self.random, self.pipes = random, pipes
        self.first = random.sample(pipes, len(pipes))  # each pipe has work
        self.lines: list[Line] = []
        self.synced: dict[tuple[str, str], int] = {}  # pipes -> how many lines the last order between them covers
        self.last_wait: dict[tuple[str, int], Line] = {}  # of each flag

    def slice(self, name: str) -> tuple[str, frozenset[tuple[str, int]]]:
        """A footprint in a buffer: one run, or pieces at equal distances."""
        random = self.random
        if random.random() < 0.5:
            first = random.randrange(0, SIZE // 2, UNIT)
            size = random.choice((1, 2, 4, 8)) * UNIT
            return f"{name}[{first}:+{size}]", frozenset((name, k) for k in range(first, first + size))
        size = random.choice((1, 2)) * UNIT
        stride, count = size * random.choice((2, 3)), random.choice((2, 3, 4))
        first = random.randrange(0, SIZE // 4, UNIT)
        text = f"{name}[{first}:+{size}/{stride}/{count}]"
        starts = range(first, first + stride * count, stride)
        return text, frozenset((name, k + j) for k in starts for j in range(size))

    def instruction(self) -> Line:
        pick = self.random.choice
        pipe = self.first.pop() if self.first else pick(self.pipes)
        atomic = ""
        if pipe == "MTE2":
            target = pick(("x", "z")) if "V" in self.pipes else "l"
            parts = self.slice(target), [self.slice(pick("AB"))]
        elif pipe == "MTE3" or pipe == "FIX":
            atomic = "+" if self.random.random() < 0.15 else ""
            parts = self.slice("B"), [self.slice("c" if pipe == "FIX" else pick(("x", "z")))]
        elif pipe == "MTE1":
            parts = self.slice(pick(("a", "b"))), [self.slice("l")]
        elif pipe == "M":
            parts = self.slice("c"), [self.slice(name) for name in pick((("a", "b"), ("a", "b", "c")))]
        else:
            parts = self.slice(pick(("x", "z"))), [self.slice(pick(("x", "z"))) for _ in range(pick((0, 1, 1, 2)))]
        (target, writes), sources = parts
        text = f"{pipe}{atomic}: {target} <- {', '.join(text for text, _ in sources) or '0'}"
        reads = frozenset().union(*(mask for _, mask in sources))
        if pipe == "S" and self.random.random() < 0.5 and sources:
            text, writes = f"S: _ <- {sources[0][0]}", frozenset()
            reads = sources[0][1]
        return Line(text, pipe, reads | (writes if atomic else frozenset()), writes)

    def append(self) -> None:
        """One instruction more, and what orders it."""
        me = self.instruction()
        last: dict[str, int] = {}
        for k, line in enumerate(self.lines):
            if line.writes & (me.reads | me.writes) or line.reads & me.writes:
                last[line.pipe] = k
        for pipe, k in last.items():
            if self.synced.get((pipe, me.pipe), 0) <= k and not (pipe == me.pipe == "S"):
                self.order(pipe, me.pipe, k)
        self.lines.append(me)

    def order(self, first: str, second: str, after: int) -> None:
        """Everything of pipe `first` up to line `after` ends before what pipe `second` starts from now on."""
        random = self.random
        if first == second:
            self.lines.append(Line(f"barrier {first}"))
            self.synced[first, second] = len(self.lines)
            return
        event = f"{first}_{second}"
        if event in NO_EVENT or random.random() < 0.15:
            self.lines.append(Line("barrier ALL"))
            self.synced.update({(a, b): len(self.lines) for a in self.pipes for b in self.pipes})
            return
        at = random.randint(after + 1, len(self.lines))
        free = [i for i in range(6) if self._free(event, i, at)]
        if not free:
            at = len(self.lines)
            free = [0]
        number = random.choice(free)
        setting, wait = Line(f"set {event} {number}"), Line(f"wait {event} {number}")
        self.lines.insert(at, setting)
        if second != "S" and random.random() < 0.1 and self._free(event, number, at):
            self.lines.insert(random.randint(max(0, at - 2), at), wait)  # the wait first: its pipe parks
        else:
            self.lines.append(wait)
        self.last_wait[event, number] = wait
        self.synced[first, second] = at

    def _free(self, event: str, number: int, at: int) -> bool:
        """Whether the flag is down from line `at` on."""
        wait = self.last_wait.get((event, number))
        return wait is None or self.lines.index(wait) < at

    def text(self) -> list[str]:
        return [line.text for line in self.lines]


def flat(random: Random) -> tuple[list[str], list[str]]:
    """One vector core."""
    auto_sync = random.random() < 0.2
    straight = Straight(random, AIV)
    for _ in range(random.randint(6, 12 if auto_sync else random.choice((16, 24, 40)))):
        straight.append()
    head = ["cores: aiv 1", f"auto_sync: {'on' if auto_sync else 'off'}", f"gm A {SIZE}", f"gm B {SIZE}"]
    return [*head, f"ub x @0 {SIZE}", f"ub z @{SIZE} {SIZE}"], straight.text()


def cube(random: Random) -> tuple[list[str], list[str]]:
    """One cube core."""
    straight = Straight(random, AIC)
    for _ in range(random.randint(6, 24)):
        straight.append()
    local = [f"{memory} {name} @0 {SIZE}" for memory, name in (("l1", "l"), ("l0a", "a"), ("l0b", "b"), ("l0c", "c"))]
    return ["cores: aic 1", f"gm A {SIZE}", f"gm B {SIZE}", *local], straight.text()


# ---------------------------------------------------------------------- loops and queues


def loop(random: Random) -> tuple[list[str], list[str]]:
    """A pipeline over tiles: some buffers go round, guarded by forward and by primed reverse flags."""
    n, turns = random.choice((1, 2, 3)), random.randint(2, 4)
    steps = random.choice((1, 2))  # vector instructions a tile
    at = f"(i%{n})*64" if n > 1 else "0"
    flag = f"i%{n}" if n > 1 else "0"
    head = ["cores: aiv 1", f"gm X {64 * turns}", f"gm Z {64 * turns} blank", "ub x @0 192", "ub t @192 192"]
    head.append("ub z @384 192")
    body = [f"set {event} {k}" for event in ("V_MTE2", "MTE3_V") for k in range(n)]
    body += [
        f"for i in 0..{turns}:",
        f"  wait V_MTE2 {flag}",
        f"  MTE2: x[{at}:+64] <- X[i*64:+64]",
        f"  set MTE2_V {flag}",
        f"  wait MTE2_V {flag}",
        f"  wait MTE3_V {flag}",
    ]
    if steps == 2:
        body += [f"  V: t[{at}:+64] <- x[{at}:+64]", "  barrier V", f"  V: z[{at}:+64] <- t[{at}:+64]"]
    else:
        body.append(f"  V: z[{at}:+64] <- x[{at}:+64]")
    body += [
        f"  set V_MTE2 {flag}",
        f"  set V_MTE3 {flag}",
        f"  wait V_MTE3 {flag}",
        f"  MTE3: Z[i*64:+64] <- z[{at}:+64]",
        f"  set MTE3_V {flag}",
    ]
    if steps == 2:
        body.append("  barrier V")  # the next tile overwrites what this one has read
    body += [f"wait {event} {k}" for event in ("V_MTE2", "MTE3_V") for k in range(n)]
    return head, body


def queues(random: Random) -> tuple[list[str], list[str]]:
    """The framework: a queue in, a queue out, one or two vector instructions between."""
    n, m, turns, auto_sync = random.choice((1, 2)), random.choice((1, 2)), random.randint(2, 4), random.random() < 0.5
    head = ["cores: aiv 1", f"auto_sync: {'on' if auto_sync else 'off'}", f"gm X {64 * turns}"]
    head += [f"gm Z {64 * turns} blank", f"que qi VECIN num={n} len=64", f"que qo VECOUT num={m} len=64"]
    head.append("tbuf t VECCALC len=64")
    body = [
        f"for i in 0..{turns}:",
        "  a = alloc qi",
        "  MTE2: a[0:64] <- X[i*64:+64]",
        "  enque qi a",
        "  b = deque qi",
        "  o = alloc qo",
        "  V: t[0:64] <- b[0:64]",
        "  barrier V",
        "  V: o[0:64] <- t[0:64]",
        "  barrier V",
        "  free qi b",
        "  enque qo o",
        "  p = deque qo",
        "  MTE3: Z[i*64:+64] <- p[0:64]",
        "  free qo p",
    ]
    return head, body


# ---------------------------------------------------------------------- two cores


def two_cores(random: Random) -> tuple[list[str], list[str]]:
    """Phases: each core loads, computes and stores in its share of W, then the cores meet and go on in the other's."""
    head = ["cores: aiv 2", "gm W 512", "gm Z 512", "ub x @0 256", "ub z @256 256"]
    body: list[str] = []
    for phase in range(random.randint(2, 3)):
        share = "idx" if phase % 2 == 0 else "(1-idx)"
        size = random.choice((32, 64))
        columns = random.random() < 0.4  # interleaved instead of halves
        start = f"{share}*{size}" if columns else f"{share}*256"
        of_w = f"[{start}:+{size}/{2 * size}/{256 // size}]" if columns else f"[{start}:+{size * 2}]"
        total = 256 if columns else size * 2
        if phase and body[-1] != "sync_all":
            body.append("barrier ALL")
        body += [f"MTE2: x[0:{total}] <- W{of_w}", "set MTE2_V 0", "wait MTE2_V 0", f"V: z[0:{total}] <- x[0:{total}]"]
        body += ["set V_MTE3 0", "wait V_MTE3 0"]
        if random.random() < 0.8:
            body.append(f"MTE3: W{of_w} <- z[0:{total}]")
        else:
            body.append(f"MTE3+: Z[0:{total}] <- z[0:{total}]")  # both cores, in any order
        if random.random() < 0.5:
            body.append("sync_all")
        else:
            numbers = {"MTE2": 2 * phase, "MTE3": 2 * phase + 1}
            body += [f"xset mode=0 pipe={pipe} id={number}" for pipe, number in numbers.items()]
            body += [f"xwait id={number}" for number in numbers.values()]
    return head, body


# ---------------------------------------------------------------------- faults


def spoil(random: Random, body: list[str]) -> None:
    """Make one change that may or may not matter."""
    random.choice((drop, drop_pair, drop_pair, drop_order, move, rename))(random, body)


def _lines(body: list[str], wanted: Callable[[str], bool]) -> list[int]:
    return [k for k, line in enumerate(body) if wanted(line.strip())]


def drop(random: Random, body: list[str]) -> None:
    """A lone set or wait goes: a deadlock, or a flag left up."""
    if random.random() < 0.3 and (found := _lines(body, lambda line: line.startswith(("set ", "wait ")))):
        del body[random.choice(found)]
    else:
        drop_order(random, body)


def drop_pair(random: Random, body: list[str]) -> None:
    """A set and its wait go; in a loop, all of the event."""
    found = _lines(body, lambda line: line.startswith("set "))
    if not found:
        drop_order(random, body)
        return
    at = random.choice(found)
    flag = body[at].split(maxsplit=1)[1]
    if any(line.startswith("for") for line in body):
        event = flag.split()[0]
        body[:] = [line for line in body if line.split()[:2] not in (["set", event], ["wait", event])]
    else:
        wait = next((k for k in range(at, len(body)) if body[k] == f"wait {flag}"), None)
        if wait is not None:
            del body[wait]
        del body[at]


def drop_order(random: Random, body: list[str]) -> None:
    """A barrier goes, or a meeting of cores."""
    if found := _lines(body, lambda line: line.startswith(("barrier", "sync_all"))):
        del body[random.choice(found)]
    elif found := _lines(body, lambda line: line.startswith("xset")):
        number = body[random.choice(found)].rpartition("=")[2]
        body[:] = [line for line in body if not (line.startswith(("xset", "xwait")) and line.endswith(f"id={number}"))]


def move(random: Random, body: list[str]) -> None:
    """Two neighbours change places."""
    found = [k for k in range(1, len(body)) if _level(body[k]) == _level(body[k - 1]) and "for" not in body[k]]
    found = [k for k in found if not any(word in body[k] + body[k - 1] for word in ("alloc", "enque", "deque"))]
    for k in random.sample(found, min(3, len(found))):
        body[k - 1], body[k] = body[k], body[k - 1]


def rename(random: Random, body: list[str]) -> None:
    """A barrier is of another pipe, a report from another."""
    if found := _lines(body, lambda line: line.startswith("barrier ") or "pipe=" in line):
        k = random.choice(found)
        if "pipe=" in body[k]:
            body[k] = body[k].replace("pipe=MTE3", "pipe=V").replace("pipe=MTE2", "pipe=V")
        else:
            body[k] = body[k].replace("ALL", "MTE2").replace("barrier V", "barrier MTE3")


def _level(line: str) -> int:
    return len(line) - len(line.lstrip())

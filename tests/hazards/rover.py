"""A third machine for cases: queues, running instructions and armed flags, with a random choice at every step.

Written from what issue, start and end mean, without the graph of `independent`. An instruction reads its bytes piece
by piece somewhere between its start and its end, then writes them piece by piece: transfers are torn as on a chip.
"""

from __future__ import annotations

from collections import defaultdict, deque
from random import Random
from typing import Any

from independent import Atoms, value_of
from unrolled import PIPES, Program, Step


class Rover:
    """One run. `ended` tells whether every core came to its end; `began`, `done` are the moments of each step."""

    def __init__(self, program: Program, atoms: Atoms, random: Random) -> None:
        self.program, self.atoms, self.random = program, atoms, random
        cores = range(len(program.steps))
        self.at = [0] * len(program.steps)
        self.queues: dict[tuple[int, str], deque[Step]] = {
            (core, pipe): deque() for core in cores for pipe in PIPES[program.cores[core][0]]
        }
        self.running: dict[tuple[int, str], dict[Step, tuple[list[Any], list[Any]]]] = {key: {} for key in self.queues}
        self.read: dict[Step, dict[Any, int]] = {}
        self.armed: dict[Step, set[Step]] = {}  # a set or report at work: what has to end first
        self.up: dict[Any, int] = defaultdict(int)
        self.reports: dict[Any, dict[int, int]] = defaultdict(lambda: defaultdict(int))
        self.memory: dict[Any, int] = defaultdict(int)
        self.began: dict[Step, int] = {}
        self.done: dict[Step, int] = {}
        self.clock = 0
        while actions := self.possible():
            self.clock += 1
            call, *arguments = random.choice(actions)
            call(*arguments)
        self.ended = self.at == list(map(len, program.steps)) and not any(self.queues.values())

    def possible(self) -> list[tuple[Any, ...]]:
        """Everything that may happen next."""
        out: list[tuple[Any, ...]] = []
        for core, steps in enumerate(self.program.steps):
            if self.at[core] < len(steps) and self.may_issue(core, steps[self.at[core]]):
                out.append((self.issue, core, steps[self.at[core]]))
        for key, queue in self.queues.items():
            if queue and self.may_enter(queue[0]):
                out.append((self.enter, queue))
            out += [(self.work, step, parts) for step, parts in self.running[key].items()]
        out += [(self.fire, step) for step, first in self.armed.items() if not first]
        return out

    def may_issue(self, core: int, step: Step) -> bool:
        if step.kind == "all":
            mine = [key for key in self.queues if key[0] == core]
            return not any(self.queues[key] or self.running[key] for key in mine)
        if step.kind in ("wait", "xwait") and step.pipe == "S":
            return self.up[step.key] > 0
        return not (step.kind == "run" and step.pipe == "S" and self.running[core, "S"])

    def issue(self, core: int, step: Step) -> None:
        self.at[core] += 1
        if step.kind in ("wait", "xwait") and step.pipe == "S":
            self.up[step.key] -= 1
        elif step.kind != "all":
            queue = self.queues[core, step.pipe]
            queue.append(step)
            if step.pipe == "S":
                self.enter(queue)

    def may_enter(self, step: Step) -> bool:
        if step.kind == "wait":
            return self.up[step.key] > 0
        return not (step.kind == "barrier" and self.running[step.core, step.pipe])

    def enter(self, queue: deque[Step]) -> None:
        step = queue.popleft()
        here = self.running[step.core, step.pipe]
        if step.kind == "wait":
            self.up[step.key] -= 1
        elif step.kind == "run":
            self.began[step] = self.clock
            reads, writes, adds = self.atoms.of[step]
            here[step] = list(reads), [*((atom, False) for atom in writes), *((atom, True) for atom in adds)]
            self.read[step] = {}
        elif step.kind in ("set", "xset"):
            self.armed[step] = set(here)

    def work(self, step: Step, parts: tuple[list[Any], list[Any]]) -> None:
        """Read or write one piece; after the last one the step has ended."""
        reads, writes = parts
        if reads:
            atom = reads.pop(self.random.randrange(len(reads)))
            self.read[step][atom] = self.memory[atom]
        elif writes:
            atom, adds = writes.pop(self.random.randrange(len(writes)))
            value = value_of(step, [self.read[step][a] for a in self.atoms.of[step][0]])
            value = hash((value, atom[1]))
            self.memory[atom] = self.memory[atom] + value if adds else value
        if not reads and not writes:
            self.done[step] = self.clock
            del self.running[step.core, step.pipe][step]
            for first in self.armed.values():
                first.discard(step)

    def fire(self, step: Step) -> None:
        del self.armed[step]
        if step.kind == "set":
            self.up[step.key] += 1
            return
        rows = self.reports[step.key]
        rows[step.core] += 1
        members, targets = self.program.members(step.key[0])
        if rows[step.core] <= min(rows[core] for core in members):  # the last of its round
            for core in targets:
                self.up[core, step.key[1]] += 1

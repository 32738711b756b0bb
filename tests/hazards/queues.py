"""The queue lines of a case, driven through the framework of `ascsim.language.fwk` as a kernel would."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from notation import Case, CaseError, Queue

from ascsim.hw.core import Core
from ascsim.language.core.dtype import uint8
from ascsim.language.core.enums import TPosition
from ascsim.language.core.tensor import LocalTensor
from ascsim.language.fwk import TBuf, TPipe, TQue


class Queues:
    """The TPipe of one core, its queues and buffers, and the tensors that the case has names for."""

    def __init__(self, case: Case, core: Core, site: Callable[[int], tuple[str, int]]) -> None:
        self.case, self.core, self.site = case, core, site
        self.owners: dict[str, Any] = {}
        self.tensors: dict[str, Any] = {}
        self.in_place: dict[str, list[Any]] = {}  # tensors in queues of depth 0, oldest first
        self.pipe = TPipe()
        for queue in case.queues.values():
            self._declare(queue)

    def _declare(self, queue: Queue) -> None:
        if queue.position not in TPosition.__members__:
            raise CaseError(self.case.file, queue.line, f"no position {queue.position}")
        position = TPosition[queue.position]
        if queue.num:
            owner: Any = TQue(position, queue.depth)
            self.pipe.init_buffer(que=owner, num=queue.num, len=queue.nbytes)
        else:
            owner = TBuf(position)
            self.pipe.init_buffer(buf=owner, num=queue.nbytes)
            self.tensors[queue.name] = owner.get(uint8)
        self.owners[queue.name] = owner

    def alloc(self, line: int, queue: str, tensor: str) -> None:
        if self.case.queues[queue].depth:
            self.tensors[tensor] = self.owners[queue].alloc_tensor(uint8)
        else:  # in place: the tensor is the kernel's
            self.tensors[tensor] = self._empty(queue)
            self.owners[queue].alloc_tensor(self.tensors[tensor])

    def deque(self, line: int, queue: str, tensor: str) -> None:
        if self.case.queues[queue].depth:
            self.tensors[tensor] = self.owners[queue].deque(uint8)
        else:
            waiting = self.in_place.get(queue)
            self.tensors[tensor] = waiting.pop(0) if waiting else self._empty(queue)
            self.owners[queue].deque(self.tensors[tensor])

    def enque(self, line: int, queue: str, tensor: str) -> None:
        self.owners[queue].enque(self._tensor(tensor, line))
        if not self.case.queues[queue].depth:
            self.in_place.setdefault(queue, []).append(self.tensors[tensor])

    def _empty(self, queue: str) -> LocalTensor:
        return LocalTensor(uint8, TPosition[self.case.queues[queue].position], 0, 0)

    def free(self, line: int, queue: str, tensor: str) -> None:
        self.owners[queue].free_tensor(self._tensor(tensor, line))

    def _tensor(self, name: str, line: int) -> Any:
        if name not in self.tensors:
            raise CaseError(self.case.file, line, f"{name} names no tensor yet")
        return self.tensors[name]

    def memory_of(self, name: str, line: int) -> str:
        """The memory that a tensor lies in; '' where this kind of core has not got it."""
        memory = self._tensor(name, line).place.memory
        return "" if memory is None else str(memory.name)

    def bytes_of(self, name: str, line: int) -> tuple[str, int, int]:
        """Memory, first byte and size of a tensor; a use after its time is reported."""
        place = self._tensor(name, line).place
        if place.fault is not None:
            self.core.report(place.fault[0], f"{name}: {place.fault[1]}", self.site(line), operation="use")
            place = place.live
        return place.memory.name, place.start, place.nbytes

"""TPipe: the memory and the event ids of one core, from construction to the end of the kernel.

Not modelled: the spill memory (`InitSpmBuffer` and its kin have no names in the API).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...hw.errors import ArgumentValueError
from ...hw.events import EVENT_NUMBER, EVENTS
from ...hw.findings import Site, author, place
from ..basic.common import init_soc_state
from ..core import ir_value
from ..core.enums import HardEvent, TPosition
from ..core.place import MEMORY_OF, index, running
from .buffer import ENQUE, FREE, Buffer
from .events import Ids, fault, guard, lower, unguard
from .placement import BUFFERS, Tally, logical
from .pool import BOUNDLESS, Divider, Span, TBufPool

_M_MTE1 = EVENT_NUMBER["M_MTE1"]
_MATMUL_IDS = 3  # ids of M_MTE1 that a TPipe keeps for the matrix instructions on a cube core


class TPipe(Divider):
    """Manager of a core's local memory and event ids. Page: TPipe.

    One a core and kernel: a second is PIPE_TWICE. Construction clears masks and atomic settings. On a cube core it
    takes M_MTE1 ids 0 to 2 and sets them; `destroy` waits for them. At the end of the kernel it destroys itself.
    """

    __slots__ = ("destroyed", "ids_of", "kept", "pools", "spans", "tallies")

    title = "TPipe"

    def __init__(self) -> None:
        core, site = running("TPipe"), author(1)
        first = core.state.get("tpipe")
        if first is not None:
            text = f"this core has one since {place(first.site)}; rule: one TPipe a kernel, see get_tpipe_ptr()"
            fault(core, "PIPE_TWICE", text, site, "TPipe")
        core.state["tpipe"] = self
        init_soc_state()
        self.pools: list[TBufPool] = []
        self._open(core, BUFFERS, site)
        self._start(site)
        core.at_end.append(self._end)

    # ------------------------------------------------------------------ life

    def init(self) -> None:
        """Begin anew, after `destroy`. Page: Init.

        Every buffer is gone: tensors from before are USE_AFTER_FREE. Without `destroy` first, flags that are still set
        stay set, as on the device.
        """
        site = author(1)
        self._lose("TPipe.init", site)
        self._start(site)

    def destroy(self) -> None:
        """Wait for the users of every free buffer, then for all pipes. Page: Destroy.

        A buffer still enqueued is QUE_NOT_DEQUED, one not given back is QUE_LEAK. On a cube core a second `destroy`
        without `init` waits for flags that nobody sets: DEADLOCK.
        """
        site = author(1)
        self._settle("TPipe.destroy", site)
        self._settle_matmul(site)
        self.core.barrier_all(site)
        unguard(self.core)
        self.destroyed = True

    def reset(self) -> None:
        """Wait for the users of every free buffer and take all memory back. Page: Reset.

        Tensors from before are USE_AFTER_FREE; a buffer still enqueued is QUE_NOT_DEQUED. Masks and atomic settings
        are cleared.
        """
        site = author(1)
        self._settle("TPipe.reset", site)
        self._lose("TPipe.reset", site)
        many = len(self.kept)
        self._clear()
        self._keep(many, site)
        init_soc_state()

    def _start(self, site: Site) -> None:
        self._clear()
        self.destroyed = False
        if self.core.kind == "aic":
            self._keep(_MATMUL_IDS, site)
            for flag in self.kept:
                self.core.set_flag(flag, site)

    def _keep(self, many: int, site: Site) -> None:
        for _ in range(many):
            self.kept.append(self.ids(_M_MTE1).take(self, "TPipe", site))

    def _clear(self) -> None:
        """No memory given, no id taken."""
        guard(self.core)
        self.kept: list[Any] = []  # flags of M_MTE1 that are set as long as the pipe lives
        self.ids_of: dict[int, Ids] = {}
        self.spans: dict[str, Span] = {}
        self.tallies: dict[TPosition, Tally] = {}

    def _lose(self, call: str, site: Site) -> None:
        lost = f"lost its memory to {call} at {place(site)}"
        for buffer in self.everything():
            buffer.drop(site, call)
            buffer.owner.unbind(lost)
        for pool in self.pools:
            pool.close(lost)
        self.pools = []
        self._forget()

    def _end(self) -> None:
        """The kernel has ended: `destroy`, but for the wait for all pipes, which the kernel's end is itself."""
        if not self.destroyed:
            self._settle("end of the kernel", self.site)
            self._settle_matmul(self.site)

    def _settle(self, call: str, site: Site) -> None:
        for pool in self.pools:
            pool.settle(site)
        for buffer in self.everything():
            if buffer.state == FREE:
                buffer.settle(site)
            elif buffer.state == ENQUE:
                text = f"{buffer.owner.label}: a tensor is {buffer.held()} and was not dequeued by {call}"
                if buffer.forward is not None:
                    lower(buffer.forward)
                    text += f"; {buffer.forward.name} would stay set"
                self.core.report("QUE_NOT_DEQUED", text, buffer.site, operation="enque")
            elif call != "TPipe.reset":
                text = f"{buffer.owner.label}: a buffer is {buffer.held()} and was not freed by {call}"
                self.core.report("QUE_LEAK", text, buffer.site, operation="alloc_tensor")

    def _settle_matmul(self, site: Site) -> None:
        for flag in self.kept:
            self.core.wait_flag(flag, site)
            self.ids(_M_MTE1).give(flag)

    # ------------------------------------------------------------------ event ids

    def alloc_event_id(self, event: Any = HardEvent.V_S) -> ir_value.PlainValue:
        """The lowest free id of an event, taken until release_event_id (int32). Page: AllocEventID.

        EVENT_EXHAUSTED if all eight are taken, by queues or otherwise.
        """
        operation = "alloc_event_id"
        return ir_value.int32(self.ids(_event(event, operation)).alloc(operation, author(1)))

    def fetch_event_id(self, event: Any = HardEvent.V_S) -> ir_value.PlainValue:
        """The lowest free id of an event, not taken (int32): for a set and a wait at once. Page: FetchEventID."""
        operation = "fetch_event_id"
        return ir_value.int32(self.ids(_event(event, operation)).fetch(operation, author(1)))

    def release_event_id(self, id: Any, event: Any = HardEvent.V_S) -> None:
        """Give back an id of alloc_event_id. Page: ReleaseEventID. FLAG_ID_CONFLICT if a queue holds it."""
        operation = "release_event_id"
        number = index(ir_value.unwrap(id), operation, "id")
        self.ids(_event(event, operation)).release(number, operation, author(1))

    def ids(self, event: int) -> Ids:
        """The ids of an event, by its number."""
        found = self.ids_of.get(event)
        if found is None:
            found = self.ids_of[event] = Ids(self.core, event)
        return found

    # ------------------------------------------------------------------ memory

    def get_base_addr(self, logic_pos: Any = None) -> ir_value.PlainValue:
        """Where the memory of a position begins: 0, local addresses count from there (int32). Page: GetBaseAddr."""
        where = logical(logic_pos, "get_base_addr", "logic_pos")
        if where not in MEMORY_OF:
            raise ArgumentValueError(
                "get_base_addr", "lies in global memory", operand="logic_pos", value=where.name, rule="a local position"
            )
        return ir_value.int32(0)

    def everything(self) -> Iterator[Buffer]:
        """All buffers given out, those of pools included."""
        yield from self.buffers
        for pool in self.pools:
            yield from pool.buffers

    def holding(self, memory: str, start: int, end: int) -> Iterator[Buffer]:
        """The buffers that hold all of these bytes."""
        for buffer in self.everything():
            if buffer.owner.memory == memory and buffer.start <= start and end <= buffer.end:
                yield buffer

    def ordered(self, memory: str, start: int, end: int) -> tuple[str, str, str] | None:
        """The queue that these bytes belong to, and the two pipes that it orders; None where no queue has them."""
        for buffer in self.holding(memory, start, end):
            if buffer.owner.events:
                source, reader = EVENTS[buffer.owner.events[0]]
                return buffer.owner.label, source, reader
        return None

    def tally(self, where: TPosition) -> Tally:
        """The count of tensors allocated at one position."""
        return self.tallies.setdefault(where, Tally())

    def _span(self, memory: str, who: Any, operation: str, site: Site) -> Span:
        span = self.spans.get(memory)
        if span is None:
            if memory == "GM":
                text = f"{who.label} lies in global memory; rule: a local position"
                fault(self.core, "QUE_POSITION", text, site, operation)
            store = self.core.memories.get(memory)
            span = self.spans[memory] = Span(0, store.size if store is not None else BOUNDLESS)
        return span

    def _pipe(self, operation: str, site: Site) -> TPipe:
        return self

    def __str__(self) -> str:
        """The holder of an id, for reports about flags."""
        return f"the TPipe of {place(self.site)}"


def get_tpipe_ptr() -> TPipe:
    """The TPipe of this core. Page: GetTPipePtr. QUE_NOT_INIT if there is none."""
    core = running("get_tpipe_ptr")
    pipe = core.state.get("tpipe")
    if not isinstance(pipe, TPipe):
        fault(core, "QUE_NOT_INIT", "this core has no TPipe; rule: make one with TPipe()", author(1), "get_tpipe_ptr")
    return pipe


def _event(event: Any, operation: str) -> int:
    """The number of a HardEvent."""
    number = index(ir_value.unwrap(event), operation, "event", "a HardEvent")
    if not 0 <= number < len(EVENTS):
        raise ArgumentValueError(
            operation, "is no HardEvent", operand="event", value=number, rule="asc.HardEvent.V_S ..."
        )
    return number

"""What the four calls of a queue report: which queue, in which state its buffers are, and which line put them there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from ...hw.deadlock import stuck
from ...hw.errors import ArgumentTypeError
from ...hw.events import IDS
from ...hw.findings import Site, many, place
from ..core.place import report
from ..core.tensor import LocalTensor
from .events import Ids, fault

if TYPE_CHECKING:
    from .buffer import Buffer
    from .queue import TQueBind

# What the tensor's buffer must be for each call
_RULES = {
    "enque": "enque takes an OCCUPIED or DEQUE tensor",
    "deque": "deque in place takes an ENQUE tensor",
    "free_tensor": "deque a tensor before it is freed",
}


def _held(queue: TQueBind) -> str:
    return "; ".join(f"buffer {i} is {buffer.held()}" for i, buffer in enumerate(queue.ring))


def not_init(queue: TQueBind, operation: str, site: Site) -> NoReturn:
    """QUE_NOT_INIT: the queue has no buffers (any more)."""
    why = queue.lost or "was never given to init_buffer"
    fault(queue.core, "QUE_NOT_INIT", f"{queue.label} has no buffers: it {why}", site, operation)


def no_buffer(queue: TQueBind, tensor: Any, operation: str, site: Site) -> None:
    """A call got something that is no live tensor of its queue; on an inert queue that is no fault."""
    if not isinstance(tensor, LocalTensor):
        raise ArgumentTypeError(operation, "is no LocalTensor", operand="tensor", value=tensor)
    if queue.inert:
        return
    lease = tensor.lease
    if lease is not None and lease.buffer in queue.ring:
        code = "QUE_DOUBLE_FREE" if operation == "free_tensor" else "QUE_STATE"
        text = f"the tensor is FREE since free_tensor at {place(lease.buffer.freed.site)}"
        fault(queue.core, code, f"{queue.label}: {text}; rule: alloc_tensor before {operation}", site, operation)
    if not queue.ring:
        not_init(queue, operation, site)
    origin = "no queue" if lease is None else lease.buffer.origin()
    text = f"{queue.label}: the tensor comes from {origin}; rule: a tensor of this queue's present buffers"
    fault(queue.core, "QUE_WRONG_TENSOR", text, site, operation)


def wrong_state(queue: TQueBind, buffer: Buffer, operation: str, site: Site) -> NoReturn:
    """QUE_STATE."""
    text = f"{queue.label}: the tensor is {buffer.held()}; rule: {_RULES[operation]}"
    fault(queue.core, "QUE_STATE", text, site, operation)


def none_free(queue: TQueBind, site: Site) -> NoReturn:
    """DEADLOCK: alloc_tensor spins for a free buffer, and only this program could free one."""
    held = f"{_held(queue)}; rule: free_tensor first"
    text = f"alloc_tensor on {queue.label} waits at {place(site)} for a free buffer: {held}"
    stuck(queue.core, "alloc", text, site, "alloc_tensor")


def crowded(queue: TQueBind, site: Site) -> None:
    """BUF_LIMIT, a warning: more tensors of one position allocated at once than the vendor's page allows."""
    where = queue.position.name
    text = f"{queue.label}: {queue.tally.n} tensors of {where} are allocated at once; rule: at most {IDS}, all queues"
    report(queue.core, "BUF_LIMIT", text, site, "alloc_tensor", severity="warn")


def full(queue: TQueBind, site: Site) -> NoReturn:
    """QUE_FULL: as many tensors are enqueued as the depth allows."""
    lines = ", ".join(place(buffer.site) for buffer in queue.line)
    text = f"{queue.label} holds {many(len(queue.line), 'tensor')}, its depth (enque at {lines}); rule: deque one first"
    fault(queue.core, "QUE_FULL", text, site, "enque")


def empty(queue: TQueBind, site: Site) -> NoReturn:
    """QUE_EMPTY."""
    text = f"{queue.label} holds no tensor: {_held(queue)}; rule: enque one first"
    fault(queue.core, "QUE_EMPTY", text, site, "deque")


def other_pair(queue: TQueBind, buffer: Buffer, ids: Ids | None, site: Site) -> NoReturn:
    """QUE_POSITION: enque and deque of one tensor name different directions."""
    there, here = (part.name if part is not None else "no event" for part in (buffer.ids, ids))
    text = f"{queue.label}: enque at {place(buffer.site)} set {there}, this deque waits for {here}"
    fault(queue.core, "QUE_POSITION", f"{text}; rule: both name the same positions", site, "deque")

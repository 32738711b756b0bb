"""One buffer of a queue or TBuf, the lease that its tensors share, and what is said of tensors used too late."""

from __future__ import annotations

from sys import getrefcount
from typing import TYPE_CHECKING, Any

from ...hw.findings import Site, place
from ..core.dtype import DataType
from ..core.place import Place, element_type
from ..core.place import place as place_at
from ..core.tensor import LeasedTensor, LocalTensor

if TYPE_CHECKING:
    from .events import Ids
    from .placement import Placement

# States; an odd one means that the author holds the buffer.
FREE, OCCUPIED, ENQUE, DEQUE = range(4)
STATES = ("FREE", "OCCUPIED", "ENQUE", "DEQUE")
CALLS = ("free_tensor", "alloc_tensor", "enque", "deque")  # the call that leads to each state


_new = object.__new__


class Buffer:
    """A piece of local memory that a queue or TBuf hands out.

    start, nbytes   bytes, in the memory of the owner's position
    state, site     the state, and the call that put it there (None: never used)
    forward, back   the flag between enque and deque, and between free and the next alloc; None where there is none
    ids             where `forward` came from
    where, dtype    the place handed out last, and its type
    lease           what the tensors handed out share, while the buffer is not FREE
    next            the owner's next buffer, round and round
    """

    __slots__ = (
        "back",
        "dtype",
        "forward",
        "freed",
        "ids",
        "lease",
        "nbytes",
        "next",
        "owner",
        "queued",
        "site",
        "start",
        "state",
        "where",
    )

    next: Buffer
    where: Place

    def __init__(self, owner: Placement, start: int, nbytes: int) -> None:
        self.owner, self.start, self.nbytes, self.state = owner, start, nbytes, FREE
        self.site: Site | None = None
        self.forward: Any = None
        self.back: Any = None
        self.ids: Ids | None = None
        self.dtype: DataType | None = None
        self.lease: Lease | None = None
        self.queued: Gone | None = None
        self.freed: Gone | None = None

    def retype(self, dtype: Any, operation: str) -> Place:
        """The buffer as elements of another type."""
        dtype = element_type(dtype, operation)
        self.where = place_at(self.owner.core, self.owner.position, dtype, self.start, self.nbytes)
        self.dtype = dtype
        return self.where

    def lend(self, dtype: DataType) -> LocalTensor:
        """A tensor of the buffer that begins a lease."""
        lease: Lease = _new(Lease)
        out: LeasedTensor = _new(LeasedTensor)
        lease.buffer, lease.tensors = self, [out]
        out.place = self.where if self.dtype is dtype else self.retype(dtype, "alloc_tensor")
        out.held = self.lease = lease
        return out

    def queue(self, site: Site) -> Gone:
        """Why the tensors must not be used after an enque at `site`."""
        self.queued = Gone(self, "QUE_STATE", site, "is ENQUE since enque at {}; rule: deque it first")
        return self.queued

    def free(self, site: Site) -> Gone:
        """Why the tensors must not be used after a free_tensor at `site`."""
        self.freed = Gone(self, "USE_AFTER_FREE", site, "was freed at {}")
        return self.freed

    def settle(self, site: Site) -> None:
        """Wait for the last user of a free buffer and release the id."""
        if self.back is not None:
            self.owner.core.wait_flag(self.back, site)
            self.owner.back.give(self.back)  # type: ignore[union-attr]
            self.back = None

    def drop(self, site: Site, call: str) -> None:
        """The memory goes back as a whole."""
        if self.lease is not None:
            self.lease.revoke(Gone(self, "USE_AFTER_FREE", site, f"lost its memory to {call} at {{}}"))
            self.lease = None

    @property
    def end(self) -> int:
        """The byte after the last."""
        return self.start + self.nbytes

    def held(self) -> str:
        """`OCCUPIED since alloc_tensor at k.py:12`."""
        if self.site is None:
            return "never used"
        return f"{STATES[self.state]} since {CALLS[self.state]} at {place(self.site)}"

    def origin(self) -> str:
        """`que (VECIN), where it is OCCUPIED since alloc_tensor at k.py:12`; a TBuf has no states."""
        return self.owner.label + (f", where it is {self.held()}" if self.owner.is_queue else "")

    def __str__(self) -> str:
        """The holder of an id, for reports about flags."""
        since = f" ({CALLS[self.state]} at {place(self.site)})" if self.site is not None else ""
        return f"queue {self.owner.name}{since}"


class Gone:
    """Why tensors of a buffer must not be used: a message made when it is read, and the dead places that carry it.

    `text` has a gap for the line that ended the tensors' life.
    """

    __slots__ = ("buffer", "code", "places", "site", "text")

    def __init__(self, buffer: Buffer, code: str, site: Site, text: str) -> None:
        self.buffer, self.code, self.site, self.text = buffer, code, site, text
        self.places: dict[Place, Place] = {}

    def dead(self, where: Place) -> Place:
        """The dead twin of a place; its fault text is this object."""
        twin = self.places[where] = where.live.dead(self.code, self)  # type: ignore[arg-type]
        return twin

    def __str__(self) -> str:
        buffer = self.buffer
        span = f"bytes [{buffer.start}:{buffer.end}) of {buffer.owner.memory}"
        now = self._owner() if self.code == "USE_AFTER_FREE" else ""
        return f"the tensor of {buffer.owner.label}, {span}, {self.text.format(place(self.site))}{now}"

    def _owner(self) -> str:
        """Who has the bytes now."""
        mine = self.buffer
        for other in mine.owner.core.state["tpipe"].everything():
            meets = other.start < mine.end and mine.start < other.end and other.owner.memory == mine.owner.memory
            if other.lease is not None and meets:
                return f"; the bytes are now those of {other.owner.label}, {other.held()}"
        return "; the bytes are nobody's now"


class Tensors(list[LocalTensor]):
    """The tensors of a lease that never ends: those that nobody else holds are dropped as the list grows."""

    __slots__ = ("limit",)

    def __init__(self) -> None:
        super().__init__()
        self.limit = 64

    def append(self, tensor: LocalTensor) -> None:
        if len(self) >= self.limit:
            self[:] = [tensor for tensor in self if getrefcount(tensor) > 3]  # list, loop variable, argument
            self.limit = 64 + 2 * len(self)
        super().append(tensor)


class Lease:
    """What all tensors made from one hand-out of a buffer share, slices included. `tensors` is extended by them."""

    __slots__ = ("buffer", "tensors")

    def __init__(self, buffer: Buffer, tensors: list[LocalTensor] | None = None) -> None:
        self.buffer = buffer
        self.tensors: list[LocalTensor] = [] if tensors is None else tensors

    def revoke(self, gone: Gone) -> None:
        """A use of any of the tensors is a fault from now on."""
        known = gone.places
        for tensor in self.tensors:
            where = tensor.place
            tensor.place = known.get(where) or gone.dead(where)

    def restore(self) -> None:
        """The tensors are good again."""
        for tensor in self.tensors:
            tensor.place = tensor.place.live

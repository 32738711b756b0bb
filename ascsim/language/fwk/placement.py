"""What a queue or TBuf is made of: positions, memory, events, and the buffers it is given.

Also the two calls with which a program places buffers by hand (`init_start_buf_handle`, `init_buf_handle`). A
`TBufHandle` stands for an address; that two queues might share one buffer record is not modelled.
"""

from __future__ import annotations

from collections import deque as Line
from typing import TYPE_CHECKING, Any, ClassVar

from ...hw.core import Core
from ...hw.errors import ArgumentTypeError, ArgumentValueError
from ...hw.findings import Site, author, place
from ..core import ir_value
from ..core.dtype import uint8
from ..core.enums import TPosition
from ..core.place import BLOCK, MEMORY_OF, index, running
from .buffer import Buffer
from .events import Ids, fault
from .names import name_of

if TYPE_CHECKING:
    from .pipe import TPipe
    from .pool import TBufPool

BUFFERS = 64  # of one TPipe


class Tally:
    """How many tensors of one position are allocated at once, over all queues."""

    __slots__ = ("n",)

    def __init__(self) -> None:
        self.n = 0


class TBufHandle:
    """A buffer's address in bytes, for `init_buf_handle`. pyasc: TBufHandle."""

    __slots__ = ("address",)

    dtype = uint8

    def __init__(self, handle: Any) -> None:
        self.address = natural(handle, "TBufHandle", "handle")

    def __index__(self) -> int:
        return self.address


class Placement:
    """The common part of queues and TBufs, without the calls that hand tensors out.

    src, dst, position  of the data, and of the buffer
    memory, inert       the physical memory, and whether this kind of core lacks it
    events              numbers of the forward and the free event, or None
    ring, cursor        the buffers, and the next to look at
    line                buffers enqueued, oldest first
    forward, back       ids of the two events; None without events
    plain               alloc_tensor(dtype) needs no second look
    given               the call that gave the buffers
    lost                which call took the buffers away, and where
    unplaced            buffers announced for placing by hand: index -> (start, bytes), 0 bytes until placed
    """

    __slots__ = (
        "back",
        "core",
        "cursor",
        "depth",
        "dst",
        "events",
        "forward",
        "given",
        "inert",
        "line",
        "lost",
        "memory",
        "plain",
        "pool",
        "position",
        "ring",
        "site",
        "src",
        "tally",
        "unplaced",
    )

    is_queue: ClassVar[bool] = True
    both_ends: ClassVar[bool] = True  # the label names source and destination
    core: Core
    ring: list[Buffer]
    given: Site
    cursor: Buffer
    tally: Tally
    depth: int
    pool: TBufPool | None
    forward: Ids | None
    back: Ids | None

    def _begin(
        self, src: TPosition, dst: TPosition, position: TPosition, events: tuple[int, int] | None, site: Site
    ) -> None:
        self.core = running(type(self).__name__)
        self.src, self.dst, self.position, self.events, self.site = src, dst, position, events, site
        self.memory = MEMORY_OF.get(position, "GM")
        self.inert = self.memory != "GM" and self.memory not in self.core.memories
        self.line: Line[Buffer] = Line()
        self.unplaced: dict[int, tuple[int, int]] = {}
        self.unbind("")

    def _set_depth(self, depth: Any) -> None:
        operation = type(self).__name__
        self.depth = index(ir_value.unwrap(depth), operation, "depth")
        if self.depth < 0:
            raise ArgumentValueError(
                operation, "negative", operand="depth", value=self.depth, rule="0 or more", nearest=0
            )

    # ------------------------------------------------------------------ buffers come and go

    def bind(
        self, pipe: TPipe, spans: list[tuple[int, int]], pool: TBufPool | None, operation: str, site: Site
    ) -> None:
        """Take buffers at (start, bytes). Depth 0: each takes both its ids for good, and its free flag is set."""
        ring = self.ring = [Buffer(self, start, nbytes) for start, nbytes in spans]
        for buffer, follower in zip(ring, ring[1:] + ring[:1], strict=True):
            buffer.next = follower
        self.cursor, self.pool, self.tally, self.given = ring[0], pool, pipe.tally(self.position), site
        self.line.clear()
        self.plain = self.depth > 0 and not self.inert and pool is None
        if self.events is not None and not self.inert:
            forward, back = (pipe.ids(event) for event in self.events)
            self.forward, self.back = (ids if ids.real else None for ids in (forward, back))
        if self.depth == 0:
            for buffer in ring:
                if self.forward is not None:
                    buffer.forward = self.forward.take(buffer, operation, site)
                if self.back is not None:
                    buffer.back = self.back.take(buffer, operation, site)
                    self.core.set_flag(buffer.back, site)

    def unbind(self, lost: str) -> None:
        """The buffers are gone; `lost` says by which call, and where."""
        self.ring, self.pool, self.lost, self.plain = [], None, lost, False
        self.forward = self.back = None
        self.line.clear()

    # ------------------------------------------------------------------ names, for reports

    @property
    def name(self) -> str:
        """The author's variable."""
        return name_of(self.site, type(self).__name__)

    @property
    def label(self) -> str:
        """`in_queue (VECIN)`, `bind (VECIN -> VECOUT)`."""
        ends = f"{self.src.name} -> {self.dst.name}" if self.both_ends else self.position.name
        return f"{self.name} ({ends})"

    # ------------------------------------------------------------------ placing by hand

    def init_start_buf_handle(self, start_buf_handle: Any, num: Any, len: Any) -> None:
        """Announce `num` buffers of `len` bytes, to be placed by init_buf_handle. Page: InitStartBufHandle."""
        operation = "init_start_buf_handle"
        natural(start_buf_handle, operation, "start_buf_handle")
        count = natural(num, operation, "num")
        most = BUFFERS if self.is_queue else 1
        if not 1 <= count <= most:
            raise ArgumentValueError(
                operation, operand="num", value=count, rule=f"1..{most}", nearest=min(max(count, 1), most)
            )
        self.unbind(f"waits for init_buf_handle since {place(author(1))}")
        rounded(len, operation)  # only checked: each buffer brings its own length
        self.unplaced = dict.fromkeys(range(count), (0, 0))

    def init_buf_handle(self, buf_pool: Any, index: Any, buf_handle: Any, cur_pool_addr: Any, len: Any) -> None:
        """Place buffer `index` at byte `cur_pool_addr`; the last one readies the queue. Page: InitBufHandle."""
        operation, site = "init_buf_handle", author(1)
        number, start = natural(index, operation, "index"), natural(cur_pool_addr, operation, "cur_pool_addr")
        natural(buf_handle, operation, "buf_handle")
        if getattr(buf_pool, "title", "") != "TBufPool":
            raise ArgumentTypeError(operation, "is no TBufPool", operand="buf_pool", value=buf_pool)
        pipe = running(operation).state.get("tpipe")
        if pipe is None or number not in self.unplaced:
            rule = "a TPipe, then init_start_buf_handle with a larger num"
            fault(self.core, "QUE_NOT_INIT", f"{self.label}: index = {number}; rule: {rule}", site, operation)
        nbytes = rounded(len, operation)
        memory = self.core.memories.get(self.memory)
        if memory is not None and start + nbytes > memory.size:
            text = f"{self.label}: bytes [{start}:{start + nbytes}) of {self.memory} ({memory.size} bytes)"
            fault(self.core, "MEM_OVERFLOW", text, site, operation)
        self.unplaced[number] = (start, nbytes)
        if all(nbytes for _, nbytes in self.unplaced.values()):
            self.bind(pipe, list(self.unplaced.values()), None, operation, site)
            pipe.buffers.extend(self.ring)


def logical(pos: Any, operation: str, operand: str) -> TPosition:
    """A TPosition, given as one or as its number."""
    number = index(ir_value.unwrap(pos), operation, operand, "a TPosition")
    if not 0 <= number < TPosition.MAX:
        raise ArgumentValueError(
            operation, "is no TPosition", operand=operand, value=number, rule="asc.TPosition.VECIN"
        )
    return TPosition(number)


def natural(x: Any, operation: str, operand: str) -> int:
    """A number of bytes, buffers or the like: a plain int, 0 or more."""
    value = index(ir_value.unwrap(x), operation, operand)
    if value < 0:
        raise ArgumentValueError(operation, "negative", operand=operand, value=value, rule="0 or more", nearest=0)
    return value


def rounded(len: Any, operation: str) -> int:
    """A buffer's length in bytes, up to whole blocks; 0 is refused."""
    nbytes = natural(len, operation, "len")
    if nbytes == 0:
        raise ArgumentValueError(operation, operand="len", value=0, rule="more than 0 bytes", nearest=BLOCK)
    return -(-nbytes // BLOCK) * BLOCK

"""TBufPool, and the handing out of memory that it shares with TPipe.

Memory is given out by a bump pointer and comes back as a whole. Not modelled: that a device does not release the ids
of the events for which `TBufPool.reset` waits (here they are free again).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar

from ...hw.core import Core
from ...hw.ended import refuse
from ...hw.errors import ArgumentTypeError, ArgumentValueError
from ...hw.findings import Site, author, many, place
from ..core import ir_value
from ..core.enums import TPosition
from ..core.place import MEMORY_OF, index, report, running
from ..core.tensor import position as local_position
from ..signatures import signatures
from .buffer import FREE, Buffer
from .events import fault
from .names import name_of
from .placement import BUFFERS, natural, rounded
from .queue import TQueBind
from .tbuf import TBuf

if TYPE_CHECKING:
    from .pipe import TPipe

BOUNDLESS = 1 << 62  # size of a memory that this kind of core has not got: nothing lies there, so all fits


class Span:
    """A stretch of one memory: `top` is the next free byte, `end` the byte after the last."""

    __slots__ = ("end", "start", "top")

    def __init__(self, start: int, end: int) -> None:
        self.start, self.end = start, end
        self.top = start


class Divider:
    """What TPipe and TBufPool have in common: giving memory to queues, TBufs and pools."""

    __slots__ = ("buffers", "core", "given", "limit", "site")

    title: ClassVar[str]
    core: Core

    def _open(self, core: Core, limit: int, site: Site) -> None:
        self.core, self.limit, self.site = core, limit, site
        self._forget()

    def _forget(self) -> None:
        self.buffers: list[Buffer] = []
        self.given: list[tuple[Any, str, int, int]] = []  # who, memory, how many pieces, bytes of one

    @property
    def label(self) -> str:
        """The author's variable."""
        return name_of(self.site, self.title)

    def _span(self, memory: str, who: str, operation: str, site: Site) -> Span:
        raise NotImplementedError

    def _pipe(self, operation: str, site: Site) -> TPipe:
        raise NotImplementedError

    def init_buffer(self, que: Any = None, num: Any = 0, len: Any = 0, buf: Any = None) -> None:
        """Give buffers to a queue or a TBuf. Page: InitBuffer.

        init_buffer(que, num, len) gives `num` adjacent buffers of `len` bytes; init_buffer(buf, num) or
        init_buffer(buf, len=...) gives a TBuf that many bytes. Lengths are rounded up to 32 bytes. MEM_OVERFLOW if the
        memory is exhausted, BUF_LIMIT if there are too many buffers.
        """
        operation, site = f"{self.title}.init_buffer", author(1)
        target = que if que is not None else buf
        if isinstance(target, TBuf):
            first, second = natural(num, operation, "num"), natural(len, operation, "len")
            if first and second:
                rule = "init_buffer(buf, bytes)"
                raise ArgumentValueError(operation, "a TBuf is one buffer", operand="len", value=len, rule=rule)
            count, nbytes = 1, rounded(first or second, operation)
        elif isinstance(target, TQueBind):
            count, nbytes = natural(num, operation, "num"), rounded(len, operation)
        else:
            raise ArgumentTypeError(operation, "is no queue or TBuf", operand="que", value=target)
        if not 1 <= count <= BUFFERS:
            nearest = min(max(count, 1), BUFFERS)
            raise ArgumentValueError(operation, operand="num", value=count, rule=f"1..{BUFFERS}", nearest=nearest)
        self._init_queue(target, count, nbytes, operation, site)

    def _init_queue(self, target: TQueBind, count: int, nbytes: int, operation: str, site: Site) -> None:
        if target.core is not self.core:
            refuse(operation, "que")
        pipe = self._pipe(operation, site)
        so_far = len(self.buffers)
        if so_far + count > self.limit:
            asks = many(count, "buffer")
            text = f"{target.label} asks for {asks}, {so_far} given so far; rule: at most {self.limit} in all"
            fault(self.core, "BUF_LIMIT", text, site, operation)
        start = self._take(target, target.memory, count, nbytes, operation, site)
        spans = [(start + i * nbytes, nbytes) for i in range(count)]
        target.bind(pipe, spans, self if isinstance(self, TBufPool) else None, operation, site)
        self.buffers.extend(target.ring)

    def _take(self, who: Any, memory: str, count: int, nbytes: int, operation: str, site: Site) -> int:
        """The first byte of `count` adjacent pieces."""
        span = self._span(memory, who, operation, site)
        total = count * nbytes
        if span.top + total > span.end:
            size, left = span.end - span.start, span.end - span.top
            text = (
                f"{who.label} asks for {count} x {nbytes} = {total} bytes of {memory}, {left} of {size} are available; "
                f"{self.listed(memory)}"
            )
            fault(self.core, "MEM_OVERFLOW", text, site, operation)
        self.given.append((who, memory, count, nbytes))
        start = span.top
        span.top += total
        return start

    def listed(self, memory: str) -> str:
        """The buffers of a memory that were given out so far, and their sum, in words."""
        mine = [(owner, n, each) for owner, where, n, each in self.given if where == memory]
        parts = ", ".join(f"{owner.label} {n} x {each}" for owner, n, each in mine) or "none"
        return f"buffers so far: {parts}, together {sum(n * each for _, n, each in mine)}"

    def init_buf_pool(self, buf_pool: TBufPool, len: Any = 0, share_buf: TBufPool | None = None) -> None:
        """Give a pool `len` bytes (rounded up to 32), or the bytes of the pool `share_buf`. Page: InitBufPool."""
        operation, site = f"{self.title}.init_buf_pool", author(1)
        for operand, pool in (("buf_pool", buf_pool), ("share_buf", share_buf)):
            if not isinstance(pool, TBufPool) and (pool is not None or operand == "buf_pool"):
                raise ArgumentTypeError(operation, "is no TBufPool", operand=operand, value=pool)
        pipe, nbytes = self._pipe(operation, site), rounded(len, operation)
        if share_buf is None:
            start = self._take(buf_pool, buf_pool.memory, 1, nbytes, operation, site)
            buf_pool.open(pipe, self, start, start + nbytes)
            return
        shared = share_buf.ready(operation, site)
        if share_buf.memory != buf_pool.memory:
            text = f"{buf_pool.label} lies in {buf_pool.memory}, {share_buf.label} in {share_buf.memory}"
            fault(self.core, "QUE_POSITION", f"{text}; rule: one memory", site, operation)
        size = shared.end - shared.start
        if nbytes > size:
            rule = f"at most the {size} bytes of {share_buf.label}"
            raise ArgumentValueError(operation, operand="len", value=nbytes, rule=rule, nearest=size)
        buf_pool.open(pipe, self, shared.start, shared.end)


class TBufPool(Divider):
    """A slice of UB or L1 that is divided further, and that may share its bytes with another pool. Page: TBufPool.

    TBufPool(pos, buf_id_size): at most `buf_id_size` (1 to 16) buffers may be given out of it.
    """

    __slots__ = ("memory", "parent", "pipe", "reset_at", "span", "used", "used_at")

    title = "TBufPool"

    def __init__(self, pos: TPosition, buf_id_size: Any = 4) -> None:
        where = local_position(ir_value.unwrap(pos), "TBufPool")
        self.memory = MEMORY_OF[where]
        if self.memory not in ("UB", "L1"):
            rule = "VECIN, VECOUT, VECCALC, A1, B1 or C1"
            raise ArgumentValueError("TBufPool", operand="pos", value=where.name, rule=rule)
        limit = index(ir_value.unwrap(buf_id_size), "TBufPool", "buf_id_size")
        if not 1 <= limit <= 16:
            nearest = min(max(limit, 1), 16)
            raise ArgumentValueError("TBufPool", operand="buf_id_size", value=limit, rule="1..16", nearest=nearest)
        self._open(running("TBufPool"), limit, author(1))
        self.pipe: TPipe | None = None
        self.parent: Divider | None = None
        self.span: Span | None = None  # None: no memory was given, or it was reset
        self.used = False  # a tensor was handed out since the last reset
        self.used_at: Site | None = None  # the first
        self.reset_at = ""

    def open(self, pipe: TPipe, parent: Divider, start: int, end: int) -> None:
        """Get memory."""
        self.pipe, self.parent, self.span, self.used = pipe, parent, Span(start, end), False
        self._forget()
        if self not in pipe.pools:
            pipe.pools.append(self)

    def reset(self) -> None:
        """Wait for the users of every free buffer, so that a sharing pool may be used. Page: Reset.

        Buffers given out stay with their queues; new ones need init_buf_pool first, as on the device.
        """
        site = author(1)
        self.settle(site)
        self.span, self.used = None, False
        self.reset_at = f"was reset at {place(site)}"

    def settle(self, site: Site) -> None:
        """Wait for the users of every free buffer."""
        for buffer in self.buffers:
            if buffer.state == FREE:
                buffer.settle(site)

    def close(self, lost: str) -> None:
        """The TPipe took the memory back."""
        self.span, self.used, self.reset_at = None, False, lost
        self._forget()

    def ready(self, operation: str, site: Site) -> Span:
        """The pool's bytes."""
        if self.span is None:
            why = self.reset_at or "was never given to init_buf_pool"
            fault(self.core, "QUE_NOT_INIT", f"{self.label} has no memory: it {why}", site, operation)
        return self.span

    def _span(self, memory: str, who: Any, operation: str, site: Site) -> Span:
        span = self.ready(operation, site)
        if memory != self.memory:
            text = f"{who.label} lies in {memory}, {self.label} in {self.memory}; rule: one memory"
            fault(self.core, "QUE_POSITION", text, site, operation)
        return span

    def _pipe(self, operation: str, site: Site) -> TPipe:
        self.ready(operation, site)
        assert self.pipe is not None
        return self.pipe

    def _init_queue(self, target: TQueBind, count: int, nbytes: int, operation: str, site: Site) -> None:
        if target.is_queue and target.depth == 0:
            raise ArgumentValueError(
                operation,
                f"{target.label} would get no event ids",
                operand="depth",
                value=0,
                rule="1 or more in a pool; TPipe.init_buffer takes queues of depth 0",
                nearest=1,
            )
        super()._init_queue(target, count, nbytes, operation, site)

    def touch(self, who: str, operation: str, site: Site) -> None:
        """First use since the last reset: no pool with the same bytes may be in use. POOL_OVERLAP."""
        self.used, self.used_at = True, site
        assert self.pipe is not None
        for other in self.pipe.pools:
            if other.used and other.span is not None and self._meets(other):
                text = f"{who} lies in {self.label}, whose bytes {other.label} uses since {place(other.used_at)}"
                report(self.core, "POOL_OVERLAP", f"{text}; rule: {other.label}.reset() first", site, operation)

    def _meets(self, other: TBufPool) -> bool:
        """Whether another pool has bytes of this one without being a part of it, or it a part of that."""
        if self in other.line() or other in self.line() or self.span is None or other.span is None:
            return False
        return self.span.start < other.span.end and other.span.start < self.span.end and self.memory == other.memory

    def line(self) -> Iterator[Any]:
        """This pool and those that it was cut from."""
        part: Any = self
        while isinstance(part, TBufPool):
            yield part
            part = part.parent


Divider.init_buffer.__overloads__ = signatures(  # type: ignore[attr-defined]
    "self, que, num=0, len=0", "self, buf, num=0", "self, buf, len=0"
)

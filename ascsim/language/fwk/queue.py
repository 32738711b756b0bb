"""TQueBind and TQue: buffers that pass between two pipes, with a flag at each hand-over.

The states and events are those of the vendor's pages TQue and TQueBind; `Buffer` holds the state. alloc, enque, deque
and free are the hot calls of a kernel: text is made only in a report. A queue of a memory that this kind of core has
not got (one text serves both kinds in a mix kernel) has no states: its tensors are inert. Not modelled there: that
`alloc_tensor` would hang on a device once all buffers are taken.
"""

from __future__ import annotations

import sys
from typing import Any

from ...hw.errors import ArgumentTypeError, ArgumentValueError
from ...hw.events import IDS
from ...hw.findings import Site, author
from ..core import ir_value
from ..core.dtype import DataType
from ..core.enums import TPosition
from ..core.place import place as place_at
from ..core.place import running
from ..core.tensor import LeasedTensor, LocalTensor, _tensor
from ..signatures import signatures
from . import faults
from .buffer import DEQUE, ENQUE, FREE, OCCUPIED, Buffer, Lease
from .events import ENDS, USER_POSITIONS, Ids, direction, ends_from, fault
from .placement import Placement, logical

_getframe = sys._getframe
_new = object.__new__


class TQueBind(Placement):
    """A queue from one position to another. Page: TQueBind.

    TQueBind(src, dst, depth, mask): the positions choose memory and events; `depth` is how many tensors may be in the
    queue at once (0: tensors are handed out in place, through an argument); `mask` has no effect on these chips.
    `TPipe.init_buffer` gives the queue its buffers.
    """

    __slots__ = ()

    def __init__(
        self,
        src: TPosition = TPosition.VECIN,
        dst: TPosition = TPosition.VECIN,
        depth: int = 0,
        mask: int = 0,
    ) -> None:
        site = author(1)
        src, dst = logical(src, "TQueBind", "src"), logical(dst, "TQueBind", "dst")
        position = src if dst in (TPosition.GM, TPosition.CO2) else dst
        self._begin(src, dst, position, direction(src, dst), site)
        self._set_depth(depth)
        if self.events is None:
            text = f"no data goes from {src.name} to {dst.name}; rule: {ends_from(src)}"
            fault(self.core, "QUE_POSITION", text, site, "TQueBind")

    # ------------------------------------------------------------------ the four calls

    def alloc_tensor(self, dtype: Any = None, tensor: LocalTensor | None = None) -> LocalTensor | None:
        """A tensor of the next free buffer, once its last user is done with it. Page: AllocTensor.

        alloc_tensor(dtype) gives a tensor; alloc_tensor(tensor), for a queue of depth 0, makes `tensor` lie there.
        DEADLOCK if no buffer is free.
        """
        frame = _getframe(1)
        site = (frame.f_code, frame.f_lasti)
        if not self.plain or dtype.__class__ is not DataType or tensor is not None:
            return self._alloc_other(dtype, tensor, site)
        buffer = self.cursor
        if buffer.state:
            return self._alloc(dtype, site)
        self.cursor = buffer.next
        buffer.state, buffer.site = OCCUPIED, site
        tally = self.tally
        tally.n += 1
        if tally.n > IDS:
            faults.crowded(self, site)
        flag = buffer.back
        if flag is not None:
            self.core.wait_flag(flag, site)
            self.back.give(flag)  # type: ignore[union-attr]
            buffer.back = None
        lease: Lease = _new(Lease)  # `Buffer.lend`, in place
        out: LeasedTensor = _new(LeasedTensor)
        lease.buffer, lease.tensors = buffer, [out]
        out.place = buffer.where if buffer.dtype is dtype else buffer.retype(dtype, "alloc_tensor")
        out.held = buffer.lease = lease
        return out

    def enque(self, tensor: LocalTensor, src_user_pos: Any = None, dst_user_pos: Any = None) -> None:
        """Put a tensor into the queue: a flag is set behind what filled it. Page: EnQue.

        With two positions of the author's the flag is that of their direction. Until `deque` the tensor must not be
        used.
        """
        frame = _getframe(1)
        site = (frame.f_code, frame.f_lasti)
        try:
            lease = tensor.held
            buffer = lease.buffer
        except AttributeError:
            faults.no_buffer(self, tensor, "enque", site)
            return
        if buffer.owner is not self or buffer.lease is not lease:
            faults.no_buffer(self, tensor, "enque", site)
            return
        if not buffer.state & 1:
            faults.wrong_state(self, buffer, "enque", site)
        ids = self.forward
        if src_user_pos is not None or dst_user_pos is not None:
            ids = self._user_ids(src_user_pos, dst_user_pos, "enque", site)
        buffer.state, buffer.site, buffer.ids = ENQUE, site, ids
        if self.depth:
            line = self.line
            if len(line) >= self.depth:
                faults.full(self, site)
            line.append(buffer)
            if ids is not None:
                buffer.forward = ids.take(buffer, "enque", site)
        if buffer.forward is not None:
            self.core.set_flag(buffer.forward, site)
        gone = buffer.queued
        if gone is None or gone.site != site:
            gone = buffer.queue(site)
        known = gone.places
        for tensor in lease.tensors:  # `Lease.revoke`, in place
            where = tensor.place
            tensor.place = known.get(where) or gone.dead(where)

    def deque(
        self, dtype: Any = None, src_user_pos: Any = None, dst_user_pos: Any = None, tensor: LocalTensor | None = None
    ) -> LocalTensor | None:
        """The oldest tensor of the queue, once what filled it is done. Page: DeQue.

        deque(dtype), or deque(dtype, src_user_pos, dst_user_pos) where enque named the same positions;
        deque(tensor), for a queue of depth 0, waits for that tensor.
        """
        frame = _getframe(1)
        site = (frame.f_code, frame.f_lasti)
        if not self.line or dtype.__class__ is not DataType or tensor is not None:
            dtype = self._deque_other(dtype, tensor, site)
            if dtype.__class__ is not DataType:
                return dtype
        ids = self.forward
        if src_user_pos is not None or dst_user_pos is not None:
            ids = self._user_ids(src_user_pos, dst_user_pos, "deque", site)
        buffer = self.line.popleft()
        if ids is not buffer.ids:
            faults.other_pair(self, buffer, ids, site)
        flag = buffer.forward
        if flag is not None:
            self.core.wait_flag(flag, site)
            ids.give(flag)  # type: ignore[union-attr]
            buffer.forward = None
        buffer.state, buffer.site = DEQUE, site
        lease = buffer.lease
        tensors = lease.tensors  # type: ignore[union-attr]
        for other in tensors:
            other.place = other.place.live
        out: LeasedTensor = _new(LeasedTensor)
        out.place = buffer.where if buffer.dtype is dtype else buffer.retype(dtype, "deque")
        out.held = lease
        tensors.append(out)
        return out

    def free_tensor(self, tensor: LocalTensor) -> None:
        """Give a tensor's buffer back: a flag is set behind what used it. Page: FreeTensor."""
        frame = _getframe(1)
        site = (frame.f_code, frame.f_lasti)
        try:
            lease = tensor.held
            buffer = lease.buffer
        except AttributeError:
            faults.no_buffer(self, tensor, "free_tensor", site)
            return
        if buffer.owner is not self or buffer.lease is not lease:
            faults.no_buffer(self, tensor, "free_tensor", site)
            return
        if not buffer.state & 1:
            faults.wrong_state(self, buffer, "free_tensor", site)
        buffer.state, buffer.site = FREE, site
        if self.depth and self.back is not None:
            buffer.back = self.back.take(buffer, "free_tensor", site)
        if buffer.back is not None:
            self.core.set_flag(buffer.back, site)
        self.tally.n -= 1
        gone = buffer.freed
        if gone is None or gone.site != site:
            gone = buffer.free(site)
        buffer.lease = None
        known = gone.places
        for tensor in lease.tensors:  # `Lease.revoke`, in place
            where = tensor.place
            tensor.place = known.get(where) or gone.dead(where)

    def free_all_event(self) -> None:
        """Wait for the users of every free buffer and release the ids. Page: FreeAllEvent."""
        site = author(1)
        self._needs_depth("free_all_event")
        for buffer in self.ring:
            if buffer.state == FREE:
                buffer.settle(site)

    # ------------------------------------------------------------------ questions

    def get_tensor_count_in_que(self) -> ir_value.PlainValue:
        """Tensors enqueued and not yet dequeued (int32). Page: GetTensorCountInQue."""
        self._needs_depth("get_tensor_count_in_que")
        return ir_value.int32(len(self.line))

    def has_tensor_in_que(self) -> ir_value.PlainValue:
        """Whether the queue holds a tensor. Page: HasTensorInQue."""
        self._needs_depth("has_tensor_in_que")
        return ir_value.Bit.pack(len(self.line) > 0)

    def vacant_in_que(self) -> ir_value.PlainValue:
        """Whether another tensor may be enqueued. Page: VacantInQue."""
        self._needs_depth("vacant_in_que")
        return ir_value.Bit.pack(len(self.line) < self.depth)

    def has_idle_buffer(self) -> ir_value.PlainValue:
        """Whether a buffer is free for alloc_tensor. Page: HasIdleBuffer."""
        self._needs_depth("has_idle_buffer")
        return ir_value.Bit.pack(any(buffer.state == FREE for buffer in self.ring))

    # ------------------------------------------------------------------ behind the calls

    def _alloc(self, dtype: DataType, site: Site) -> LocalTensor:
        buffer = self._take(site)
        flag = buffer.back
        if flag is not None:
            self.core.wait_flag(flag, site)
            self.back.give(flag)  # type: ignore[union-attr]
            buffer.back = None
        return buffer.lend(dtype)

    def _take(self, site: Site) -> Buffer:
        """The next free buffer, round-robin, now OCCUPIED."""
        buffer = self.cursor
        if buffer.state:
            buffer = self._search(site)
        self.cursor = buffer.next
        buffer.state, buffer.site = OCCUPIED, site
        tally = self.tally
        tally.n += 1
        if tally.n > IDS:
            faults.crowded(self, site)
        if self.pool is not None and not self.pool.used:
            self.pool.touch(self.label, "alloc_tensor", site)
        return buffer

    def _search(self, site: Site) -> Buffer:
        buffer = self.cursor.next
        while buffer is not self.cursor:
            if buffer.state == FREE:
                return buffer
            buffer = buffer.next
        return faults.none_free(self, site)

    def _alloc_other(self, dtype: Any, tensor: Any, site: Site) -> LocalTensor | None:
        """alloc_tensor in place, with a `ConstExpr` type, or against the rules."""
        target = self._target(dtype, tensor, "alloc_tensor", site)
        if target.__class__ is DataType:
            return self._inert(target) if self.inert else self._alloc(target, site)
        if self.inert:
            target.place = self._inert(target.dtype).place
            return None
        buffer = self._take(site)
        if buffer.back is not None:
            self.core.wait_flag(buffer.back, site)
        lease = buffer.lease = Lease(buffer)
        target.place = buffer.retype(target.dtype, "alloc_tensor")
        target._hold(lease)
        return None

    def _deque_other(self, dtype: Any, tensor: Any, site: Site) -> Any:
        """deque in place (None), on an inert queue (the tensor), with a `ConstExpr` type (the type), or a fault."""
        target = self._target(dtype, tensor, "deque", site)
        if self.inert:
            return self._inert(target) if target.__class__ is DataType else None
        if target.__class__ is DataType:
            if not self.line:
                faults.empty(self, site)
            return target
        lease = target.lease
        if lease is None or lease.buffer.owner is not self or lease.buffer.lease is not lease:
            return faults.no_buffer(self, target, "deque", site)
        buffer = lease.buffer
        if buffer.state != ENQUE:
            faults.wrong_state(self, buffer, "deque", site)
        if buffer.forward is not None:
            self.core.wait_flag(buffer.forward, site)
        buffer.state, buffer.site = DEQUE, site
        return lease.restore()

    def _target(self, dtype: Any, tensor: Any, operation: str, site: Site) -> Any:
        """The element type or the tensor that alloc and deque were given, where depth and buffers allow it."""
        if dtype is not None and tensor is not None:
            raise ArgumentTypeError(
                operation, "is given beside a data type", operand="tensor", value=tensor, rule="one"
            )
        target = ir_value.unwrap(dtype if tensor is None else tensor)
        in_place = isinstance(target, LocalTensor)
        if not in_place and target.__class__ is not DataType:
            problem = "is missing" if target is None else "is no data type"
            rule = "a data type (asc.float32 ...), or the tensor on a queue of depth 0"
            raise ArgumentTypeError(operation, problem, operand="dtype", value=target, rule=rule)
        if in_place != (self.depth == 0):
            form = "a data type" if self.depth else "the tensor itself"
            raise ArgumentValueError(
                operation, f"{self.label} takes {form}", operand="depth", value=self.depth, rule="in place: depth 0"
            )
        if not self.ring and not self.inert:
            faults.not_init(self, operation, site)
        return target

    def _inert(self, dtype: DataType) -> LocalTensor:
        buffer = self.ring[0] if self.ring else None
        start, nbytes = (buffer.start, buffer.nbytes) if buffer is not None else (0, 0)
        return _tensor(place_at(self.core, self.position, dtype, start, nbytes), None)

    def _user_ids(self, src: Any, dst: Any, operation: str, site: Site) -> Ids | None:
        """The ids of the direction that the author names."""
        pair = logical(src, operation, "src_user_pos"), logical(dst, operation, "dst_user_pos")
        events = direction(*pair) if all(pos in USER_POSITIONS for pos in pair) else None
        if events is None or self.depth == 0:
            rule = "GM, VECIN, VECOUT or VECCALC, not both GM, on a queue of depth 1 or more"
            text = f"{self.label}: {pair[0].name} -> {pair[1].name}; rule: {rule}"
            fault(self.core, "QUE_POSITION", text, site, operation)
        ids = self.core.state["tpipe"].ids(events[0])
        return ids if ids.real else None

    def _needs_depth(self, operation: str) -> None:
        if self.depth == 0:
            raise ArgumentValueError(
                operation, f"not available on {self.label}", operand="depth", value=0, rule="1 or more", nearest=1
            )


class TQue(TQueBind):
    """A queue named by one position. Page: TQue.

    TQue(pos, depth, mask): a VECIN queue is filled from global memory, a VECOUT queue emptied to it, an A2 queue
    filled from A1, and so on; VECCALC has buffers but no events.
    """

    __slots__ = ()

    both_ends = False

    def __init__(self, pos: TPosition = TPosition.VECIN, depth: int | None = 1, mask: int = 0) -> None:
        site = author(1)
        where = logical(pos, "TQue", "pos")
        if where is TPosition.VECCALC:
            self._begin(where, where, where, None, site)
        elif where in ENDS:
            self._begin(*ENDS[where], where, direction(*ENDS[where]), site)
        else:
            rule = "one of " + ", ".join(known.name for known in (*ENDS, TPosition.VECCALC))
            fault(running("TQue"), "QUE_POSITION", f"pos = {where.name}; rule: {rule}", site, "TQue")
        self._set_depth(1 if depth is None else depth)


TQueBind.alloc_tensor.__overloads__ = signatures("self, dtype", "self, tensor")  # type: ignore[attr-defined]
TQueBind.deque.__overloads__ = signatures(  # type: ignore[attr-defined]
    "self, dtype", "self, tensor", "self, dtype, src_user_pos, dst_user_pos"
)

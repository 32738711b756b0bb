"""How a Matmul object reaches its cube core: by messages from a vector core, or because it lives on the cube core.

On a vector core operands and results in UB go through global memory, the workspace of `register_matmul`: a ring of as
many bytes as UB has, for each vector core. Pages: REGIST_MATMUL_OBJ, GetTensorC.
"""

from __future__ import annotations

from typing import Any, NoReturn

from ...hw import serving
from ...hw.core import Core
from ...hw.errors import ArgumentTypeError, ArgumentValueError
from ...hw.events import EVENT_NUMBER
from ...hw.findings import Site, place
from ...hw.instruction import Plan
from .. import copies
from ..core.address import GlobalAddress
from ..core.dtype import DataType
from ..core.global_tensor import GlobalTensor, Window
from ..core.place import Place, report
from ..core.tensor import LocalTensor
from ..fractals import align_up
from ..fwk.pipe import TPipe
from .matmul_cube import Cube

OBJECTS = 4  # of one core
NO_L1 = "a vector core has no L1: its tensors there travel by messages, not built"
_STATE = "matmul"


class _Room(Window):
    """A piece of the workspace that stands for a tensor in UB."""

    __slots__ = ()

    def origin(self) -> str:
        """What an author knows of it."""
        need = "a block has base_m * base_n, and without en_sequential_write it goes to its place in C"
        return f"{self.elements} elements of {self.dtype} in UB; {need}"


class Link:
    """The way from one core to the cube core that works for it."""

    def __init__(self, core: Core, pipe: TPipe, workspace: GlobalAddress, number: int) -> None:
        self.core, self.pipe, self.workspace, self.number = core, pipe, workspace, number
        self.remote = core.kind == "aiv"
        self.top = 0  # of the ring in the workspace
        self.promised: dict[int, tuple[str, str, Site]] = {}  # answers to be taken: by which call, whose, from where
        if self.remote:
            core.at_end.append(self._untaken)

    def cube(self, operation: str, site: Site) -> Cube:
        """The cube core's program, which has heard of all that was done before."""
        core = serving.request(self.core, operation, site) if self.remote else self.core
        cube: Cube = core.state[_STATE]
        return cube

    def known(self) -> Cube | None:
        """The cube core's program, if there is one by now; no message is sent."""
        core = self.core.device.servers.cores.get(self.core.group) if self.remote else self.core
        return None if core is None else core.state.get(_STATE)

    def answer(self, cube: Cube) -> int:
        """The number of an answer: what a wait for all the copies out so far waits for."""
        return serving.answer(self.core, cube.core) if self.remote else 0

    def wait(self, number: int) -> None:
        """The scalar unit waits for an answer; on the cube core itself nothing is to be waited for."""
        if self.remote:
            self.promised.pop(number, None)
            serving.hear(self.core, number)

    def promise(self, number: int, taker: str, operation: str, site: Site) -> None:
        """A call is to take the answer of an operation."""
        if self.remote:
            self.promised[number] = taker, operation, site

    def _untaken(self) -> None:
        """At the end of the kernel: an answer is a flag between the cores."""
        for taker, operation, site in self.promised.values():
            whose = f"{operation} ({place(site)})"
            text = f"no {taker} has taken the answer of {whose}; the next kernel would start with it up"
            self.core.report("XFLAG_LEFT_SET", text, site, operation=operation)

    # ------------------------------------------------------------------ UB, through the workspace

    def room(self, dtype: DataType, nbytes: int, operation: str) -> GlobalTensor:
        """A piece of the ring."""
        ring, array = self.core.device.soc.ub, self.workspace.array
        nbytes = align_up(nbytes, 32)
        if self.top + nbytes > ring:
            self.top = 0
        start = self.workspace.offset + self.core.index * ring + self.top
        if start + nbytes > array.nbytes or nbytes > ring:
            needed = (self.core.device.blocks * self.core.device.ratio) * ring
            rule = f"{needed} bytes for this launch, {ring} a vector core; the vendor's system workspace has 16 MiB"
            raise ArgumentValueError(operation, "too small", operand="workspace", value=array.nbytes, rule=rule)
        self.top += nbytes
        out = GlobalTensor()
        out.window, out.start = _Room(array, start + nbytes, dtype, nbytes // dtype.size), start
        return out

    def send(self, source: LocalTensor, operation: str, site: Site) -> GlobalTensor:
        """Copy a tensor of UB to the workspace, once V has done what was issued to it."""
        where = source.place.live
        self.order("V_MTE3", site)
        to = self.room(where.dtype, where.nbytes, operation)
        nbytes = where.nbytes // 32 * 32
        plan = copies.store_plan(self.core, "data_copy", where, copies.Moves(nbytes, 0, 0, 1), to.start, site)
        self._issue(plan, to, site)
        return to

    def receive(self, to: LocalTensor, source: GlobalTensor, site: Site, ordered: bool = True) -> None:
        """Copy from the workspace into the whole of a tensor in UB; `ordered`: V waits for it."""
        where = to.place.live
        nbytes = where.nbytes // 32 * 32
        plan = copies.load_plan(self.core, "data_copy", where, copies.Moves(nbytes, 0, 0, 1), source.start, site)
        self._issue(plan, source, site)
        if ordered:
            self.order("MTE2_V", site)

    def _issue(self, plan: Plan, tensor: GlobalTensor, site: Site) -> None:
        plan.private = True  # the protocol keeps the two cores apart
        self.core.issue(plan, site, tensor.window.array, tensor.start)

    def order(self, event: str, site: Site) -> None:
        """One pipe waits for another."""
        ids = self.pipe.ids(EVENT_NUMBER[event])
        flag = ids.take(self, "Matmul", site)
        self.core.set_flag(flag, site)
        self.core.wait_flag(flag, site)
        ids.give(flag)

    def __str__(self) -> str:
        return "the Matmul objects"


def link(core: Core, pipe: Any, workspace: Any, masters: bool, site: Site) -> Link:
    """Register an object. A cube core that has vector cores beside it does not come back from here, unless both kinds
    of core are `masters`."""
    operation = "register_matmul"
    if not isinstance(pipe, TPipe):
        raise ArgumentTypeError(operation, "is no TPipe", operand="pipe", value=pipe)
    if isinstance(workspace, GlobalTensor):
        workspace = workspace.get_phy_addr()
    if not isinstance(workspace, GlobalAddress):
        raise ArgumentTypeError(operation, "is no GlobalAddress", operand="workspace", value=workspace)
    if not core.device.aic:
        _no_cube(core, operation, site)
    if not (core.device.mix or core.device.cube_only or masters):
        text = (
            f"{core.device.kernel_type_name} without matmul_cube_only: the cube core serves, no vector core is there "
            "to end it, and the launch hangs; rule: jit(matmul_cube_only=True), which chooses AIC_ONLY by itself"
        )
        report(core, "WRONG_CORE", text, site, operation)
    count = core.state["matmul_objects"] = core.state.get("matmul_objects", 0) + 1
    if count > OBJECTS:
        rule = f"at most {OBJECTS} Matmul objects a kernel"
        raise ArgumentValueError(operation, operand="matmul", value=f"number {count}", rule=rule, nearest=OBJECTS)
    others = core.state.setdefault("matmul_masters", masters)
    if masters is not others:
        operand, rule = "matmul_config.enable_mix_dual_master", f"{others}, as for the objects before it"
        raise ArgumentValueError(operation, operand=operand, value=masters, rule=rule, nearest=others)
    if core.device.mix:
        core.device.cross.keep(core, range(2 * count), operation, site)
    if core.kind == "aic":
        if _STATE not in core.state:
            core.state[_STATE] = Cube(core, pipe, site)
        if core.device.mix and not masters:
            serving.serve(core)
    return Link(core, pipe, workspace, count - 1)


def _no_cube(core: Core, operation: str, site: Site) -> NoReturn:
    text = (
        f"{core.device.kernel_type_name} has no cube core to register it on; rule: MIX_AIC_1_2 (or AIC_ONLY with "
        "matmul_cube_only), which is chosen where register_matmul is seen in the kernel or in a function it names; "
        "where it is not, say @jit(kernel_type=KernelType.MIX_AIC_1_2)"
    )
    report(core, "WRONG_CORE", text, site, operation)
    raise AssertionError("WRONG_CORE ends the launch")


def in_ub(where: Place) -> bool:
    """Whether a tensor lies in UB."""
    return where.memory is not None and where.memory.name == "UB"

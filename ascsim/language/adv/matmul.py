"""Matmul: C = A * B + bias, block by block on a cube core, from a vector core or on the cube core itself.

    mm = adv.Matmul(a, b, c, bias)
    adv.register_matmul(pipe, workspace, mm, tiling)
    mm.set_tensor_a(a_global); mm.set_tensor_b(b_global)
    mm.iterate_all(c_global)                       all blocks of C to global memory
    with mm.iterate() as count:                    or block by block
        mm.get_tensor_c(c_local, en_sequential_write=True)
    mm.end()

In a mix kernel the cube core runs the kernel up to register_matmul and serves from there on; statements after it run on
vector cores. A call reaches the cube core when all earlier MTE3 work of its vector core has ended; a call that waits
(sync, the default) is followed by everything after it. Pages: Matmul (kernel side).

Not simulated: int4, operands that a vector core holds in L1, callbacks. Choices that only move memory or messages have
no effect, OUTER_PRODUCT in iterate_all among them.
"""

from __future__ import annotations

from typing import Any

from ...hw.errors import ArgumentTypeError
from ...hw.findings import author
from ..core.place import running
from .matmul_batch import BatchCalls
from .matmul_link import link
from .matmul_object import MatmulObject
from .matmul_operands import MatmulType
from .matmul_results import MatmulIterator as MatmulIterator
from .matmul_results import MatrixOffset as MatrixOffset
from .matmul_setup import SetupCalls


def register_matmul(pipe: Any, workspace: Any, matmul: Any, tiling: Any = None) -> None:
    """Make a Matmul object known to the cube core, before any init_buffer.

    `workspace`: global memory of the library; operands and results in UB go through it, UB's size a vector core.
    `tiling`: a TCubeTiling; without one, `init` gives it. At most 4 objects a kernel, which use cross-core flags
    0 to 2 n - 1. On the cube core of a mix kernel the text ends here. Page: REGIST_MATMUL_OBJ.
    """
    site, operation = author(1), "register_matmul"
    core = running(operation)
    if not isinstance(matmul, Matmul):
        raise ArgumentTypeError(operation, operand="matmul", value=matmul, rule="a Matmul")
    if tiling is not None:
        matmul.state.tile(tiling, operation)
    matmul.state.link = link(core, pipe, workspace, matmul.state.config.enable_mix_dual_master, site)


class Matmul(SetupCalls, BatchCalls):
    """A matrix product of fixed types. `a`, `b`, `c`, `bias`: MatmulType (bias: that of C if left out).

    `matmul_config`: a MatmulConfig. Its templates differ in time, not in result: Norm (and BasicBlock, IBShare), or MDL
    and SpecialMDL, whose loads to L1 overlap the rest. `matmul_policy`: a triangular policy computes only the blocks on
    and above (or below) the diagonal. Attributes a_dtype, b_dtype, c_dtype. Pages: Matmul template parameters,
    MatmulConfig.
    """

    def __init__(
        self,
        a: Any = None,
        b: Any = None,
        c: Any = None,
        bias: Any = None,
        matmul_config: Any = None,
        matmul_policy: Any = 0,
    ) -> None:
        running("adv.Matmul")
        self.state = MatmulObject(a, b, c, bias, matmul_config, matmul_policy)
        self.a_dtype, self.b_dtype, self.c_dtype = a.dtype, b.dtype, c.dtype

    def end(self) -> None:
        """The object lets go of the cube core's memory; another one may start. Page: End."""
        site, state = author(1), self.state
        state.allowed("Matmul.end", "enable_end")
        way = state.linked("Matmul.end")
        cube = way.known()
        if cube is not None:
            state.finish(cube, site)
        state.blocks = None


__all__ = ["Matmul", "MatmulType", "register_matmul"]

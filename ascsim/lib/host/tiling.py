"""The three tiling classes: a product on one core, on several, and many small products."""

from __future__ import annotations

from typing import Any

from ascsim.hw.errors import ArgumentValueError
from ascsim.language.adv.tiling_search import FREE, Problem, Range

from .base import MatmulApiTilingBase, fail
from .platform import PlatformAscendC


class MatmulApiTiling(MatmulApiTilingBase):
    """Tiling of a product on one core. Page: Matmul tiling classes."""


class BatchMatmulTiling(MatmulApiTilingBase):
    """Tiling of one of many products that one call computes."""

    def get_core_num(self) -> tuple[int, int, int, int, int] | None:
        """(cores, along M, along N, along M and N of the batch) of the tiling, None before there is one."""
        return None if self._cut is None else (self._cut.used_core_num, 1, 1, 1, 1)


class MultiCoreMatmulTiling(MatmulApiTilingBase):
    """Tiling of a product that several cores share."""

    def __init__(self, arg0: PlatformAscendC) -> None:
        super().__init__(arg0)
        self._cores = 1
        self._single: list[int] = [0, 0, 0]
        self._single_range: list[Range] = list(FREE)
        self._align: list[int] = [1, 1, 1]
        self._split_k = False

    def set_dim(self, dim: Any) -> int:
        """Cores that may be used, 1 to the cores of the platform: vector cores where a kernel has both kinds."""
        cores, most = self._int(dim, "set_dim", "dim"), self._soc.aiv
        if not 1 <= cores <= most:
            method, rule = self._called("set_dim"), f"1 to {most}, the cores of the platform"
            nearest = min(max(cores, 1), most)
            return fail(ArgumentValueError(method, operand="dim", value=cores, rule=rule, nearest=nearest))
        self._cores = cores
        return 0

    def set_single_shape(self, single_m_in: Any = -1, single_n_in: Any = -1, single_k_in: Any = -1) -> int:
        """The part of a core, in elements; -1 leaves an axis free. Where the parts outnumber the cores, a core computes
        several, and used_core_num is that of set_dim."""
        sizes = self._ints(
            "set_single_shape", single_m_in=single_m_in, single_n_in=single_n_in, single_k_in=single_k_in
        )
        self._single = [size if size > 0 else old for size, old in zip(sizes, self._single, strict=True)]
        return 0

    def set_single_range(
        self, max_m: Any = -1, max_n: Any = -1, max_k: Any = -1, min_m: Any = -1, min_n: Any = -1, min_k: Any = -1
    ) -> int:
        """Limits of the part of a core, in elements; -1: none. Those of K count only where cores share K."""
        most = self._ints("set_single_range", max_m=max_m, max_n=max_n, max_k=max_k)
        least = self._ints("set_single_range", min_m=min_m, min_n=min_n, min_k=min_k)
        for axis, (high, low) in enumerate(zip(most, least, strict=True)):
            old = self._single_range[axis]
            self._single_range[axis] = Range(old.low if low == -1 else low, old.high if high == -1 else high)
        return 0

    def set_align_split(self, align_m: Any, align_n: Any, align_k: Any) -> int:
        """What the part of a core is a multiple of, unless it is the whole axis; -1 or 0 leaves that to the tiling."""
        wishes = self._ints("set_align_split", align_m=align_m, align_n=align_n, align_k=align_k)
        self._align = [wish if wish > 0 else old for wish, old in zip(wishes, self._align, strict=True)]
        return 0

    def enable_multi_core_split_k(self, flag: Any) -> None:
        """Whether cores may share K: C then goes to global memory, cleared before, by atomic addition; no bias."""
        self._split_k = bool(self._int(flag, "enable_multi_core_split_k", "flag"))

    def get_core_num(self) -> tuple[int, int, int] | None:
        """(cores, along M, along N) of the tiling, None before there is one."""
        if self._cut is None:
            return None
        m, n, _ = self._problem().shape
        return self._cut.used_core_num, -(-m // self._cut.single_core_m), -(-n // self._cut.single_core_n)

    def get_single_shape(self) -> tuple[int, int, int] | None:
        """The part of a core in the tiling, None before there is one."""
        cut = self._cut
        return None if cut is None else (cut.single_core_m, cut.single_core_n, cut.single_core_k)

    def _problem(self, **more: Any) -> Problem:
        return super()._problem(
            cores=self._cores,
            fixed=tuple(self._single),
            single=tuple(self._single_range),
            align=tuple(self._align),
            split_k=self._split_k,
            **more,
        )


__all__ = ["BatchMatmulTiling", "MatmulApiTiling", "MultiCoreMatmulTiling"]

"""Matmul with a B that keeps two of every four elements along K, against numpy on the whole B."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from matmul_machine import GM, ND, NZ, RING, fractals, kind

import ascsim as asc

RNG = np.random.default_rng(5)
MDL = asc.adv.get_mdl_config()


@asc.jit(matmul_cube_only=True)
def sparse(
    a: asc.GlobalAddress,
    b: asc.GlobalAddress,
    index: asc.GlobalAddress,
    bias: asc.GlobalAddress,
    c: asc.GlobalAddress,
    tiling: asc.adv.TCubeTiling,
    workspace: asc.GlobalAddress,
    types: asc.ConstExpr,
    config: asc.ConstExpr,
):
    tensors = asc.GlobalTensor(), asc.GlobalTensor(), asc.GlobalTensor(), asc.GlobalTensor(), asc.GlobalTensor()
    for tensor, address in zip(tensors, (a, b, index, bias, c), strict=True):
        tensor.set_global_buffer(address)
    pipe = asc.TPipe()
    mm = asc.adv.Matmul(*types, config)
    asc.adv.register_matmul(pipe, workspace, mm, tiling)
    mm.set_tensor_a(tensors[0])
    mm.set_tensor_b(tensors[1], transpose=True)
    mm.set_sparse_index(tensors[2])
    mm.set_bias(tensors[3])
    mm.iterate_all(tensors[4])
    mm.end()


def compressed(n: int, k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """B as [N, K] with two elements in every four; those alone, [N, K / 2]; their index in NZ format."""
    places = np.sort(RNG.permuted(np.tile(np.arange(4), (n, k // 4, 1)), axis=2)[:, :, :2], axis=2)
    kept = RNG.integers(-9, 10, (n, k // 4, 2)).astype(np.int8)
    b = np.zeros((n, k // 4, 4), np.int8)
    np.put_along_axis(b, places, kept, 2)
    fields = (places - [0, 1]).reshape(n, k // 2).astype(np.uint8)  # the second counts from the element after the first
    fields = np.pad(fields, ((0, -n % 16), (0, -(k // 2) % 32)))
    packed = (fields.reshape(len(fields), -1, 4) << np.array([0, 2, 4, 6], np.uint8)).sum(2, dtype=np.uint8)
    nz = packed.reshape(len(fields), -1, 8).transpose(1, 0, 2)
    return b.reshape(n, k), kept.reshape(n, k // 2), np.ascontiguousarray(nz)


def types(format: Any = ND) -> tuple[Any, ...]:
    whole = kind("int32")
    return kind("int8"), asc.adv.MatmulType(GM, format, asc.int8, True), whole, whole


def tiled(m: int, n: int, k: int, base: tuple[int, int, int]) -> Any:
    made = asc.lib.host.MultiCoreMatmulTiling(asc.lib.host.get_ascendc_platform())
    kinds = asc.lib.host.DataType
    made.set_a_type(GM, ND, kinds.DT_INT8)
    made.set_b_type(GM, ND, kinds.DT_INT8, True)
    made.set_c_type(GM, ND, kinds.DT_INT32)
    made.set_bias_type(GM, ND, kinds.DT_INT32)
    made.set_dim(1)
    made.set_org_shape(m, n, k)
    made.set_shape(m, n, k)
    made.enable_bias(True)
    made.set_sparse(True)
    made.set_fix_split(*base)
    tiling = asc.adv.TCubeTiling()
    assert made.get_tiling(tiling) == 0
    return tiling


@pytest.mark.parametrize(
    ("size", "base", "format"),
    [((40, 72, 256), (32, 32, 64), ND), ((16, 40, 200), (-1, -1, -1), ND), ((33, 64, 192), (16, 48, 64), NZ)],
)
def test_products(size: tuple[int, int, int], base: tuple[int, int, int], format: Any) -> None:
    m, n, k = size
    a, bias = RNG.integers(-9, 10, (m, k)).astype(np.int8), RNG.integers(-99, 100, n).astype(np.int32)
    b, kept, index = compressed(n, k)
    tiling = tiled(m, n, k, base)
    assert tiling.base_k % 64 == 0
    c = np.zeros((m, n), np.int32)
    stored = fractals(kept, 32) if format is NZ else kept
    report = sparse[1](a, stored, index, bias, c, tiling, np.zeros(RING, np.uint8), types(format), MDL)
    np.testing.assert_array_equal(c, a.astype(np.int32) @ b.T.astype(np.int32) + bias)
    assert report.findings == []


def test_what_is_refused() -> None:
    a, bias, c = np.ones((16, 64), np.int8), np.zeros(16, np.int32), np.zeros((16, 16), np.int32)
    _, kept, index = compressed(16, 64)
    tiling, space = tiled(16, 16, 64, (16, 16, 64)), np.zeros(RING, np.uint8)
    thin = asc.adv.TCubeTiling(**{name: getattr(tiling, name) for name in tiling.struct_fields} | {"base_k": 32})
    for words, given in (
        ("MDL template", (index, tiling, types(), None)),
        ("BAD_DTYPE.*uint8", (index.view(np.int8), tiling, types(), MDL)),
        ("base_k = 32.*a multiple of 64", (index, thin, types(), MDL)),
    ):
        index_, tile, kinds, config = given
        with pytest.raises(asc.SimulatorError, match=words):
            sparse[1](a, kept, index_, bias, c, tile, space, kinds, config)

"""A Matmul with the tiling that the host found: numpy's result and no finding, for sizes, types and cores at random."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from test_host_tiling import tiler, tiling_of
from tiling_rules import Case, broken, exists

import ascsim as asc

GM, ND = asc.TPosition.GM, asc.CubeFormat.ND
TYPES = {"half": (asc.float16, np.float16), "float": (asc.float32, np.float32), "int8": (asc.int8, np.int8)}
RING = 192 * 1024  # bytes of workspace of a vector core


@asc.jit
def product(
    a: asc.GlobalAddress,
    b: asc.GlobalAddress,
    c: asc.GlobalAddress,
    tiling: asc.adv.TCubeTiling,
    workspace: asc.GlobalAddress,
    case: asc.ConstExpr,
):
    dtype = TYPES[case.dtype][0]
    sums = asc.int32 if case.dtype == "int8" else asc.float32
    a_gm, b_gm, c_gm = asc.GlobalTensor(), asc.GlobalTensor(), asc.GlobalTensor()
    a_gm.set_global_buffer(a)
    b_gm.set_global_buffer(b)
    c_gm.set_global_buffer(c)
    pipe = asc.TPipe()
    mm = asc.adv.Matmul(
        asc.adv.MatmulType(GM, ND, dtype, case.trans_a),
        asc.adv.MatmulType(GM, ND, dtype, case.trans_b),
        asc.adv.MatmulType(GM, ND, sums),
        matmul_config=asc.adv.get_mdl_config() if case.mdl else None,
    )
    asc.adv.register_matmul(pipe, workspace, mm, tiling)
    if asc.get_block_idx() < tiling.used_core_num:
        parts_m, parts_n = tiling.m.ceildiv(tiling.single_core_m), tiling.n.ceildiv(tiling.single_core_n)
        part = asc.get_block_idx()
        row, column = part % parts_m * tiling.single_core_m, part // parts_m % parts_n * tiling.single_core_n
        deep = part // (parts_m * parts_n) * tiling.single_core_k
        mm.set_tail(
            min(tiling.single_core_m, tiling.m - row),
            min(tiling.single_core_n, tiling.n - column),
            min(tiling.single_core_k, tiling.k_a - deep),
        )
        mm.set_tensor_a(a_gm[deep * tiling.m + row if case.trans_a else row * tiling.k_a + deep :], case.trans_a)
        mm.set_tensor_b(b_gm[column * tiling.k_b + deep if case.trans_b else deep * tiling.n + column :], case.trans_b)
        mm.iterate_all(c_gm[row * tiling.n + column :], 1 if case.split_k else 0)
        mm.end()
    asc.pipe_barrier(asc.PipeID.PIPE_ALL)


cube_product = asc.jit(matmul_cube_only=True)(product.fn)
size, block = st.integers(1, 150), st.sampled_from([-1, -1, 16, 32, 64])
cases = st.builds(
    Case,
    m=size,
    n=size,
    k=size,
    dtype=st.sampled_from(list(TYPES)),
    trans_a=st.booleans(),
    trans_b=st.booleans(),
    cores=st.sampled_from([1, 2, 5, 8]),
    split_k=st.booleans(),
    base=st.tuples(block, block, st.sampled_from([-1, -1, 32, 64])),
    l1=st.sampled_from([524032, 32768]),
    mdl=st.booleans(),
)


@given(cases, st.booleans(), st.integers(0, 1000))
@settings(max_examples=8)
def test_what_the_host_returns_multiplies_without_a_finding(case: Case, cube: bool, seed: int) -> None:
    found = tiling_of(tiler(case))
    if found is None:
        assert not exists(case)
        return
    assert broken(case, found) == []
    tiling = asc.adv.TCubeTiling(**found)
    rng, kind = np.random.default_rng(seed), TYPES[case.dtype][1]
    a, b = (rng.integers(-4, 5, shape).astype(kind) for shape in ((case.m, case.k), (case.k, case.n)))
    c = np.zeros((case.m, case.n), np.int32 if case.dtype == "int8" else np.float32)
    cores = tiling.used_core_num
    kernel: Any = cube_product if cube else product
    stored_a, stored_b = (np.ascontiguousarray(x.T) if t else x for x, t in ((a, case.trans_a), (b, case.trans_b)))
    blocks = cores if cube else -(-cores // 2)
    with asc.settings(checks=asc.Checks.strict()):
        report = kernel[blocks](stored_a, stored_b, c, tiling, np.zeros(2 * blocks * RING, np.uint8), case)
    assert [one for one in report.findings if one.severity != "note"] == []
    np.testing.assert_array_equal(c, a.astype(c.dtype) @ b.astype(c.dtype))

"""The tiling classes: every tiling satisfies the documented rules, one is found wherever one exists, settings count."""

from __future__ import annotations

import re
import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tiling_rules import Case, broken, exists

import ascsim as asc
from ascsim.hw.errors import ArgumentTypeError, ArgumentValueError, BackendError, NotSimulatedError
from ascsim.lib import host

TYPES = {"half": host.DataType.DT_FLOAT16, "float": host.DataType.DT_FLOAT, "int8": host.DataType.DT_INT8}
ND, NZ, GM = host.CubeFormat.ND, host.CubeFormat.NZ, host.TPosition.GM


def fields(tiling) -> dict[str, int]:
    return {name: getattr(tiling, name) for name in tiling.struct_fields}


def tiler(case: Case, kind=host.MultiCoreMatmulTiling):
    made = kind(host.get_ascendc_platform())
    made.set_a_type(GM, NZ if case.nz_a else ND, TYPES[case.dtype], case.trans_a)
    made.set_b_type(GM, NZ if case.nz_b else ND, TYPES[case.dtype], case.trans_b)
    made.set_c_type(GM, ND, host.DataType.DT_FLOAT)
    made.set_bias_type(GM, ND, host.DataType.DT_FLOAT)
    if kind is host.MultiCoreMatmulTiling:
        made.set_dim(case.cores)
        made.enable_multi_core_split_k(case.split_k)
    made.set_org_shape(case.m, case.n, case.k)
    made.set_shape(case.m, case.n, case.k)
    made.enable_bias(case.bias)
    assert made.set_fix_split(*case.base) == 0
    assert made.set_buffer_space(case.l1, case.l0c) == 0
    made.set_matmul_config_params(mm_config_type=int(case.mdl))
    return made


def tiling_of(made) -> dict[str, int] | None:
    tiling = asc.adv.TCubeTiling()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", asc.SimulatorWarning)
        return fields(tiling) if made.get_tiling(tiling) == 0 else None


def reason(made) -> str:
    """The warning of a failed get_tiling."""
    tiling = asc.adv.TCubeTiling(m=7)
    with pytest.warns(asc.SimulatorWarning) as seen:
        assert made.get_tiling(tiling) == -1
    assert fields(tiling) == {**fields(asc.adv.TCubeTiling()), "m": 7}
    return str(seen[0].message)


size = st.integers(1, 3000) | st.sampled_from([16, 64, 512, 1024, 8192, 65536])
block = st.sampled_from([-1, -1, 16, 64, 128, 256])
cases = st.builds(
    Case,
    m=size,
    n=size,
    k=size,
    dtype=st.sampled_from(list(TYPES)),
    trans_a=st.booleans(),
    trans_b=st.booleans(),
    bias=st.booleans(),
    cores=st.sampled_from([1, 2, 7, 24, 48]),
    base=st.tuples(block, block, st.sampled_from([-1, -1, -1, 32, 64])),
    l1=st.sampled_from([524032, 65536, 8192]),
    l0c=st.sampled_from([131072, 16384]),
    mdl=st.booleans(),
)


@given(cases)
@settings(max_examples=60)
def test_every_tiling_satisfies_every_documented_rule(case: Case) -> None:
    found = tiling_of(tiler(case))
    assert (found is not None) or not exists(case)
    assert found is None or broken(case, found) == []


@given(cases, st.booleans(), st.booleans())
@settings(max_examples=25)
def test_shared_k_and_nz_matrices(case: Case, nz_a: bool, nz_b: bool) -> None:
    m, n, k = (-(-each // 32) * 32 for each in (case.m, case.n, case.k))
    changed = Case(m, n, k, case.dtype, case.trans_a, case.trans_b, nz_a, nz_b, False, case.cores, True)
    found = tiling_of(tiler(changed))
    assert found is not None
    assert broken(changed, found) == []


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("l1", [0, 512, 1024, 1536, 2048, 3072])
@pytest.mark.parametrize("bias", [False, True])
def test_no_tiling_is_the_answer_only_where_there_is_none(dtype, l1, bias) -> None:
    for l0c in (992, 1024, 2048):
        for base in ((-1, -1, -1), (32, -1, -1), (-1, 32, 32), (-1, 48, -1)):
            for turned in (False, True):
                case = Case(40, 40, 40, dtype, turned, not turned, bias=bias, base=base, l1=l1, l0c=l0c)
                found = tiling_of(tiler(case, host.MatmulApiTiling))
                assert (found is not None) == exists(case)
                assert found is None or broken(case, found) == []


def test_a_wide_product_with_bias_stays_within_the_bias_table() -> None:
    case = Case(16, 4096, 64, bias=True)
    found = tiling_of(tiler(case))
    assert found["base_n"] <= 256
    assert broken(case, found) == []


def test_tutorial_shapes_get_good_tilings() -> None:
    """Three of pyasc's tutorials: all cores used, whole blocks, both L0 halves, more than one block of K in L1."""
    mix = tiling_of(tiler(Case(512, 1024, 512, cores=48)))
    assert mix["used_core_num"] >= 40
    assert mix["single_core_m"] * mix["single_core_n"] <= 512 * 1024 // 40
    assert (mix["db_l0a"], mix["db_l0b"]) == (2, 2)
    assert mix["step_k_a"] * mix["base_k"] >= 256
    wide = tiling_of(tiler(Case(128, 30720, 64, cores=24)))
    assert (wide["used_core_num"], wide["single_core_m"], wide["single_core_n"]) == (24, 128, 1280)
    fixed = tiling_of(tiler(Case(1024, 640, 256, bias=True, cores=2, base=(256, 128, -1))))
    assert (fixed["single_core_m"], fixed["single_core_n"], fixed["base_m"], fixed["base_n"]) == (512, 640, 256, 128)
    large = tiling_of(tiler(Case(4096, 4096, 4096, cores=16)))
    assert large["single_core_m"] * large["single_core_n"] == 1024 * 1024
    assert large["base_m"] * large["base_n"] * 4 * large["db_l0c"] > 0.9 * 131072  # L0C is full
    assert large["depth_a1"] == 2 * large["step_m"] * large["step_k_a"]


@pytest.mark.parametrize(
    ("case", "text"),
    [
        (Case(0, 16, 16), "m = 0: no tiling; rule: 1 or more: set_shape or set_org_shape"),
        (Case(64, 64, 64, base=(128, -1, -1)), "single_core_m = 64: no tiling; rule: .* not below base_m = 128"),
        (Case(512, 512, 64, base=(256, 256, -1)), "base_m = 256: no tiling; rule: .* = 262144 bytes, L0C has 131072"),
        (Case(64, 64, 64, l1=512), "depth_a1 = 1: no tiling; rule: .* = 1024 bytes, L1 has 512"),
        (Case(64, 512, 64, bias=True, base=(-1, 512, -1)), "base_n = 512: .* = 2048 bytes, the bias table has 1024"),
        (Case(1000, 64, 64, nz_a=True), "m = 1000: no tiling; rule: a multiple of 16, for the NZ layout"),
        (Case(64, 64, 64, bias=True, split_k=True), "is_bias = 1: no tiling; rule: no bias where cores share K"),
    ],
)
def test_a_failure_names_the_rule_and_leaves_the_tiling_alone(case, text) -> None:
    assert re.search("MultiCoreMatmulTiling.get_tiling: " + text, reason(tiler(case)))


def test_settings_of_the_cores() -> None:
    made = tiler(Case(1000, 1000, 256, cores=24))
    made.set_single_range(max_m=300, min_n=200)
    made.set_align_split(-1, 64, 0)
    found = tiling_of(made)
    assert found["single_core_m"] <= 300
    assert found["single_core_n"] >= 200
    assert found["single_core_n"] % 64 == 0 or found["single_core_n"] == 1000
    cores, along_m, along_n = made.get_core_num()
    assert cores == found["used_core_num"] == along_m * along_n
    assert made.get_single_shape() == (found["single_core_m"], found["single_core_n"], 256)
    made.set_single_shape(256, -1, -1)
    assert tiling_of(made)["single_core_m"] == 256
    assert made.get_core_num()[1] == 4
    few = tiler(Case(1024, 16, 16, cores=2))
    few.set_single_range(max_m=256)
    assert re.search("used_core_num = 4: no tiling; rule: 2 cores", reason(few))
    few.set_single_shape(256)  # said outright: two parts a core
    assert tiling_of(few)["used_core_num"] == 2


def test_settings_of_the_blocks() -> None:
    made = tiler(Case(512, 512, 512))
    made.set_split_range(100, 40, 48, 64, 32, 32)
    found = tiling_of(made)
    assert 64 <= found["base_m"] <= 96
    assert found["base_n"] == 32
    assert found["base_k"] in (32, 48)
    assert (made.get_base_m(), made.get_base_n(), made.get_base_k()) == tuple(
        found[name] for name in ("base_m", "base_n", "base_k")
    )
    for traverse, order in ((host.MatrixTraverse.FIRSTM, 0), (host.MatrixTraverse.FIRSTN, 1)):
        made.set_traverse(traverse)
        assert tiling_of(made)["iterate_order"] == order
    made.set_matmul_config_params(host.MatmulConfigParams(0, traverse=host.MatrixTraverse.FIRSTM))
    assert tiling_of(made)["iterate_order"] == 0
    outer = tiler(Case(128, 7680, 16, dtype="half"))
    outer.set_matmul_config_params(1, False, host.ScheduleType.OUTER_PRODUCT, host.MatrixTraverse.FIRSTM)
    found = tiling_of(outer)
    assert found["step_n"] > 1
    assert found["base_m"] * found["base_n"] * 4 * 2 <= 131072
    deep = tiler(Case(128, 128, 8192))
    deep.set_matmul_config_params(1, False, host.ScheduleType.OUTER_PRODUCT, host.MatrixTraverse.FIRSTM)
    assert "L0A has 65536" in reason(deep)  # all of K would have to be one block


def test_what_takes_room_in_l1() -> None:
    made = tiler(Case(64, 64, 64, l1=2048))
    made.set_dequant_type(host.DequantType.TENSOR)
    assert tiling_of(made)["share_l1_size"] <= 2048
    there = tiler(Case(64, 64, 64, l1=512))
    there.set_a_type(host.TPosition.TSCM, NZ, host.DataType.DT_FLOAT16, False)
    assert tiling_of(there)["share_l1_size"] == 512  # one fractal of B


def test_batches() -> None:
    made = tiler(Case(64, 48, 32), host.BatchMatmulTiling)
    made.set_batch_info_for_normal(2, 4, 64, 48, 32)
    made.set_batch_num(4)
    found = tiling_of(made)
    a, b, c = ([found[f"{name}_layout_info_{axis}"] for axis in axes.split()] for name, axes in (
        ("a", "b s n g d"), ("b", "b s n g d"), ("c", "b s1 n g s2")))  # fmt: skip
    assert (a, b, c, found["batch_num"]) == ([2, 64, 1, 1, 32], [4, 48, 1, 1, 32], [4, 64, 1, 1, 48], 4)
    assert made.get_core_num() == (1, 1, 1, 1, 1)
    laid = tiler(Case(256, 256, 256, cores=4))
    assert (laid.set_a_layout(3, 256, 1, 2, 256), laid.set_b_layout(3, 256, 1, 2, 256)) == (0, 0)
    assert laid.set_c_layout(3, 256, 1, 2, 256) == 0
    laid.set_batch_num(3)  # 3 * (m + n) * 256 * 2 bytes have to be in L1: parts of at most 341 rows and columns
    found = tiling_of(laid)
    assert (found["single_core_m"] + found["single_core_n"]) * 256 * 2 * 3 <= 524032
    assert [found[f"c_layout_info_{axis}"] for axis in ("b", "s1", "n", "g", "s2")] == [3, 256, 1, 2, 256]
    laid.set_batch_num(300)
    assert re.search("batch_num = 300: no tiling; rule: .* L1 has 524032", reason(laid))


def test_answers_before_there_is_a_tiling() -> None:
    made = host.MultiCoreMatmulTiling(host.get_ascendc_platform())
    assert (made.get_core_num(), made.get_single_shape(), made.get_base_m()) == (None, None, -1)
    made.set_fix_split(32, 16, 8)
    assert (made.get_base_m(), made.get_base_n(), made.get_base_k()) == (32, 16, 8)
    assert host.BatchMatmulTiling(host.get_ascendc_platform()).get_core_num() is None
    assert made.set_org_shape(32, 16, 8, 4) == 0
    found = tiling_of(made)  # set_org_shape alone: its product
    assert [found[name] for name in ("m", "n", "k_a", "k_b", "base_m", "base_n", "base_k")] == [32, 16, 8, 4, 32, 16, 8]
    named = host.MatmulApiTiling(host.get_ascendc_platform())
    assert named.set_org_shape(org_m_in=1, org_n_in=2, org_k_in=3) == 0
    assert tiling_of(named)["k_b"] == 3


def test_setters_answer_minus_one_with_the_reason() -> None:
    made = host.MatmulApiTiling(host.get_ascendc_platform())
    with pytest.warns(asc.SimulatorWarning, match=r"set_fix_split: base_m_in = 20; rule: a multiple of 16"):
        assert made.set_fix_split(20) == -1
    with pytest.warns(asc.SimulatorWarning, match=r"set_buffer_space: l1_size = 524288; rule: 0 to 524032 bytes"):
        assert made.set_buffer_space(524288) == -1
    assert made.get_base_m() == -1


@pytest.mark.parametrize("name", ["is_sparse_in", "is_sparce_in"])
def test_a_compressed_matrix_takes_whole_fractals_of_half_its_depth(name: str) -> None:
    made = tiler(Case(64, 64, 200, "int8", trans_b=True))
    assert made.set_sparse(**{name: True}) == 0
    assert tiling_of(made)["base_k"] in (64, 128, 192, 256)


def test_what_has_no_effect_is_accepted() -> None:
    made = tiler(Case(64, 64, 64))
    before = tiling_of(made)
    assert made.set_double_buffer(True, True, False, True, True) == 0
    assert made.set_mad_type(host.MatrixMadType.HF32) == 0
    made.set_matmul_config_params(enable_l1_cache_ub_in=True, en_vec_nd2nz_in=True)
    assert tiling_of(made) == before


def test_misuse_is_refused_by_name() -> None:
    platform = host.get_ascendc_platform()
    made = host.MatmulApiTiling(platform)
    with pytest.raises(ArgumentTypeError, match=r"MatmulApiTiling: arg0 = 3: is no PlatformAscendC"):
        host.MatmulApiTiling(3)
    with pytest.raises(ArgumentTypeError, match=r"get_tiling: tiling = 3: is no TCubeTiling"):
        made.get_tiling(3)
    with pytest.raises(ArgumentValueError, match=r"set_a_type: data_type = 'DT_STRING'; rule: one of"):
        made.set_a_type(GM, ND, host.DataType.DT_STRING, False)
    with pytest.raises(ArgumentValueError, match=r"set_a_type: pos = 99; rule: one of TPosition.GM"):
        made.set_a_type(99, ND, host.DataType.DT_FLOAT, False)
    with pytest.raises(NotSimulatedError, match="int4"):
        made.set_a_type(GM, ND, host.DataType.DT_INT4, False)
    with pytest.raises(NotSimulatedError, match="MXMODE"):
        made.set_mad_type(host.MatrixMadType.MXMODE)
    with pytest.raises(ArgumentTypeError, match="set_org_shape"):
        made.set_org_shape(1, 2)
    with pytest.raises(ArgumentTypeError, match="set_matmul_config_params"):
        made.set_matmul_config_params(no_such=1)
    with pytest.raises(ArgumentValueError, match=r"mm_config_type = 2; rule: 0 \(Norm\) or 1 \(MDL\)"):
        made.set_matmul_config_params(2)
    with pytest.raises(BackendError, match="no such platform"):
        host.PlatformAscendCManager.get_instance("Ascend999")


def test_platforms() -> None:
    assert host.get_ascendc_platform().soc.name == "Ascend910B1"
    assert host.PlatformAscendCManager.get_instance("Ascend910B4").soc.aic == 20
    with asc.settings(platform="Ascend910B3"):
        assert host.PlatformAscendCManager.get_instance().soc.name == "Ascend910B3"


def test_int8_blocks_as_wide_as_the_columns_they_are_loaded_in() -> None:
    """Rows of B have whole columns of 32 int8: 38 columns fill a block of 64, 32 do not; rows of A come in 16."""
    for case, found in (
        (Case(64, 38, 64, "int8", base=(-1, 64, -1)), True),
        (Case(16, 2, 64, "int8", base=(-1, 32, -1)), True),
        (Case(64, 32, 64, "int8", base=(-1, 64, -1)), False),
        (Case(64, 38, 64, "half", base=(-1, 64, -1)), False),
        (Case(33, 64, 64, "int8", base=(64, -1, -1)), False),
    ):
        tiling = tiling_of(tiler(case, host.MatmulApiTiling))
        assert exists(case) == found
        assert (tiling is not None) == found
        assert tiling is None or (broken(case, tiling) == [] and tiling["base_n"] == case.base[1])


def test_blocks_are_whole_columns_of_fractals_of_a_matrix_in_nz() -> None:
    """32 bytes wide: 32 of int8, of a B as [K, N], of an A as [K, M] and of C. 48 are none."""
    for nz in "abc":
        made = host.MatmulApiTiling(host.get_ascendc_platform())
        made.set_a_type(GM, NZ if nz == "a" else ND, TYPES["int8"], nz == "a")
        made.set_b_type(GM, NZ if nz == "b" else ND, TYPES["int8"])
        made.set_c_type(GM, NZ if nz == "c" else ND, TYPES["int8"])
        made.set_org_shape(480, 480, 512)
        made.set_shape(480, 480, 512)
        made.set_split_range(48, 48)
        found = tiling_of(made)
        across = "base_m" if nz == "a" else "base_n"
        assert found[across] == 32
        assert made.set_split_range(-1, -1, -1, 48, 48) == 0
        assert f"{across} = 48: no tiling; rule: a multiple of 32" in reason(made)
    made.set_org_shape(480, 488, 512)
    made.set_shape(480, 488, 512)
    assert "n = 488: no tiling; rule: a multiple of 32, for the NZ layout" in reason(made)


def test_loads_of_a_matrix_stored_across_are_whole_columns() -> None:
    """Blocks of 16 int8 along M end inside a column of 32: MDL brings them one by one. In NZ format there are none."""
    assert tiling_of(tiler(Case(128, 39, 29, "int8", True, True, base=(16, 32, 64))))["step_m"] == 1
    across = tiler(Case(96, 64, 64, "int8", True, nz_a=True, base=(16, -1, -1)))
    assert "base_m = 16: no tiling; rule: a multiple of 32" in reason(across)


@pytest.mark.parametrize("mdl", [False, True])
def test_blocks_are_not_thin_along_k_where_deeper_ones_cost_the_same(mdl: bool) -> None:
    """64 fit in half of L0B beside 176 columns; blocks of 16 would need four times the loads of the Norm template."""
    for m, n, k, trans_b in (
        (384, 169, 1736, False),
        (384, 169, 1736, True),
        (96, 112, 3199, False),
        (128, 1280, 64, True),
    ):
        tiling = tiling_of(tiler(Case(m, n, k, trans_b=trans_b, mdl=mdl), host.MatmulApiTiling))
        assert tiling["base_k"] >= 64
    if not mdl:  # each load fetches a row of 32 bytes for every 16 of K: wide blocks of little depth are dear
        assert tiling_of(tiler(Case(16, 512, 2048, trans_b=True, mdl=False), host.MatmulApiTiling))["base_k"] >= 128


@pytest.mark.parametrize("dim", [1 << 40, 49, 0, -1])
def test_more_cores_than_there_are_do_not_keep_the_search_busy(dim: int) -> None:
    """Ascend910B1 has 48 vector cores; the setting before stays."""
    made = tiler(Case(512, 512, 512, cores=7))
    with pytest.warns(
        asc.SimulatorWarning, match=f"dim = {dim}; rule: 1 to 48, .*nearest legal value: {48 if dim > 1 else 1}"
    ):
        assert made.set_dim(dim) == -1
    assert 1 < tiling_of(made)["used_core_num"] <= 7

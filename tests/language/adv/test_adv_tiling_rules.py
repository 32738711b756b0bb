"""check_tiling: the recommended tiling and hand-made ones pass; each rule of the page is named when broken."""

from __future__ import annotations

import pytest

import ascsim as asc
from ascsim.hw.errors import ArgumentTypeError, ArgumentValueError
from ascsim.hw.soc import soc
from ascsim.language.adv.tiling_rules import Matrix, Product, check_tiling

B1 = soc("Ascend910B1")
HALF, INT8, FLOAT = Matrix(asc.float16), Matrix(asc.int8), Matrix(asc.float32)
PRODUCT = Product(HALF, HALF, FLOAT)
# The page's recommended blocks, all of K in four loads: 128 * 64 * 2 * 8 + 256 * 64 * 2 * 8 = 393216 bytes of L1.
GOOD = {
    **dict.fromkeys(("m", "n", "k_a", "k_b", "single_core_m", "single_core_n", "single_core_k"), 1024),
    **dict.fromkeys(("used_core_num", "is_bias", "step_m", "step_n", "db_l0c"), 1),
    **dict.fromkeys(("step_k_a", "step_k_b"), 4),
    **dict.fromkeys(("depth_a1", "depth_b1"), 8),
    "base_m": 128,
    "base_n": 256,
    "base_k": 64,
    "db_l0a": 2,
    "db_l0b": 2,
}


def check(product=PRODUCT, mdl=False, special=False, **changes):
    return check_tiling("adv.Matmul", asc.adv.TCubeTiling(**{**GOOD, **changes}), product, B1, mdl, special)


def test_the_recommended_tiling_fills_l0_to_the_last_byte() -> None:
    cut = check(mdl=True)
    assert (cut.base_m, cut.base_n, cut.base_k, cut.step_k_a) == (128, 256, 64, 4)
    assert check(PRODUCT, base_n=128, base_k=128, step_k_b=2, depth_b1=4, step_k_a=2, depth_a1=4, db_l0c=2)


def test_fields_left_at_zero_by_hand_made_tilings_have_a_meaning() -> None:
    cut = check(step_k_a=0, step_k_b=0, db_l0a=0, db_l0b=0, db_l0c=0, depth_a1=1, depth_b1=3)
    assert (cut.step_k_a, cut.step_k_b, cut.db_l0a, cut.db_l0b, cut.db_l0c) == (1, 3, 1, 1, 1)


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"base_m": 0}, "tiling.base_m = 0; rule: 1 or more; nearest legal value: 1"),
        ({"used_core_num": 49}, "tiling.used_core_num = 49; rule: 1 to 48"),
        ({"iterate_order": 2}, "tiling.iterate_order = 2; rule: 0 or 1"),
        ({"db_l0a": 3}, "tiling.db_l0a = 3; rule: 1 or 2 buffers"),
        ({"single_core_m": 1040}, "tiling.single_core_m = 1040; rule: at most m = 1024"),
        ({"base_m": 120}, "tiling.base_m = 120; rule: a multiple of 16: whole fractals; nearest legal value: 128"),
        ({"base_k": 72}, "tiling.base_k = 72; rule: a multiple of 16"),
        ({"base_m": 272, "base_n": 16}, "tiling.base_m = 272; rule: .* db_l0a = 69632 bytes, L0A has 65536"),
        ({"base_n": 272, "base_m": 16}, "tiling.base_n = 272; rule: .* db_l0b = 69632 bytes, L0B has 65536"),
        ({"db_l0c": 2}, "tiling.base_m = 128; rule: .* db_l0c = 262144 bytes, L0C has 131072"),
        (
            {"base_n": 272, "base_k": 16, "base_m": 16},
            "base_n = 272; rule: base_n . 4 = 1088 bytes, the bias table has",
        ),
        ({"depth_a1": 12}, "tiling.depth_a1 = 12; rule: step_m . step_k_a = 4, or twice that; nearest legal value: 8"),
        ({"depth_b1": 5}, "tiling.depth_b1 = 5; rule: step_n . step_k_b = 4, or twice that; nearest legal value: 4"),
        ({"step_k_b": 6, "depth_b1": 12}, "bias = 525312 bytes, L1 has 524288"),
    ],
)
def test_a_broken_rule_is_named(changes, text) -> None:
    with pytest.raises(ArgumentValueError, match="adv.Matmul: .*" + text):
        check(**changes)


def test_rules_of_layouts_and_types() -> None:
    nz = HALF._replace(is_nz=True)
    with pytest.raises(ArgumentValueError, match=r"tiling.k_a = 1000; rule: a multiple of 16: .* NZ"):
        check(Product(nz, HALF), k_a=1000)
    with pytest.raises(ArgumentValueError, match=r"tiling.single_core_n = 24; rule: a multiple of 16: .* NZ"):
        check(Product(HALF, nz), single_core_n=24)
    straight = Product(INT8, INT8._replace(is_trans=True))
    with pytest.raises(ArgumentValueError, match=r"tiling.base_k = 48; rule: a multiple of 32"):
        check(straight, base_k=48)
    assert check(Product(INT8, INT8), base_k=48).base_k == 48
    # A multiply takes 4095 elements along K, 127 fractals of 32.
    with pytest.raises(ArgumentValueError, match=r"base_k = 4096; rule: at most 4064, .*; nearest legal value: 4064"):
        check(straight, base_m=16, base_n=16, base_k=4096, db_l0a=1, db_l0b=1)
    # A transposed int8 A of 16 lines takes 32 of them in L1: 32 * 512 * 32 = 524288 bytes, and B's 32 * 512 on top.
    turned = Product(INT8._replace(is_trans=True), INT8)
    with pytest.raises(ArgumentValueError, match="= 540672 bytes, L1 has 524288"):
        check(turned, base_m=16, base_n=16, base_k=512, step_k_a=32, depth_a1=32, step_k_b=1, depth_b1=1, is_bias=0)
    # What lies in L1 already needs no buffer there; factors of quantisation do: 64 * 8 bytes.
    there = Product(HALF._replace(in_l1=True), HALF)
    assert check(there, step_k_a=16, depth_a1=16, is_bias=0)
    sizes, steps = ("base_m", "base_n", "base_k"), ("step_k_a", "depth_a1", "step_k_b", "depth_b1")
    full = {**dict.fromkeys(sizes, 64), **dict.fromkeys(steps, 32), "is_bias": 0}
    assert check(Product(HALF, HALF), **full)
    with pytest.raises(ArgumentValueError, match="= 524800 bytes, L1 has 524288"):
        check(Product(HALF, HALF, quant_vector=True), **full)


def test_rules_of_the_mdl_template() -> None:
    more = {"step_m": 2, "depth_a1": 8}  # 2 * 4 blocks, not all of K
    assert check(**more).step_m == 2
    with pytest.raises(ArgumentValueError, match=r"tiling.step_m = 2; rule: 1, where step_k_a blocks are not all of K"):
        check(mdl=True, **more)
    wide = {"step_n": 2, "depth_b1": 8}
    with pytest.raises(ArgumentValueError, match=r"tiling.step_n = 2; rule: 1, where step_k_b blocks are not all of K"):
        check(mdl=True, **wide)
    assert check(mdl=True, special=True, **wide).step_n == 2
    with pytest.raises(ArgumentValueError, match=r"tiling.step_n = 3; rule: 1 or 2, where step_k_b blocks are not all"):
        check(mdl=True, special=True, step_n=3, step_k_b=1, depth_b1=3)
    uneven = {"step_k_a": 8, "depth_a1": 8, "step_k_b": 6, "depth_b1": 6}  # 2 and 3 loads along K
    with pytest.raises(ArgumentValueError, match="2 loads of A and 3 of B along K: one a multiple of the other"):
        check(mdl=True, **uneven)


def test_what_is_no_tiling_is_refused() -> None:
    with pytest.raises(ArgumentTypeError, match=r"adv.Matmul: tiling = 3: is no TCubeTiling"):
        check_tiling("adv.Matmul", 3, PRODUCT, B1)

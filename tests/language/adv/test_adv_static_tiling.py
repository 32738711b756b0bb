"""get_matmul_api_tiling: what a configuration settles. Pages: GetMatmulApiTiling, TCubeTiling structure."""

from __future__ import annotations

import pytest

import ascsim as asc
from ascsim.hw.errors import ArgumentTypeError, ArgumentValueError

adv = asc.adv
HALF = adv.MatmulType(asc.TPosition.GM, asc.CubeFormat.ND, asc.float16)
FLOAT = adv.MatmulType(asc.TPosition.GM, asc.CubeFormat.ND, asc.float32)
BLOCK = {"basic_m": 128, "basic_n": 256, "basic_k": 64}


def test_blocks_alone_settle_the_blocks() -> None:
    config = adv.MatmulConfig(**BLOCK)
    tiling = adv.get_matmul_api_tiling(config, HALF, HALF, FLOAT, FLOAT)
    assert (tiling.base_m, tiling.base_n, tiling.base_k, tiling.db_l0a, tiling.db_l0b) == (128, 256, 64, 2, 2)
    assert (tiling.is_bias, tiling.m, tiling.depth_a1, tiling.used_core_num) == (1, -1, -1, -1)
    assert tiling.cfg is config
    assert adv.get_matmul_api_tiling(adv.MatmulConfig(), HALF, HALF, FLOAT).base_m == -1


@pytest.mark.parametrize("l1", [524288, 131072, 65536])
def test_blocks_and_parts_settle_everything(l1: int) -> None:
    shape = adv.MatmulShapeParams(1024, 512, 2048, 128, 256, 64)
    config = adv.get_mm_config(asc.MatmulConfigMode.CONFIG_MDL, shape)
    tiling = adv.get_matmul_api_tiling(config, l1, HALF, HALF, FLOAT, bias_type=FLOAT)
    assert tiling.pack() == adv.get_matmul_api_tiling(
        mm_cfg=config, c_type=FLOAT, a_type=HALF, b_type=HALF, bias_type=FLOAT, l1_size=l1
    ).pack()  # fmt: skip
    assert (tiling.m, tiling.n, tiling.k_a, tiling.k_b, tiling.single_core_k) == (1024, 512, 2048, 2048, 2048)
    assert (tiling.base_m, tiling.base_n, tiling.base_k, tiling.used_core_num) == (128, 256, 64, 1)
    used = 128 * 64 * 2 * tiling.depth_a1 + 256 * 64 * 2 * tiling.depth_b1 + 256 * 4
    assert used <= l1
    assert tiling.depth_a1 in (tiling.step_m * tiling.step_k_a, 2 * tiling.step_m * tiling.step_k_a)
    assert tiling.depth_b1 in (tiling.step_n * tiling.step_k_b, 2 * tiling.step_n * tiling.step_k_b)
    loads = [-(-32 // step) for step in (tiling.step_k_a, tiling.step_k_b)]  # 2048 / 64 blocks along K
    assert max(loads) % min(loads) == 0


def test_in_a_kernel_the_sizes_are_run_time_scalars() -> None:
    seen = []

    @asc.jit
    def kernel():
        config = adv.get_basic_config(128, 128, 64)
        seen.append(adv.get_matmul_api_tiling(config, HALF, HALF, FLOAT).base_n)

    kernel[1]()
    assert seen[0] == 128


def test_what_cannot_be_is_refused_by_name() -> None:
    config = adv.MatmulConfig(single_core_m=512, single_core_n=512, single_core_k=64, **BLOCK)
    with pytest.raises(ArgumentValueError, match=r"get_matmul_api_tiling: l1_size = 0; rule: 1 to 524288 bytes"):
        adv.get_matmul_api_tiling(config, HALF, HALF, FLOAT, l1_size=0)
    with pytest.raises(ArgumentValueError, match=r"depth_a1 = 1: no tiling; rule: .* L1 has 16384"):
        adv.get_matmul_api_tiling(config, HALF, HALF, FLOAT, l1_size=16384)
    with pytest.raises(ArgumentTypeError, match="a_type = 3: is no MatmulType"):
        adv.get_matmul_api_tiling(config, l1_size=1024, a_type=3)
    with pytest.raises(ArgumentTypeError, match="mm_cfg = 3: is no MatmulConfig"):
        adv.get_matmul_api_tiling(3)
    with pytest.raises(ArgumentTypeError, match="are not the arguments"):
        adv.get_matmul_api_tiling(config, no_such=1)

"""Extents and strides of the cube side that no matrix has: rows over the next column, half fractals, common bytes."""

from __future__ import annotations

import numpy as np
import pytest
from basic_machine import at as gm_at
from basic_machine import codes, launch, whole
from cube_machine import on_l1, tensor

from ascsim.hw.checks import Checks
from ascsim.hw.errors import ArgumentTypeError, ArgumentValueError, OperandError
from ascsim.language.basic import data_copy, fixpipe, load_data, mmad, set_load_data_boundary
from ascsim.language.core import (
    FixpipeConfig,
    FixpipeParamsV220,
    LoadData3DParamsV2,
    MmadParams,
    Nd2NzParams,
    TPosition,
)
from ascsim.language.core import dtype as dt

A1, A2, B2, C2, CO1 = (TPosition[name] for name in ("A1", "A2", "B2", "C2", "CO1"))
IMAGE = np.arange(8192, dtype=np.uint16)
ALL = Checks.collect()


@pytest.mark.parametrize(
    ("params", "text"),
    [
        ((1, 20, 32, 0, 32, 16, 1, 0), "dst_nz_c0_stride = 16: 20 rows of 2 blocks overlap; rule: 20 or more"),
        ((1, 5, 33, 0, 33, 8, 2, 0), "dst_nz_c0_stride = 8: 5 rows of 3 blocks overlap; rule: 10 or more"),
        ((2, 16, 16, 256, 16, 16, 1, 128), "dst_nz_matrix_stride = 128: the matrices overlap"),
        ((2, 16, 16, 256, 16, 16, 1, 264), "dst_nz_matrix_stride = 264; rule: a multiple of 16 elements"),
        ((2, 1, 16, 16, 16, 1, 1, 16400), "dst_nz_matrix_stride = 16400; rule: 0 to 16384"),
        ((1, 20, 16, 0, 16, 16, 1, 0), ""),  # one column: nothing follows the twenty rows
        ((1, 4, 32, 0, 32, 1, 2, 0), ""),  # the blocks of a row side by side
        ((1, 2, 32, 0, 32, 3, 2, 0), ""),  # blocks 0, 2 and 3, 5
        ((2, 3, 16, 48, 16, 8, 4, 32), ""),  # matrices between each other's rows
        ((1, 4, 16, 0, 16, 16, 1, 8), ""),  # the stride between matrices has no meaning
        ((3, 16, 16, 256, 16, 16, 1, 0), ""),  # each matrix over the one before, as the page has it
    ],
)
def test_rows_of_a_matrix_that_run_over_its_next_column(params: tuple[int, ...], text: str) -> None:
    """Fractals of float16 in L1: 32 bytes a row; blocks that share bytes would be written in no defined order."""
    call = lambda x: data_copy(tensor(dt.float16, A1), x, Nd2NzParams(*params))  # noqa: E731
    outside = np.zeros(33000, np.float16)
    if text:
        with pytest.raises(OperandError, match=f"BAD_STRIDE.*{text}"):
            on_l1(IMAGE, call, outside)
    else:
        assert codes(on_l1(IMAGE, call, outside, checks=ALL)[1]) == []


@pytest.mark.parametrize(
    ("n", "m", "src_stride", "nearest"),
    [(32, 20, 20, 32), (17, 16, 0, 16), (32, 16, 8, 16), (32, 40, 64, 0), (16, 20, 20, 0), (16, 4, 0, 0)],
)
def test_columns_of_l0c_that_a_fixpipe_takes_from_the_middle_of_fractals(
    n: int, m: int, src_stride: int, nearest: int
) -> None:
    """mmad puts columns of fractals 16 rows, or a multiple, apart; a single column has no stride."""

    def body(gm: object) -> None:
        whole("L0C", np.zeros(16384, np.uint8))
        fixpipe(gm_at(gm), tensor(dt.float32, CO1), FixpipeParamsV220(n, m, src_stride, 64))  # type: ignore[arg-type]

    out = np.ones(4096, np.float32)
    if nearest:
        with pytest.raises(ArgumentValueError, match=f"BAD_STRIDE.*src_stride = {src_stride}.*value: {nearest}"):
            launch(body, out, kind="aic")
        assert (out == 1).all()
    else:
        launch(body, out, kind="aic")
        assert out.reshape(64, 64)[:m, :n].sum() == 0


def window(dtype: dt.DataType, k: int, m: int, k_at: int = 0, m_at: int = 0) -> None:
    """A load of a part of the 64 x 64 column matrix of 8 x 8 pixels with 64 channels."""
    load_data(tensor(dtype, A2), tensor(dtype, A1), LoadData3DParamsV2((0, 0, 0, 0), 8, 8, 64, k, m, k_at, m_at, 1, 1))


def test_an_image_load_of_half_fractals_inside_the_matrix() -> None:
    """The last fractal may be covered in part; rows of 32-bit types in any number."""
    for arguments, text in (
        ((dt.float16, 10, 16), "k_extension = 10; rule: a multiple of 16 .*ends at 64.*value: 16"),
        ((dt.float16, 16, 10), "m_extension = 10; rule: a multiple of 16"),
        ((dt.int8, 16, 16), "k_extension = 16; rule: a multiple of 32"),
        ((dt.float32, 12, 16), "k_extension = 12; rule: a multiple of 8"),
    ):
        with pytest.raises(ArgumentValueError, match=text):
            on_l1(IMAGE, lambda given=arguments: window(*given))  # type: ignore[misc]
    found, device = on_l1(IMAGE, lambda: window(dt.float16, 10, 10, 48, 48), checks=ALL)
    rows = found["L0A"].view(np.uint16)[:256].reshape(16, 16)
    assert codes(device) == []
    assert rows[9, :10].tolist() == list(range(48 * 64 + 57 * 16, 48 * 64 + 57 * 16 + 10))  # column 48 on, row 57
    assert (rows[10:] == 0xFFFF).all()
    assert (rows[:, 10:] == 0xFFFF).all()
    assert codes(on_l1(IMAGE, lambda: window(dt.float32, 8, 3), checks=ALL)[1]) == []


def test_an_image_that_starts_beyond_the_boundary() -> None:
    """A load that passes the boundary goes on at byte 0 of L1; one may not start there."""

    def call(start: int) -> None:
        set_load_data_boundary(1024)
        params = LoadData3DParamsV2((0, 0, 0, 0), 4, 4, 16, 16, 16, 0, 0, 1, 1)
        load_data(tensor(dt.float16, A2), tensor(dt.float16, A1, start), params)

    for start in (1024, 4096):
        with pytest.raises(ArgumentValueError, match=f"src = {start}: starts beyond the boundary; rule: .* below 1024"):
            on_l1(IMAGE, lambda start=start: call(start))  # type: ignore[misc]
    found, _ = on_l1(IMAGE, lambda: call(992), checks=ALL)
    assert found["L0A"].view(np.uint16)[[0, 15, 16, 31]].tolist() == [496, 511, 0, 15]


def test_a_bias_beside_is_bias_is_not_added_in_silence() -> None:
    """The library hands cmatrix_init_val on as it is, and that of the older form is True: the bias has no effect."""

    def body() -> None:
        operands = tensor(dt.float32, CO1), tensor(dt.float16, A2), tensor(dt.float16, B2), tensor(dt.float32, C2)
        mmad(*operands, MmadParams(16, 16, 16, True, 0, False, False, False))

    with pytest.raises(ArgumentValueError, match=r"cmatrix_init_val = True.*False where a bias is given"):
        launch(body, kind="aic")


def test_a_tensor_for_a_configuration_of_fixpipe() -> None:
    """A tensor can be called, yet gives no configuration; a class method of FixpipeConfig does."""

    def body(gm: object) -> None:
        whole("L0C", np.zeros(1024, np.uint8))
        c, params = tensor(dt.float32, CO1), FixpipeParamsV220(16, 16, 16, 32)
        fixpipe(gm_at(gm), c, params, FixpipeConfig.cfg_nz)  # type: ignore[arg-type]
        with pytest.raises(ArgumentTypeError, match="config"):
            fixpipe(gm_at(gm), c, params, c)  # type: ignore[arg-type]

    launch(body, np.ones(256, np.float32), kind="aic")


def test_a_report_names_common_bytes_once() -> None:
    """A multiply that accumulates reads and writes the bytes that the fixpipe takes."""

    def body(gm: object) -> None:
        for name in ("L0A", "L0B", "L0C"):
            whole(name, np.zeros(1024, np.uint8))
        c = tensor(dt.float32, CO1)
        going_on = MmadParams(16, 16, 16, unit_flag=0, cmatrix_source=False, cmatrix_init_val=False)
        mmad(c, tensor(dt.float16, A2), tensor(dt.float16, B2), going_on)
        fixpipe(gm_at(gm), c, FixpipeParamsV220(16, 16, 16, 16))  # type: ignore[arg-type]

    device = launch(body, np.zeros(256, np.float32), kind="aic", checks=ALL)
    (found,) = (found for found in device.findings if found.code == "RAW")
    assert found.message.count("[0:1024)") == 1

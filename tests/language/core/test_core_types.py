"""Parameter structures, enumerations and shapes."""

import inspect
import pickle
from dataclasses import dataclass

import numpy as np
import pytest

from ascsim.hw.errors import (
    ArgumentTypeError,
    ArgumentValueError,
    ArrayIndexError,
    NotSimulatedError,
    StructError,
)
from ascsim.language.core import aipp_types, enums, types
from ascsim.language.core import dtype as dt
from ascsim.language.core.array import array
from ascsim.language.core.constexpr import ConstExpr
from ascsim.language.core.enums import CO2Layout, DataFormat, HardEvent, MatmulPolicy, QuantModes, TPosition
from ascsim.language.core.ir_value import int32, value
from ascsim.language.core.params import Params

STRUCTS = {
    name: cls
    for module in (types, aipp_types)
    for name, cls in vars(module).items()
    if isinstance(cls, type) and issubclass(cls, Params) and cls is not Params
}


def test_every_structure_of_the_family_is_there():
    assert len(STRUCTS) == 41  # and ShapeInfo, which is written by hand


SIGNATURES = {
    "BinaryRepeatParams": "dst_blk_stride=1, src0_blk_stride=1, src1_blk_stride=1, dst_rep_stride=8, "
    "src0_rep_stride=8, src1_rep_stride=8",
    "UnaryRepeatParams": "dst_blk_stride=1, src_blk_stride=1, dst_rep_stride=8, src_rep_stride=8",
    "DataCopyParams": "block_count=1, block_len=0, src_stride=0, dst_stride=0",
    "MmadParams": "m=0, n=0, k=0, is_bias=False, fm_offset=0, en_ssparse=False, en_winograd_a=False, "
    "en_winograd_b=False, unit_flag=0, cmatrix_source=False, cmatrix_init_val=True",
    "MrgSort4Info": "element_lengths, if_exhausted_suspension=False, valid_bit=15, repeat_times=1",
    "SliceInfo": "start_index=0, end_index=31, stride=0, burst_len=32, shape_value=0",
    "Nz2NdParamsFull": "nd_num, n_value, d_value, src_nd_matrix_stride, src_n_stride, dst_d_stride, "
    "dst_nd_matrix_stride",
    "LoadDataRepeatParam": "repeat_time=1, repeat_stride=0, repeat_mode=0",
    "LoadData3DParamsV2Pro": "channel_size=0, en_transpose=False, en_small_k=False, filter_size_w=False, "
    "filter_size_h=False, f_matrix_ctrl=False, ext_config=0, filter_config=1103823438081",
}


@pytest.mark.parametrize(("name", "signature"), SIGNATURES.items())
def test_signature_is_real(name, signature):
    assert str(inspect.signature(STRUCTS[name])) == f"({signature})"


@dataclass(frozen=True)
class Placed:
    """Stands for a tensor."""

    place: int


@pytest.mark.parametrize("cls", STRUCTS.values(), ids=STRUCTS)
def test_defaults_hold_and_hooks_are_identities(cls):
    parameters = inspect.signature(cls).parameters.values()
    required = {"dtype": dt.int8, "element_lengths": [1, 2], "layout": CO2Layout.NZ, "sign_mode": [True] * 16}
    required |= {
        "scale": [0.5] * 16,
        "offset": [0] * 16,
        "src1": Placed(place=1),
        "src2": Placed(place=2),
    }
    given = {p.name: required.get(p.name, 3) for p in parameters if p.default is p.empty}
    one, two = cls(**given), cls(*given.values())
    assert one == two
    assert hash(one) == hash(two)
    assert one.key == two.key
    for p in parameters:
        if p.name not in given:
            assert getattr(one, p.name) == p.default
    assert cls.from_ir(one.to_ir()) is one
    assert pickle.loads(pickle.dumps(one)) == one
    everything = [getattr(one, p.name) for p in parameters]
    assert cls(*everything) == cls(*everything, None) == one  # a trailing handle
    with pytest.raises(ArgumentTypeError, match=f"{cls.__name__}: args"):
        cls(*everything, None, None)
    with pytest.raises(ArgumentTypeError, match=f"{cls.__name__}: nonsense: is no field"):
        cls(**given, nonsense=1)


def test_fields_key_equality():
    params = types.DataCopyParams(2, block_len=int32(64), dst_stride=ConstExpr(3))
    assert (params.block_count, params.block_len, params.src_stride, params.dst_stride) == (2, 64, 0, 3)
    assert params.key == (2, 64, 0, 3)
    assert all(type(part) is int for part in params.key)
    assert repr(params) == "DataCopyParams(block_count=2, block_len=64, src_stride=0, dst_stride=3)"
    assert params == types.DataCopyParams(2, 64, 0, 3)
    assert params != types.DataCopyParams(2, 64, 0, 4)
    assert types.BrcbRepeatParams(1, 8) != types.GatherRepeatParams(1, 8)  # the same numbers, another class


def test_immutable():
    params = types.DataCopyParams()
    with pytest.raises(StructError, match="DataCopyParams: block_len = 3: cannot change"):
        params.block_len = 3
    with pytest.raises(StructError, match="cannot change"):
        del params.block_len
    with pytest.raises(StructError, match="cannot change"):
        params.other = 3


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (
            lambda: types.BinaryRepeatParams(dst_rep_stride=256),
            r"BinaryRepeatParams: dst_rep_stride = 256: .*0\.\.255, a uint8.*nearest legal value: 255",
        ),
        (lambda: types.UnaryRepeatParams(-1), r"dst_blk_stride = -1: .*0\.\.65535.*nearest legal value: 0"),
        (lambda: types.DataCopyParams(block_len=int32(65536)), r"block_len = 65536"),
        (lambda: types.LoadData3DParamsV1(left_top_w=-32769), r"left_top_w = -32769: .*-32768\.\.32767"),
        (lambda: types.MmadParams(1, 2, 70000), r"MmadParams: k = 70000"),
        (lambda: types.LoadData3DParamsV2(pad_list=[1, 2, 3]), r"pad_list.*has 3 items; rule: 4 items"),
        (lambda: types.LoadData3DParamsV2(pad_list=[1, 2, 3, 256]), r"pad_list = 256"),
        (lambda: types.MrgSort4Info([1] * 5), r"element_lengths.*has 5 items; rule: 1 to 4"),
        (lambda: types.FixpipeConfig(7), r"layout = 7: is no CO2Layout; rule: one of CO2Layout.NZ \(0\)"),
        (lambda: types.DataCopyPadExtParams(dt.int8, True, 0, 1, 200), r"padding_value = 200.*-128\.\.127"),
    ],
)
def test_value_that_does_not_fit_raises_by_name(make, text):
    with pytest.raises(ArgumentValueError, match=text):
        make()


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: types.DataCopyParams(1.5), r"DataCopyParams: block_count = 1.5: a float is no integer"),
        (lambda: types.DataCopyParams("1"), r"block_count = '1'"),
        (lambda: types.DataCopyParams(1, block_count=2), r"block_count: is given twice"),
        (lambda: types.Nd2NzParams(1, 2), r"Nd2NzParams: d_value: is missing; rule: Nd2NzParams\(nd_num, n_value"),
        (lambda: types.DataCopyPadExtParams("half"), r"dtype = 'half': is no data type"),
        (lambda: aipp_types.AippParams(dt.float32), r"dtype = float32: .*one of int8, float16"),
        (lambda: aipp_types.AippParams(dt.int8, swap_params=3), r"swap_params = 3: is no AippSwapParams"),
        (lambda: types.MrgSort4Info(4), r"element_lengths = 4: an int is no sequence"),
        (lambda: types.InitConstValueParams(init_value="x"), r"InitConstValueParams.init_value"),
    ],
)
def test_value_of_a_wrong_type_raises_by_name(make, text):
    with pytest.raises(ArgumentTypeError, match=text):
        make()


def test_single_fields():
    assert types.MmadParams(16, 16, 16, unit_flag=3).unit_flag == 3
    assert types.MmadParams(cmatrix_init_val=int32(0)).cmatrix_init_val is False
    fixpipe = types.FixpipeParamsV220(16, 16, 16, 16, quant_pre=QuantModes.F322F16)
    assert fixpipe.quant_pre is QuantModes.F322F16
    assert types.FixpipeParamsV220(16, 16, 16, 16, 1) == fixpipe
    assert fixpipe.key[4] == 1
    assert types.FixpipeConfig.cfg_nz().layout is CO2Layout.NZ
    assert types.FixpipeConfig.cfg_row_major().layout is CO2Layout.ROW_MAJOR
    assert types.LoadImageToLocalParams(sid=3) == types.LoadImageToLocalParams()
    assert types.LoadData3DParamsV1(array(dt.int32, [1, 2, 3, 4])).pad_list == (1, 2, 3, 4)
    assert types.VdeqInfo([0.1] * 16, [-1] * 16, [1] * 16).scale[0] == 0.10000000149011612
    assert types.DataCopyPadExtParams(dt.half, True, 0, 1, 0.1).padding_value == 0.0999755859375
    assert types.DataCopyPadExtParams(dt.int16, padding_value=-5).padding_value == -5
    with pytest.raises(NotSimulatedError, match="SliceInfo"):
        types.SliceInfo()[0]


@pytest.mark.parametrize(
    ("given", "number", "dtype"),
    [
        (3, 3, dt.int32),
        (0.5, 0.5, dt.float32),
        (np.float16(0.5), 0.5, dt.float16),
        (np.uint16(9), 9, dt.uint16),
        (np.float64(0.5), 0.5, dt.float64),
        (value(7, dt.int16), 7, dt.int16),
    ],
)
def test_init_value_brings_its_type(given, number, dtype):
    params = types.InitConstValueParams(init_value=given)
    assert (params.init_value.v, params.init_value.dtype) == (number, dtype)
    assert params.key == (0, 0, 0, (dtype, number))


def test_aipp_parts():
    swap = aipp_types.AippSwapParams(is_swap_rb=True)
    params = aipp_types.AippParams(dt.half, swap_params=swap)
    assert params.swap_params is swap
    assert params.padding_params is None
    assert params.key[:3] == (dt.half, None, (True, False, False))
    assert aipp_types.AippDataTypeConvParams(dtc_min_ch0=0.1).dtc_min_ch0 == 0.0999755859375
    assert aipp_types.AippPaddingParams(padding_value_ch0=-3.5).padding_value_ch0 == -3.5


def test_shape_info():
    info = types.ShapeInfo(array(dt.uint32, [2, 3, 4]), [2, 3, 5], DataFormat.NZ)
    for dim, (size, original) in enumerate(((2, 2), (3, 3), (4, 5))):
        assert (info.shape(dim).v, info.shape(dim).dtype) == (size, dt.int32)
        assert info.original_shape(int32(dim)).v == original
    assert types.get_shape_size(info).v == 24
    assert info.data_format is DataFormat.NZ
    assert info == types.ShapeInfo([2, 3, 4], (2, 3, 5), DataFormat.NZ)
    assert info != types.ShapeInfo([2, 3, 4])
    assert types.ShapeInfo([7]).original_shape(0).v == 7
    assert types.get_shape_size(types.ShapeInfo()).v == 1
    assert types.ShapeInfo.from_ir(info.to_ir()) is info
    with pytest.raises(ArrayIndexError, match=r"ShapeInfo.shape: dim = 3: no such dimension"):
        info.shape(3)
    with pytest.raises(ArgumentValueError, match="at most 8"):
        types.ShapeInfo([1] * 9)
    with pytest.raises(ArgumentTypeError, match="an int is no sequence"):
        types.ShapeInfo(8)
    with pytest.raises(ArgumentTypeError, match="is no ShapeInfo"):
        types.get_shape_size([2, 3])


def test_tensor_shape():
    shape = types.TensorShape
    assert shape() == shape(None) == ()
    assert shape(8) == shape(int32(8)) == shape([8]) == shape(ConstExpr(8)) == (8,)
    assert shape(2, int32(8)) == shape((2, 8)) == shape(shape(2, 8)) == (2, 8)
    assert all(type(dim) is int for dim in shape(int32(2), 8))
    with pytest.raises(ArgumentTypeError, match="TensorShape: dim"):
        shape(1.5)


def test_enums():
    families = [e for e in vars(enums).values() if isinstance(e, type) and e.__module__ == enums.__name__]
    assert len(families) == 34
    assert len(HardEvent) == 35
    assert (HardEvent.MTE2_V, HardEvent.MTE3_MTE2, HardEvent.FIX_FIX) == (4, 19, 34)
    assert (TPosition.VECIN, TPosition.VECCALC, TPosition.CO1) == (9, 11, 7)
    assert MatmulPolicy.NBuffer33MatmulPolicy == 3
    assert enums.BatchOutMode.DYNAMIC == 2
    assert enums.IterateMode.ITERATE_MODE_DEFAULT == 255
    assert (enums.PipeID.PIPE_ALL, enums.PipeID.PIPE_FIX) == (6, 10)
    assert hash(HardEvent.MTE2_V) == hash(4)
    assert {HardEvent.MTE2_V: "x"}[4] == "x"

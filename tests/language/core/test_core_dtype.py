"""Data types: names, widths, identity, and numpy's counterparts."""

import copy
import pickle

import ml_dtypes
import numpy as np
import pytest

from ascsim.hw.errors import ArgumentTypeError, ArgumentValueError
from ascsim.language.core import dtype as dt
from ascsim.language.core.dtype import KT, DataType, KnownTypes, from_numpy

TABLE = [  # name, kind, bits, bytes, numpy type
    ("int8", "Int", 8, 1, np.int8),
    ("int16", "Int", 16, 2, np.int16),
    ("int32", "Int", 32, 4, np.int32),
    ("int64", "Int", 64, 8, np.int64),
    ("uint8", "UInt", 8, 1, np.uint8),
    ("uint16", "UInt", 16, 2, np.uint16),
    ("uint32", "UInt", 32, 4, np.uint32),
    ("uint64", "UInt", 64, 8, np.uint64),
    ("float16", "Float", 16, 2, np.float16),
    ("float32", "Float", 32, 4, np.float32),
    ("float64", "Float", 64, 8, np.float64),
    ("bfloat16", "Float", 16, 2, ml_dtypes.bfloat16),
]


@pytest.mark.parametrize(("name", "kind", "bits", "size", "np_type"), TABLE)
def test_width_and_kind(name, kind, bits, size, np_type):
    type_ = getattr(dt, name)
    assert type_ is DataType(name) is getattr(KnownTypes, name)
    assert (type_.name, str(type_), type_.kind, type_.bitwidth) == (name, name, DataType.Kind[kind], bits)
    assert type_.sizeof() == type_.size == size
    assert type_.np == np.dtype(np_type)
    assert type_.np.itemsize == size
    assert from_numpy(np_type) is type_
    assert type_.is_float() == (kind == "Float")
    assert type_.is_int() == (kind != "Float")
    assert type_.is_signed() == (kind == "Int")
    assert type_.is_unsigned() == (kind == "UInt")
    assert type_.is_numeric()
    assert not type_.is_void()


@pytest.mark.parametrize(
    ("alias", "name"),
    [
        ("half", "float16"),
        ("float_", "float32"),
        ("double", "float64"),
        ("int_", "int32"),
        ("bit", "int1"),
        ("bool_", "int8"),
    ],
)
def test_alias_is_the_same_object(alias, name):
    assert DataType(alias) is DataType(name) is getattr(dt, alias) is getattr(KT, alias)
    assert DataType(alias) == DataType(name)


def test_serves_as_dictionary_key():
    assert {dt.half: 1}[DataType("float16")] == 1
    assert dt.int8 != dt.uint8
    assert dt.int8 != "int8"


def test_integer_range():
    assert (dt.int8.low, dt.int8.high) == (-128, 127)
    assert (dt.uint16.low, dt.uint16.high) == (0, 65535)
    assert (dt.int1.low, dt.int1.high) == (0, 1)
    assert (dt.float32.low, dt.float32.high) == (None, None)


def test_copies_and_pickles_are_the_same_object():
    assert copy.deepcopy(dt.int32) is dt.int32
    assert pickle.loads(pickle.dumps(dt.bfloat16)) is dt.bfloat16


def test_void_and_bit_fill_no_whole_bytes():
    assert dt.void.is_void()
    assert dt.void.np is None
    assert dt.int1.is_int()
    for type_ in (dt.void, dt.int1):
        with pytest.raises(ArgumentValueError, match="whole bytes"):
            type_.sizeof()


def test_unknown_name_raises_and_lists_the_legal_ones():
    with pytest.raises(ArgumentValueError, match=r"'foo'.*float16.*half"):
        DataType("foo")
    with pytest.raises(ArgumentTypeError, match="name"):
        DataType(8)


def test_boolean_arrays_are_int8():
    assert from_numpy(np.zeros(2, bool).dtype) is dt.int8


@pytest.mark.parametrize("given", ["complex64", ">f4", "U4", "M8[s]", ml_dtypes.float8_e4m3fn, ml_dtypes.int4])
def test_from_numpy_refuses_by_name(given):
    with pytest.raises(ArgumentTypeError, match=r"from_numpy: dtype = .*no counterpart.*float16"):
        from_numpy(given)


def test_from_numpy_refuses_what_is_no_dtype():
    for given in ("nonsense", None, 7):
        with pytest.raises(ArgumentTypeError, match="not a numpy dtype"):
            from_numpy(given)

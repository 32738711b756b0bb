"""User structs: layout, host and kernel reads, copies, refusals."""

import copy
import ctypes
import pickle
import struct

import numpy as np
import pytest

from ascsim.hw import current
from ascsim.hw.errors import ArgumentTypeError, StructError
from ascsim.language.core import dtype as dt
from ascsim.language.core.constexpr import ConstExpr
from ascsim.language.core.ir_value import PlainValue, int32, value
from ascsim.language.core.struct import BaseField, Field, Struct, StructField


class Tile(Struct):
    length = Field(dtype=dt.int32, default=0)
    count = Field(dtype=dt.int32, default=8, name="tileCount")


class Config(Struct):
    flag = Field(dtype=dt.uint8, default=1)
    scale = Field(dtype=dt.float32)
    big = Field(dtype=dt.int64, default=-1)
    tile = StructField(Tile)


@pytest.fixture
def in_kernel():
    token = current.core.set(object())
    yield
    current.core.reset(token)


def test_host_reads_are_plain_numbers_cut_to_the_width():
    cfg = Config(scale=0.1, flag=257)
    assert (cfg.flag, type(cfg.flag)) == (1, int)
    assert cfg.scale == 0.10000000149011612
    assert cfg.big == -1
    cfg.big = 2**63
    assert cfg.big == -(2**63)
    assert cfg.tile.count == 8


def test_kernel_reads_are_scalars(in_kernel):
    cfg = Config(scale=0.5, tile=Tile(length=7))
    for scalar, number, dtype in (
        (cfg.flag, 1, dt.uint8),
        (cfg.scale, 0.5, dt.float32),
        (cfg.big, -1, dt.int64),
        (cfg.tile.length, 7, dt.int32),
    ):
        assert isinstance(scalar, PlainValue)
        assert (scalar.v, scalar.dtype) == (number, dtype)
    cfg.tile.length = cfg.tile.length / 2  # C division
    assert cfg.tile.length.v == 3


def test_layout_is_that_of_c():
    cfg = Config(scale=1.0, tile=Tile(length=2, count=3))
    assert cfg.pack() == struct.pack("<B3xfqii", 1, 1.0, -1, 2, 3)
    assert ctypes.string_at(cfg.addressof(), 24) == cfg.pack()

    class Packed(Struct, pack=1):
        flag = Field(dtype=dt.uint8, default=1)
        word = Field(dtype=dt.int32, default=2)

    assert Packed().pack() == b"\x01\x02\x00\x00\x00"


def test_nested_assignment_writes_through_and_assigning_a_struct_copies():
    cfg = Config(scale=1.0)
    part = cfg.tile
    cfg.tile.length = 5
    assert part.length == 5
    other = Tile(length=9)
    cfg.tile = other
    assert part.length == 9
    other.length = 1
    assert cfg.tile.length == 9
    assert Config(scale=1.0).tile.length == 0  # defaults are not shared


def test_copy_is_independent():
    cfg = Config(scale=1.0)
    for duplicate in (cfg._copy(), copy.deepcopy(cfg), pickle.loads(pickle.dumps(cfg))):
        assert type(duplicate) is Config
        assert duplicate.pack() == cfg.pack()
        duplicate.tile.length = 77
        duplicate.big = 1
        assert (cfg.tile.length, cfg.big) == (0, -1)


def test_values_may_be_scalars_constexpr_and_numpy():
    tile = Tile(length=int32(3), count=ConstExpr(4))
    assert (tile.length, tile.count) == (3, 4)
    tile.length = np.int64(6)
    tile.count = value(2.9, dt.float32)
    assert (tile.length, tile.count) == (6, 2)


def test_fields_are_readable_on_the_class():
    assert isinstance(Config.tile, BaseField)
    assert (Tile.count.dtype, Tile.count.name, Tile.count.default) == (dt.int32, "tileCount", 8)
    assert list(Config.struct_fields) == ["flag", "scale", "big", "tile"]
    assert repr(Tile(length=3)) == "Tile(length=3, count=8)"


def test_construction_refuses_by_name():
    with pytest.raises(StructError, match=r"Config: scale: has no default"):
        Config()
    with pytest.raises(StructError, match=r"Tile: size: no such field.*length, count"):
        Tile(size=3)
    with pytest.raises(StructError, match=r"Tile: lenght: no such field"):
        Tile().lenght = 3
    with pytest.raises(RuntimeError, match="derive a class"):
        Struct()


@pytest.mark.parametrize("given", [1.5, "3", None, [1]])
def test_wrong_types_are_refused_by_name(given):
    with pytest.raises(ArgumentTypeError, match=r"Tile.*"):
        Tile(length=given)
    with pytest.raises(ArgumentTypeError, match=r"Config: tile.*is no Tile"):
        Config(scale=1.0, tile=given)


def test_declaration_refuses():
    with pytest.raises(StructError, match="at least one Field"):
        type("Empty", (Struct,), {})
    for dtype in (dt.float16, dt.bfloat16, dt.void):
        with pytest.raises(StructError, match=f"{dtype}.*no layout.*float32"):
            Field(dtype=dtype)
    with pytest.raises(StructError, match="not inherited"):
        type("Child", (Tile,), {"more": Field(dtype=dt.int8, default=0)})
    shared = Field(dtype=dt.int8, default=0)
    with pytest.raises(StructError, match="same object"):
        type("Twice", (Struct,), {"a": shared, "b": shared})
    with pytest.raises(ArgumentTypeError, match="subclass of Struct"):
        StructField(int)
    with pytest.raises(ArgumentTypeError, match="data type"):
        Field(dtype="int32")

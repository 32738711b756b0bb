"""Compile-time values: the wrapper acts as its value does."""

import copy
import operator
import pickle
from typing import Any, Union

import pytest

from ascsim.hw.errors import ConstExprError
from ascsim.language.core import dtype as dt
from ascsim.language.core.constexpr import ConstExpr, matches, require_constexpr


def test_arithmetic_gives_plain_values():
    four = ConstExpr(4)
    for result, expected in (
        (four + 1, 5),
        (1 - four, -3),
        (four * four, 16),
        (10 / four, 2.5),
        (-7 // ConstExpr(2), -4),  # compile time: Python's rules
        (2**four, 16),
        (four % 3, 1),
        (four << 1, 8),
        (four & 6, 4),
        (~four, -5),
        (-four, -4),
        (abs(ConstExpr(-4)), 4),
    ):
        assert (result, type(result)) == (expected, type(expected))


def test_comparison_hash_index_truth():
    four = ConstExpr(4)
    assert four == 4
    assert four == ConstExpr(4)
    assert four != 5
    assert 3 < four <= 4
    assert hash(four) == hash(4)
    assert {4: "x"}[four] == "x"
    assert list(range(four)) == [0, 1, 2, 3]
    assert "abcde"[four] == "e"
    assert operator.index(four) == int(four) == 4
    assert float(four) == 4.0
    assert four
    assert not ConstExpr(0)
    assert ConstExpr(True)


def test_containers_attributes_text():
    shape = ConstExpr((2, 8))
    assert len(shape) == 2
    assert shape[1] == 8
    assert list(shape) == [2, 8]
    assert 8 in shape
    assert ConstExpr(dt.half).name == "float16"
    assert f"{ConstExpr(255):x} {ConstExpr('s')}" == "ff s"
    assert repr(ConstExpr(3)) == "ConstExpr[int](3)"
    with pytest.raises(AttributeError):
        _ = ConstExpr(3).nothing


def test_unwrap_and_nesting():
    assert ConstExpr.unwrap(ConstExpr(3)) == 3
    assert ConstExpr.unwrap("x") == "x"
    assert ConstExpr(ConstExpr(3)).value == 3


def test_copies():
    for again in (copy.deepcopy(ConstExpr([1])), pickle.loads(pickle.dumps(ConstExpr([1])))):
        assert isinstance(again, ConstExpr)
        assert again == [1]


def test_annotation_forms():
    assert ConstExpr[int].__origin__ is ConstExpr
    assert ConstExpr[int].__args__ == (int,)


def test_require():
    require_constexpr(3, int)
    require_constexpr(ConstExpr(3), str, int)
    require_constexpr([3], list[int])
    require_constexpr(None, Union[int, None])  # noqa: UP007 (both spellings must work)
    require_constexpr(3.0, int | float)
    with pytest.raises(ConstExprError, match=r"depth = '3': is a str; rule: ConstExpr\[int \| bool\]"):
        require_constexpr(ConstExpr("3"), int, bool, arg_name="depth")
    with pytest.raises(RuntimeError, match="no type"):
        require_constexpr(3)


def test_matches():
    assert matches(3, Any)
    assert matches(None, None)
    assert matches((1,), tuple[int, ...])
    assert not matches(3, str | None)

"""The package lacks no name of the API, and says so of a name that there is not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import ascsim
from ascsim.language import adv
from ascsim.lib import host

NAMES = json.loads((Path(__file__).parent / "api_names.json").read_text())  # names of the API by module
MODULES = {"asc": ascsim, "asc.adv": adv, "asc.lib.host": host}


@pytest.mark.parametrize("module", MODULES)
def test_every_name_is_there(module: str) -> None:
    assert [name for name in NAMES[module] if not hasattr(MODULES[module], name)] == []


@pytest.mark.parametrize("package", [ascsim, adv])
def test_asking_for_another_says_so(package: object) -> None:
    with pytest.raises(AttributeError, match="attribute = 'no_such_name': no such name"):
        package.no_such_name  # type: ignore[attr-defined]  # noqa: B018


@pytest.mark.parametrize(
    ("package", "name", "nearest"),
    [
        (ascsim, "Add", "add"),
        (ascsim, "DataCopy", "data_copy"),
        (ascsim, "softmax", "adv.softmax"),
        (ascsim, "Struct", "language.core.struct.Struct"),
        (adv, "MatMul", "Matmul"),
        (ascsim.HardEvent, "MTE2V", "MTE2_V"),
        (host.TPosition, "VEC_IN", "VECIN"),
    ],
)
def test_a_name_that_is_nearly_right_is_told_the_right_one(package: object, name: str, nearest: str) -> None:
    with pytest.raises(ascsim.NoSuchNameError, match=f"no such name.*; nearest legal value: {nearest}$"):
        getattr(package, name)


def test_a_member_that_is_like_no_other_is_told_all() -> None:
    with pytest.raises(AttributeError, match=r"PipeID: attribute = 'MTE3': no such name; rule: one of PIPE_S, PIPE_V,"):
        ascsim.PipeID.MTE3  # type: ignore[attr-defined]  # noqa: B018

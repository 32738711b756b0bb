"""The list of names that are not built yet is exactly what the package lacks of the API."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import ascsim
from ascsim.language import adv, missing
from ascsim.lib import host

NAMES = json.loads((Path(__file__).parent / "api_names.json").read_text())  # names of the API by module
MODULES = {"asc": (ascsim, missing.BASIC), "asc.adv": (adv, missing.ADVANCED), "asc.lib.host": (host, {})}


def listed(groups: dict[str, str]) -> list[str]:
    return " ".join(groups.values()).split()


@pytest.mark.parametrize("module", MODULES)
def test_a_name_is_either_there_or_listed(module: str) -> None:
    package, groups = MODULES[module]
    lacking = {name for name in NAMES[module] if not hasattr(package, name)}
    assert lacking == set(listed(groups)) & set(NAMES[module])
    assert len(listed(groups)) == len(set(listed(groups)))
    assert not any(name in vars(package) for name in listed(groups))


def test_asking_for_one_says_that_it_is_not_built_and_what_it_belongs_to() -> None:
    with pytest.raises(NotImplementedError, match=r"^ascsim\.two: is not simulated yet: a part is not built"):
        missing.refuse({"a part": "one two", "another": "three"}, "ascsim", "two")
    with pytest.raises(AttributeError, match="attribute = 'no_such_name': no such name"):
        ascsim.no_such_name  # noqa: B018

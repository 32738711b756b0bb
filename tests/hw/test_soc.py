"""Platform records against the published sizes, and the answer to a name that does not exist."""

import dataclasses

import pytest

from ascsim.hw.errors import BackendError
from ascsim.hw.soc import MARKS, SOCS, soc

NAMES = [
    "Ascend910B1", "Ascend910B2", "Ascend910B2C", "Ascend910B3", "Ascend910B4", "Ascend910B4-1",
    "Ascend910_9362", "Ascend910_9372", "Ascend910_9381", "Ascend910_9382", "Ascend910_9391", "Ascend910_9392",
]  # fmt: skip


def test_one_record_per_platform():
    assert sorted(SOCS) == sorted(NAMES)
    assert all(SOCS[name].name == name for name in NAMES)


@pytest.mark.parametrize(
    ("name", "aic", "aiv", "clock", "gm", "l2"),
    [
        ("Ascend910B1", 24, 48, 1850, 68719476736, 201326592),
        ("Ascend910B3", 20, 40, 1800, 68719476736, 201326592),
        ("Ascend910B4", 20, 40, 1500, 34359738368, 100663296),
        ("Ascend910B4-1", 20, 40, 1500, 68719476736, 100663296),
        ("Ascend910_9392", 24, 48, 1850, 68719476736, 201326592),
    ],
)
def test_chip(name, aic, aiv, clock, gm, l2):
    chip = soc(name)
    assert (chip.aic, chip.aiv, chip.clock_mhz, chip.gm, chip.l2) == (aic, aiv, clock, gm, l2)


@pytest.mark.parametrize("name", NAMES)
def test_memories_of_architecture_2201(name):
    chip = soc(name)
    assert (chip.ub, chip.l1, chip.l0a, chip.l0b, chip.l0c, chip.bt) == (196608, 524288, 65536, 65536, 131072, 1024)
    assert chip.fb_parts == (2048, 1024, 2048, 2048)
    assert chip.fb == 7168
    assert dict(chip.align) == {"UB": 32, "L1": 32, "L0A": 512, "L0B": 512, "L0C": 64, "BT": 64, "FB": 64, "IX": 128}
    assert dict(chip.depth) == {"V": None, "M": 32, "MTE1": 32, "MTE2": None, "MTE3": None, "FIX": None}
    assert chip.tick_mhz == 50


def test_each_kind_of_core_has_its_own_memories():
    chip = soc("Ascend910B1")
    assert chip.memories("aiv") == [("UB", 196608, 32)]
    assert chip.memories("aic") == [
        ("L1", 524288, 32),
        ("L0A", 65536, 512),
        ("L0B", 65536, 512),
        ("L0C", 131072, 64),
        ("BT", 1024, 64),
        ("FB", 7168, 64),
        ("IX", 16384, 128),
    ]


def test_reserved_areas():
    areas = [(area.memory, area.start, area.size) for area in soc("Ascend910B1").reserved]
    assert areas == [("UB", 188416, 8192), ("UB", 196352, 256), ("L1", 524032, 256)]


def test_reserved_areas_lie_inside_their_memory():
    for chip in SOCS.values():
        for area in chip.reserved:
            assert area.start + area.size <= getattr(chip, area.memory.lower())


def test_borrowed_numbers_are_flagged():
    borrowed = {name: chip.borrowed_from for name, chip in SOCS.items() if chip.borrowed_from}
    assert borrowed == {
        "Ascend910B2C": "Ascend910B2",
        "Ascend910_9362": "Ascend910_9391",
        "Ascend910_9372": "Ascend910_9391",
        "Ascend910_9381": "Ascend910_9391",
        "Ascend910_9382": "Ascend910_9391",
    }
    assert soc("Ascend910B2C").clock_mhz == soc("Ascend910B2").clock_mhz == 1800
    assert MARKS["Ascend910B2C"]["clock_mhz"] == "?"


def test_every_number_has_a_mark():
    numbers = {field.name for field in dataclasses.fields(soc("Ascend910B1"))} - {"name", "borrowed_from"}
    for name in NAMES:
        assert set(MARKS[name]) == numbers
        assert set(MARKS[name].values()) <= {"doc", "ini", "meas", "model", "?"}
    assert MARKS["Ascend910B1"]["gm_rate"] == "meas"


def test_records_cannot_be_changed():
    chip = soc("Ascend910B1")
    with pytest.raises(dataclasses.FrozenInstanceError):
        chip.ub = 1
    with pytest.raises(TypeError):
        chip.align["UB"] = 1


def test_unknown_platform_lists_the_legal_names():
    with pytest.raises(BackendError) as caught:
        soc("Ascend910B5")
    error = caught.value
    assert error.value == "Ascend910B5"
    assert error.nearest in ("Ascend910B1", "Ascend910B2", "Ascend910B3", "Ascend910B4")
    assert all(name in str(error) for name in NAMES)


@pytest.mark.parametrize("name", [None, 910, ["Ascend910B1"]])
def test_a_platform_that_is_not_a_string_is_refused_by_name(name):
    with pytest.raises(BackendError, match="no such platform"):
        soc(name)

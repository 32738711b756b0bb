"""Settings and set_platform: one variable, checked values."""

from __future__ import annotations

import threading
import warnings

import pytest

from ascsim.hw.checks import Checks
from ascsim.hw.errors import ArgumentTypeError, ArgumentValueError, BackendError, OptionError, SimulatorWarning
from ascsim.hw.soc import soc
from ascsim.lib.settings import current_settings, set_platform, settings, settings_of_all_threads
from ascsim.runtime.config import Backend, KernelType, Platform


@pytest.fixture(autouse=True)
def _defaults():
    with settings():
        yield


def test_defaults():
    now = current_settings()
    assert (now.backend, now.platform, now.record, now.blocks) == (Backend.Model, Platform.Ascend910B1, False, None)
    assert now.checks == Checks()


def test_a_with_block_changes_and_restores():
    strict = Checks.strict()
    with settings(checks=strict, record=True, blocks=[3, 0, 3]) as now:
        assert now is current_settings()
        assert (now.checks, now.record, now.blocks) == (strict, True, (0, 3))
        with settings(record=False):
            assert current_settings().record is False
            assert current_settings().checks is strict
        assert current_settings().record is True
    assert current_settings().record is False


def test_the_same_object_may_be_entered_again_and_nested():
    recording = settings(record=True)
    for _ in range(2):
        with recording, recording:
            assert current_settings().record is True
        assert current_settings().record is False


def test_restored_after_an_exception():
    with pytest.raises(KeyError), settings(record=True):
        raise KeyError
    assert current_settings().record is False


@pytest.mark.parametrize(
    ("changes", "error", "text"),
    [
        (
            {"strict": True},
            OptionError,
            "strict: no such setting; rule: one of backend, platform, checks, record, blocks",
        ),
        ({"checks": "strict"}, ArgumentTypeError, "checks = 'strict'"),
        ({"record": 1}, ArgumentTypeError, "record = 1"),
        ({"blocks": [-1]}, ArgumentValueError, "blocks = "),
        ({"blocks": []}, ArgumentValueError, "blocks = "),
        ({"blocks": "01"}, ArgumentValueError, "blocks = '01'"),
        ({"platform": "Ascend310"}, ArgumentValueError, "no such Platform; rule: one of Ascend910B1, Ascend910B2"),
    ],
)
def test_wrong_settings_are_refused_where_written(changes, error, text):
    with pytest.raises(error) as caught:
        settings(**changes)
    assert text in str(caught.value)


def test_a_new_thread_starts_from_the_defaults():
    seen = []
    with settings(record=True):
        thread = threading.Thread(target=lambda: seen.append(current_settings().record))
        thread.start()
        thread.join()
    assert seen == [False]


def test_settings_of_all_threads_reach_a_new_thread_too():
    seen = []
    with settings_of_all_threads(record=True):
        thread = threading.Thread(target=lambda: seen.append(current_settings().record))
        thread.start()
        thread.join()
    assert (seen, current_settings().record) == ([True], False)


def test_reports_are_handed_on_to_the_list_outside():
    outer, inner = ["first"], ["kept"]
    with settings(reports=outer), settings(reports=inner), settings(reports=inner):
        inner.append("second")
    assert (outer, inner) == (["first", "second"], ["kept", "second"])


def test_set_platform_takes_members_and_names():
    set_platform("Model", Platform.Ascend910B4_1)
    assert current_settings().platform is Platform.Ascend910B4_1
    set_platform(Backend.Model, "Ascend910_9392", device_id=2)
    assert current_settings().platform is Platform.Ascend910_9392
    assert current_settings().device == 2
    set_platform(Backend.Model)
    assert current_settings().platform is Platform.Ascend910B1


def test_set_platform_refuses_what_does_not_exist():
    with pytest.raises(ValueError, match=r"backend = 'CPU': no such Backend; rule: one of Model, NPU"):
        set_platform("CPU")
    with pytest.raises(ValueError, match=r"soc_version = 'B9': no such Platform"):
        set_platform("Model", "B9")
    with pytest.raises(BackendError, match="0 or more"):
        set_platform("Model", device_id=-1)


def test_the_npu_backend_is_refused_unless_unchecked(monkeypatch):
    monkeypatch.setenv("PYASC_COMPILER", "no-such-compiler")
    with pytest.raises(BackendError, match=r"PYASC_COMPILER names .*what still works: Backend.Model"):
        set_platform(Backend.NPU)
    assert current_settings().backend is Backend.Model
    set_platform(Backend.NPU, check=False)
    assert current_settings().backend is Backend.NPU


def test_910b2c_says_that_its_values_are_borrowed():
    with pytest.warns(SimulatorWarning, match="takes the values of Ascend910B2") as given:
        set_platform(Backend.Model, Platform.Ascend910B2C)
    assert given[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        set_platform(Backend.Model, Platform.Ascend910B2)


def test_members():
    assert [platform.value for platform in Platform] == [
        "Ascend910B1",
        "Ascend910B2",
        "Ascend910B2C",
        "Ascend910B3",
        "Ascend910B4",
        "Ascend910B4-1",
        "Ascend910_9362",
        "Ascend910_9372",
        "Ascend910_9381",
        "Ascend910_9382",
        "Ascend910_9391",
        "Ascend910_9392",
    ]
    for platform in Platform:
        assert soc(platform.value).name == platform.value
    assert {kind.name: kind.value for kind in KernelType} == {
        "AIV_ONLY": 0,
        "AIC_ONLY": 1,
        "MIX_AIV_HARD_SYNC": 2,
        "MIX_AIC_HARD_SYNC": 3,
        "MIX_AIV_1_0": 4,
        "MIX_AIC_1_0": 5,
        "MIX_AIC_1_1": 6,
        "MIX_AIC_1_2": 7,
    }

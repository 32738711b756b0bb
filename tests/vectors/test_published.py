"""Published vectors: small kernels whose outputs come from the generator scripts of the public Ascend C samples.

Nothing but the numbers was taken over; `data/cases.json` names the sample of each. The tests below the table are of
the loader: it must see a wrong number, a race, a warning of order.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import run_cases
from published import Difference, read_cases, run_case, wrong

from ascsim import HazardError, NotSimulatedError

HERE = Path(__file__).parent
DATA = HERE / "data"
# Cases that use a name which is not built yet, and that name. Whoever builds it takes the case off the list.
NOT_BUILT: dict[str, str] = {}
CASES = read_cases(DATA)


def marked(case: dict[str, Any]) -> Any:
    name = NOT_BUILT.get(case["id"])
    marks = pytest.mark.xfail(strict=True, raises=NotSimulatedError, reason=f"{name} is not built") if name else ()
    return pytest.param(case, id=case["id"], marks=marks)


@pytest.mark.parametrize("case", [marked(case) for case in CASES])
def test_published(case: dict[str, Any]) -> None:
    try:
        run_case(DATA, case)
    except NotSimulatedError as error:
        name = NOT_BUILT.get(case["id"])
        if f"{name}: is not simulated" not in str(error):
            pytest.fail(f"another name is lacking than {name}: {error}")
        raise


def test_the_list_of_what_is_not_built_names_cases() -> None:
    assert set(NOT_BUILT) <= {case["id"] for case in CASES}
    assert len(CASES) == len(list(DATA.glob("*.npz")))


# --- the loader ------------------------------------------------------------------------------------------------------

KERNEL = """\
@asc.jit{options}
def double(x: asc.GlobalAddress, z: asc.GlobalAddress):
    x_gm, z_gm = asc.GlobalTensor(), asc.GlobalTensor()
    x_gm.set_global_buffer(x)
    z_gm.set_global_buffer(z)
    a = asc.LocalTensor(asc.float32, asc.TPosition.VECIN, 0, 8)
    b = asc.LocalTensor(asc.float32, asc.TPosition.VECOUT, 32, 8)
    asc.data_copy(a, x_gm, 8)
    asc.set_flag(asc.HardEvent.MTE2_V, 0)
    asc.wait_flag(asc.HardEvent.MTE2_V, 0)
    asc.adds(b, a, {term}, 8)
    {between}
    asc.set_flag(asc.HardEvent.V_MTE3, 0)
    asc.wait_flag(asc.HardEvent.V_MTE3, 0)
    asc.data_copy(z_gm, b, 8)
"""
HOST = """\
def run_double(d):
    z = np.zeros(8, np.float32)
    double[1, rt.current_stream()](d["x"], z)
    return {"z": z}
"""
# The next instruction overwrites what `adds` reads, and nothing says that it may: a warning where auto_sync is off.
WARNED = {"options": "(auto_sync=False)", "between": "asc.duplicate(a, 0.0, 8)"}
EXACT = {"rule": "exact"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    x = np.arange(8, dtype=np.float32)
    np.savez(tmp_path / "double.npz", in_x=x, out_z=x + 1)
    return tmp_path


def case(term: str = "1.0", between: str = "pass", options: str = "", **more: Any) -> dict[str, Any]:
    kernel = KERNEL.format(term=term, between=between, options=options)
    return {"id": "double", "kernel": kernel.split("\n"), "host": HOST.split("\n"), "tolerance": EXACT, **more}


def test_a_right_case_passes(folder: Path) -> None:
    run_case(folder, case())
    assert "published_double" not in sys.modules


def test_a_wrong_number_is_shown(folder: Path) -> None:
    with pytest.raises(Difference, match=r"^z: 8 of 8 off, first \[0\] = .*2.0.*, published .*1.0"):
        run_case(folder, case(term="2.0"))


def test_a_race_fails_a_case_whose_numbers_are_right(folder: Path) -> None:
    racing = case()
    racing["kernel"] = [line for line in racing["kernel"] if "MTE2_V" not in line]
    with pytest.raises(HazardError, match="RAW"):
        run_case(folder, racing)


def test_a_warning_of_order_fails_a_case_unless_its_traps_name_it(folder: Path) -> None:
    with pytest.raises(Difference, match=r"^NO_BARRIER_WAR"):
        run_case(folder, case(**WARNED))
    run_case(folder, case(**WARNED, traps=["Gives NO_BARRIER_WAR: the second instruction overwrites a source."]))


def test_outputs_of_another_name_type_or_size(folder: Path) -> None:
    for old, new, problem in (
        ('"z": z', '"y": z', "outputs"),
        ('"z": z', '"z": z.view(np.int32)', "z: 8 of int32, published are 8 of float32"),
        ('"z": z', '"z": z[:4]', "z: 4 of float32"),
    ):
        with pytest.raises(Difference, match=problem):
            run_case(folder, {**case(), "host": HOST.replace(old, new).split("\n")})
    run_case(folder, {**case(), "host": HOST.replace('"z": z', '"z": z.reshape(2, 4)').split("\n")})


NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("rule", "result", "golden", "off"),
    [
        (EXACT, [0.0, -0.0, NAN], [-0.0, -0.0, NAN], [True, False, False]),
        ({"rule": "isclose", "atol": 1, "rtol": 0.5}, [2.0, 7.0, 7.5, -7.5], [1.0, 4.0, 4.0, -4.0], [0, 0, 1, 1]),
        ({"rule": "abs_or_rel", "atol": 1, "rtol": 0.5}, [2.0, 6.0, 6.5, 0.5], [1.0, 4.0, 4.0, 2.0], [0, 0, 1, 1]),
        ({"rule": "isclose", "atol": 1, "rtol": 1}, [NAN, 1.0, NAN, INF, 1.0, -INF], [NAN, NAN, 1.0, INF, INF, INF],
         [0, 1, 1, 0, 1, 1]),
    ],
)  # fmt: skip
def test_which_elements_are_off(rule: dict[str, Any], result: list[float], golden: list[float], off: list[int]) -> None:
    assert wrong(np.array(result), np.array(golden), rule).tolist() == [bool(x) for x in off]


def test_a_few_bad_elements_may_be_let_pass(folder: Path) -> None:
    golden = np.arange(8, dtype=np.float32) + 1
    golden[3] = 50
    np.savez(folder / "double.npz", in_x=np.arange(8, dtype=np.float32), out_z=golden)
    run_case(folder, case(tolerance={**EXACT, "max_bad_fraction": 1 / 8}))
    with pytest.raises(Difference, match=r"^z: 1 of 8 off, first \[3\] = .*4.0.*, published .*50.0"):
        run_case(folder, case(tolerance={**EXACT, "max_bad_fraction": 0.1}))


def test_the_command(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "cases.json").write_text(json.dumps({"cases": [case()]}))
    assert run_cases.main([str(folder)]) == 0
    assert capsys.readouterr().out.splitlines() == ["pass  double", "1 of 1 pass"]
    (folder / "cases.json").write_text(json.dumps({"cases": [case(), case(term="2.0")]}))
    assert run_cases.main([str(folder)]) == 1
    first, second, last = capsys.readouterr().out.splitlines()
    assert first == "pass  double"
    assert second.startswith("FAIL  double: Difference: z: 8 of 8 off")
    assert last == "1 of 2 pass"
    with pytest.raises(SystemExit):
        run_cases.main([str(folder), "no_such_case"])

"""docs/support.md is what the package says of itself: it has every name of the API, and every call names its page."""

from __future__ import annotations

import json
import re
import runpy
from inspect import isfunction
from pathlib import Path

import ascsim
from ascsim.lib import host, support

ROOT = Path(__file__).resolve().parents[2]
STORED = (ROOT / "docs/support.md").read_text(encoding="utf-8")
NAMES = json.loads((ROOT / "tests/language/api_names.json").read_text())
PLACES = {"asc": (ascsim, ""), "asc.adv": (ascsim.adv, "adv."), "asc.lib.host": (host, "lib.host.")}
# Functions that no page of the vendor's tells of, each with its reason.
NO_PAGE = {
    "array": "pyasc's own: arrays of C++",
    "ascend_is_aic": "a macro of the headers without a page of its own",
    "ascend_is_aiv": "a macro of the headers without a page of its own",
    "ceildiv": "pyasc's own; the page CeilDivision is about later chips",
    "get_shape_size": "pyasc's own: the product of a ShapeInfo",
    "inline": "pyasc's own: text of C++",
    "jit": "pyasc's own",
    "number": "pyasc's own: a typed scalar",
    "property": "pyasc's own: constants of the headers",
    "static_assert": "C++'s own",
    "lib.host.get_ascendc_platform": "pyasc's own",
}


def test_the_stored_table_is_what_the_package_says() -> None:
    assert support.table() == STORED, "python -m ascsim.lib.support > docs/support.md"


def test_every_name_of_the_api_has_a_row_that_says_what_it_does() -> None:
    listed = {f"{prefix}{name}" for key, (_, prefix) in PLACES.items() for name in NAMES[key]}
    table = {entry.name: entry for _, entries in support.sections() for entry in entries}
    assert listed - set(table) == set()
    assert [name for name in table if f"| `{name}` |" not in STORED] == []
    assert [entry.name for entry in table.values() if not entry.does] == []
    members = "LocalTensor.get_value GlobalTensor.set_global_buffer TQueBind.enque TPipe.init_buffer TBuf.get".split()
    assert set(members) <= set(table)


def test_every_function_names_its_page() -> None:
    table = {entry.name: entry for _, entries in support.sections() for entry in entries}
    functions = [f"{p}{n}" for k, (at, p) in PLACES.items() for n in NAMES[k] if isfunction(getattr(at, n, None))]
    assert {name for name in functions if not table[name].page} == set(NO_PAGE)


def test_a_call_that_costs_more_than_twice_an_add_says_why() -> None:
    """The benchmark and the reasons name the same functions."""
    rows = runpy.run_path(str(ROOT / "benchmarks/families.py"))["ROWS"]
    costly = {re.match(r"asc\.([\w.]+)", row.call)[1] for row in rows if row.budget > 2}
    reasons = {name for names in support.COSTS for name in names.split()}
    assert costly - reasons == set()
    assert [names for names in support.COSTS if not costly & set(names.split())] == []


def test_markers_of_a_docstring() -> None:
    """Worked by hand: one sentence of types and page, all of a paragraph of differences."""
    doc = """dst = src.

    More. Types: int8,
    float16. Pages: One, Two (x.y).
    Device: a. B 0.5.

    Nothing of this."""
    said = {"Types": "int8, float16", "Page": "One, Two (x.y)", "Device": "a. B 0.5"}
    assert support.marked(doc) == ("dst = src.", said)


def test_a_row_of_the_table() -> None:
    """Known from the vendor's page of Exp and from pyasc's signatures, not from the code."""
    (row,) = [line for line in STORED.splitlines() if line.startswith("| `exp` |")]
    assert "`exp(dst, src, count)`<br>`exp(dst, src, mask, repeat_times, repeat_params, is_set_mask=True)`" in row
    assert "| float16, float32 | Exp |" in row
    assert "1 ulp" in row


def test_arguments_that_go_by_name_alone_show_it() -> None:
    assert support.forms_of(ascsim.set_vector_mask, "set_vector_mask") == (
        "set_vector_mask(length, *, dtype, mode)",
        "set_vector_mask(mask_high, mask_low, *, dtype, mode)",
    )

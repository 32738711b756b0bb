"""The support table, `docs/support.md`: every name of the API, made from the package itself.

    python -m ascsim.lib.support > docs/support.md

A row is what `help` of the name says: the first paragraph of its docstring, its call forms (`__overloads__`, else the
signature), and three marked sentences of the docstring:

    Types: ...     element types; those of a row of `language.rows` are written by `finish`
    Page: ...      the vendor's page (Pages: several)
    Device: ...    where the hardware differs, why, and by how much

Not here: what a name of pyasc does there; fields and members of structures and enumerations beyond their names.
"""

from __future__ import annotations

import enum
import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterable, Iterator
from types import ModuleType
from typing import Any, NamedTuple

from ascsim.language import adv, basic, core, fwk
from ascsim.language.core.dtype import DataType
from ascsim.language.core.params import Params

from . import host, options
from .jit import jit

MARKERS = ("Types", "Page", "Device")
_MARKED = re.compile(r"\b(Types|Pages?|Device): ")
_SENTENCE = re.compile(r".*?\.(?=\s|$)", re.DOTALL)

# Why a call costs more than twice what `add` does for the same bytes, beyond its numpy work: `benchmarks/families.py`.
COSTS = {
    "max min maxs mins": "the sign of zeros is looked at, and put right where it is the other one",
    "shift_left": "the sign bit of signed types is kept apart, in three more passes",
    "select": "bits are spread out to one flag a lane, and the scratch in UB is looked at",
    "pair_reduce_sum": "the sums of all pairs of a repeat are made before any is written",
    "whole_reduce_max whole_reduce_min block_reduce_max block_reduce_min": "the sign of zeros is looked at",
    "reduce_sum reduce_max reduce_min": "S waits for V in each call, and scratch is undefined afterwards",
    "gather_mask": "S waits for the count in each call",
    "data_copy data_copy_pad": "figures include a barrier; rows of a store are compared with earlier ones one by one",
    "trans_data_to_5hd": "thirty-two operands in each call",
    "mrg_sort": "keys are made of the scores, and lists that are not sorted are looked for",
    "adv.sin adv.cos adv.tan adv.tanh adv.floor adv.axpy": "scratch is looked at and undefined afterwards",
    "adv.softmax": "scratch, and float32 sums in the vendor's order",
}


class Entry(NamedTuple):
    """One row. `name` as a kernel author writes it; texts are empty where there is nothing to say."""

    name: str
    forms: tuple[str, ...]
    does: str
    types: str = ""
    page: str = ""
    device: str = ""
    cost: str = ""


def marked(doc: str) -> tuple[str, dict[str, str]]:
    """The first paragraph of a docstring up to its first marker, and what stands behind each marker.

    Types and pages are one sentence; the last goes on to the next marker or the end of its paragraph.
    """
    found: dict[str, str] = {}
    paragraphs = [" ".join(part.split()) for part in inspect.cleandoc(doc).split("\n\n")]
    for paragraph in paragraphs:
        _, *pieces = _MARKED.split(paragraph)
        for marker, text in zip(pieces[::2], pieces[1::2], strict=True):
            one = marker.startswith(("Types", "Page"))
            sentence = _SENTENCE.match(text) if one else None
            found[marker.removesuffix("s") if marker == "Pages" else marker] = (
                sentence[0] if sentence else text
            ).strip()
    return _MARKED.split(paragraphs[0])[0].strip(), {key: text.removesuffix(".") for key, text in found.items()}


def forms_of(value: Any, name: str) -> tuple[str, ...]:
    """Call forms as they are written; for an enumeration its members."""
    if isinstance(value, type) and issubclass(value, enum.Enum):
        return (", ".join(member.name for member in value),)
    try:
        known = getattr(value, "__overloads__", None) or (inspect.signature(value),)
    except (TypeError, ValueError):
        return ()
    return tuple(f"{name.rpartition('.')[2]}({', '.join(_parameters(form))})" for form in known)


def _parameters(form: inspect.Signature) -> Iterator[str]:
    named = True  # by its place or by its name
    for parameter in form.parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and named:
            yield "*"
        named = named and parameter.kind is parameter.POSITIONAL_OR_KEYWORD
        yield _parameter(parameter)


def _parameter(parameter: inspect.Parameter) -> str:
    if parameter.default is parameter.empty:
        star = "*" * (parameter.kind is parameter.VAR_POSITIONAL) + "**" * (parameter.kind is parameter.VAR_KEYWORD)
        return star + parameter.name
    default = parameter.default
    shown = f"{type(default).__name__}.{default.name}" if isinstance(default, enum.Enum) else repr(default)
    return f"{parameter.name}={shown if ' at 0x' not in shown else '...'}"


def entry(name: str, value: Any) -> Entry:
    """The row of one name."""
    if isinstance(value, DataType):
        return Entry(name, (), f"The element type {value}, {value.size} bytes." if value.size else "No type.")
    if not callable(value):
        return Entry(name, (), marked(type(value).__doc__ or "")[0])
    does, said = marked(value.__doc__ or "")
    cost = next((why for names, why in COSTS.items() if name in names.split()), "")
    types, page, device = (said.get(marker, "") for marker in MARKERS)
    return Entry(name, forms_of(value, name), does, types, page, device, cost)


def members(name: str, value: type, listed: Iterable[type]) -> Iterator[Entry]:
    """The rows of a class's methods, those of a listed base class left out; where some have a page, these alone."""
    rows = list(_methods(name, value, listed))
    yield from [row for row in rows if row.page] or rows


def _methods(name: str, value: type, listed: Iterable[type]) -> Iterator[Entry]:
    seen: set[str] = set()
    for base in value.__mro__:
        if base is object or (base is not value and base in listed) or not base.__module__.startswith("ascsim"):
            continue
        for key, member in vars(base).items():
            function = member.__func__ if isinstance(member, (staticmethod, classmethod)) else member
            if inspect.isfunction(function) and not key.startswith("_") and key not in seen and function.__doc__:
                seen.add(key)
                row = entry(f"{name}.{key}", function)
                yield row._replace(forms=tuple(re.sub(r"\(self(, )?", "(", form) for form in row.forms))


def _names(module: ModuleType) -> list[str]:
    public = getattr(module, "__all__", None)
    return list(public) if public is not None else [n for n in vars(module) if not n.startswith("_")]


def sections() -> Iterator[tuple[str, list[Entry]]]:
    """Title and rows of each part of the API, in the order of the package."""
    parts = [(module.__name__.rpartition(".")[2], module) for module in (core, basic, fwk, adv, host)]
    yield "Modules", [Entry(name, (), marked(module.__doc__ or "")[0]) for name, module in parts]
    groups: list[tuple[str, str, list[tuple[str, Any]]]] = [
        ("asc.core: types, enumerations, parameters", "", [(n, getattr(core, n)) for n in _names(core)])
    ]
    for package, prefix in ((basic, ""), (adv, "adv.")):
        for info in pkgutil.iter_modules(package.__path__):
            module = importlib.import_module(f"{package.__name__}.{info.name}")
            pairs = [(n, getattr(module, n)) for n in getattr(module, "__all__", ()) if getattr(package, n, None)]
            groups.append((f"asc.{package.__name__.rpartition('.')[2]}: {info.name}", prefix, pairs))
    groups.append(("asc.fwk: pipes, queues, buffers", "", [(n, getattr(fwk, n)) for n in _names(fwk)]))
    settings = [(n, getattr(options, n)) for n in ("CodegenOptions", "CompileOptions", "LaunchOptions")]
    groups.append(("Launch", "", [("jit", jit), *settings]))
    groups.append(("asc.lib.host: tiling of Matmul", "lib.host.", [(n, getattr(host, n)) for n in _names(host)]))
    every = [value for _, _, pairs in groups for _, value in pairs]
    shown: set[str] = set()
    for title, prefix, pairs in groups:
        rows = []
        for name, value in sorted(pairs, key=lambda pair: pair[0].lower()):
            if f"{prefix}{name}" in shown or isinstance(value, ModuleType):
                continue
            shown.add(f"{prefix}{name}")
            rows.append(entry(f"{prefix}{name}", value))
            plain = isinstance(value, type) and not issubclass(value, (enum.Enum, Params))
            rows += members(f"{prefix}{name}", value, [v for v in every if isinstance(v, type)]) if plain else []
        if rows:
            yield title, rows


HEAD = """# Support

Every name of the API: call forms, element types, what is modelled, the vendor's page, and where hardware is known to
differ. Members of a class follow it. A form of a call that is not simulated raises `NotSimulatedError` with the reason;
nothing is a silent no-op. Times are a model of their own (see the README) and no subject of this table.

Differences that no single call has: halves are in INF/NAN mode (they may become infinite, and NaN stays), which one
page calls the default and another does not; caches of instructions and L2 are not modelled; what the device compiler
adds to a kernel with `auto_sync` is not there.

A call that costs the simulator more than twice what `add` does for the same bytes, beyond its numpy work, says why
("Cost here"). That is so for plain numbers: masks and repeats that are run-time scalars are looked at in each call, at
up to eight times the cost of `add`.

This file is generated: `python -m ascsim.lib.support > docs/support.md`."""


def table() -> str:
    """The whole document."""
    lines = [HEAD]
    for title, rows in sections():
        lines += [
            "",
            f"## {title}",
            "",
            "| name | call forms | does | types | page | device |",
            "|---|---|---|---|---|---|",
        ]
        for row in rows:
            notes = " ".join(f"{text}." for text in (row.device, row.cost and f"Cost here: {row.cost}") if text)
            cells = (f"`{row.name}`", "<br>".join(f"`{f}`" for f in row.forms), row.does, row.types, row.page, notes)
            lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(table(), end="")

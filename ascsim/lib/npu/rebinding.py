"""Kernels and values of ascsim made over into pyasc's of the same name.

A kernel keeps its code; only what its global names mean changes, in a copy of its globals. Modules, functions,
classes, enums and data types stand for pyasc's of the same name, structs for equal ones, device functions for
themselves made over in turn. A user's own module, class or object is never changed: what it holds is made over in a
stand-in. What pyasc has no counterpart for is refused by name.
"""

from __future__ import annotations

import copy
import importlib
import sys
from collections.abc import Callable
from enum import Enum, EnumMeta
from types import FunctionType, ModuleType
from typing import Any, get_args, get_origin

from ascsim.hw.errors import NoCounterpartError
from ascsim.language.core.constexpr import ConstExpr
from ascsim.language.core.dtype import DataType
from ascsim.language.core.struct import Field, Struct, StructField, missing

from ..arguments import MockTensor, MockValue, constants
from ..function import Function
from ..reach import UNKNOWN, Use, uses
from .front_end import pyasc_version

OURS, THEIRS = "ascsim", "asc"
_table: dict[int, Any] = {}  # id of an object of ascsim that lives as long as the process: pyasc's


def lacks(name: str) -> NoCounterpartError:
    """The refusal of a name."""
    rule = "a name of the installed pyasc; the simulator knows a few newer ones"
    return NoCounterpartError("emit", f"pyasc {pyasc_version()} has no {name}", rule=rule)


class Rebinding:
    """The stand-ins of one emission or launch; `jit` makes a function of pyasc's, `asc` is its module."""

    def __init__(self, asc: ModuleType, jit: Callable[..., Any]) -> None:
        self.asc, self.jit = asc, jit
        self.functions: dict[Function, Any] = {}
        self._spaces: dict[int, dict[str, Any]] = {}
        self._made: dict[int, tuple[Any, Any]] = {}  # id: the original, kept alive, and its stand-in
        self._structs = asc.language.core.struct
        if not _table:
            _table.update(_counterparts())

    # --- functions ---------------------------------------------------------------------------------------------------

    def function(self, function: Function) -> Any:
        """pyasc's jit function over the same code."""
        if function in self.functions:
            return self.functions[function]
        fn = function.fn
        space = self._spaces.setdefault(id(fn.__globals__), {"__name__": fn.__globals__.get("__name__")})
        made = FunctionType(fn.__code__, space, fn.__name__, self.value(fn.__defaults__), fn.__closure__)
        made.__kwdefaults__ = self.value(fn.__kwdefaults__)
        made.__qualname__, made.__doc__, made.__module__ = fn.__qualname__, fn.__doc__, fn.__module__
        made.__annotations__ = {name: self._constexpr(types) for name, types in constants(fn).items()}
        options = self.value(dict(getattr(function, "default_options", {})))
        stand_in = self.functions[function] = self.jit(made, **options)
        for use in uses(fn):
            try:
                self._bind(use, fn.__globals__, space)
            except NoCounterpartError as error:
                error.site = fn.__code__.co_filename, use.node.lineno
                raise
        return stand_in

    def _bind(self, use: Use, names: dict[str, Any], space: dict[str, Any]) -> None:
        """Give a global name its stand-in, and make sure that pyasc has all that is asked of it."""
        name = use.path[0]
        if name not in names:
            return
        if name not in space:
            space[name] = self.value(names[name])
        ours, theirs = names[name], space[name]
        for depth, step in enumerate(use.path[1:], 2):
            ours = getattr(ours, step, UNKNOWN)
            if not isinstance(theirs, (ModuleType, type)) or ours is UNKNOWN:
                return
            if not hasattr(theirs, step):
                raise lacks(".".join(use.path[:depth]))
            theirs = getattr(theirs, step)

    def _constexpr(self, types: tuple[Any, ...]) -> Any:
        constexpr = self.asc.ConstExpr
        return constexpr[tuple(map(self.value, types))] if types else constexpr

    # --- values ------------------------------------------------------------------------------------------------------

    def value(self, value: Any) -> Any:
        """What stands for a value of ascsim, or for one of the user's that holds some; else the value itself."""
        known = _table.get(id(value))
        if known is not None:
            return known
        made = self._made.get(id(value))
        if made is None:
            self._made[id(value)] = value, value  # should it hold itself
            made = self._made[id(value)] = value, self._make(value)
        return made[1]

    def _make(self, value: Any) -> Any:
        for kinds, make in _MAKERS:
            if isinstance(value, kinds):
                return make(self, value)
        if get_origin(value) is ConstExpr:
            return self._constexpr(get_args(value))
        if _is_ours(value):
            raise lacks(getattr(value, "__qualname__", None) or f"a {type(value).__qualname__} made outside a kernel")
        return self._object(value)

    def _module(self, value: ModuleType) -> ModuleType:
        name = value.__name__
        if name != OURS and not name.startswith(OURS + "."):
            return _View(value, self)
        path = THEIRS + name[len(OURS) :]
        try:
            return importlib.import_module(path)
        except ModuleNotFoundError:
            raise lacks(path) from None

    def _dtype(self, value: DataType) -> Any:
        if not hasattr(self.asc.language.core.dtype.KnownTypes, value.name):
            raise lacks(f"asc.{value.name}")
        return self.asc.DataType(value.name)

    def _enum(self, value: Enum) -> Any:
        kind = _table.get(id(type(value))) if _is_ours(type(value)) else self.value(type(value))
        if kind is None or value.name not in kind.__members__:
            raise lacks(f"asc.{type(value).__name__}.{value.name}")
        return kind[value.name]

    def _enum_class(self, value: EnumMeta) -> Any:
        """An enumeration of the user's: itself, or one of the same members where their values stand for others."""
        if _is_ours(value):
            raise lacks(f"asc.{value.__qualname__}")
        held: dict[str, Any] = dict(value.__members__)
        members = {name: member.value for name, member in held.items()}
        changed = self._changed(members)
        make: Any = Enum
        return make(value.__name__, {**members, **changed}) if changed else value

    def _class(self, value: type) -> Any:
        if issubclass(value, Struct) and value is not Struct:
            return self._struct_class(value)
        if _is_ours(value):
            raise lacks(f"asc.{value.__qualname__}")
        changed = self._changed({k: v for k, v in vars(value).items() if not k.startswith("__")})
        return type(value)(value.__name__, (value,), changed) if changed else value

    def _static(self, value: staticmethod[Any, Any]) -> Any:
        made = self.value(value.__func__)
        return value if made is value.__func__ else staticmethod(made)

    def _struct_class(self, value: type[Struct]) -> Any:
        space = {key: self._field(field) for key, field in value.struct_fields.items()}
        pack = getattr(value._layout, "_pack_", 8)
        return type(self._structs.Struct)(value.__name__, (self._structs.Struct,), space, pack=pack)

    def _field(self, field: Any) -> Any:
        default = {} if field.default is missing else {"default": self.value(field.default)}
        if isinstance(field, StructField):
            return self._structs.StructField(self.value(field.struct_cls), name=field.name, **default)
        assert isinstance(field, Field)
        return self._structs.Field(self.value(field.dtype), name=field.name, enum=field.enum_name, **default)

    def _struct(self, value: Struct) -> Any:
        return self.value(type(value))(**{key: self.value(getattr(value, key)) for key in value.struct_fields})

    def _tuple(self, value: tuple[Any, ...]) -> Any:
        made = [self.value(item) for item in value]
        if all(new is old for new, old in zip(made, value, strict=True)):
            return value
        return type(value)._make(made) if hasattr(value, "_make") else type(value)(made)

    def _list(self, value: list[Any]) -> list[Any]:
        made = [self.value(item) for item in value]
        return value if all(new is old for new, old in zip(made, value, strict=True)) else made

    def _dict(self, value: dict[Any, Any]) -> dict[Any, Any]:
        made = {self.value(key): self.value(item) for key, item in value.items()}
        same = zip(made.items(), value.items(), strict=True)
        return value if all(key is old and new is item for (key, new), (old, item) in same) else made

    def _object(self, value: Any) -> Any:
        """An object of the user's, with what it holds made over in a shallow copy."""
        held = getattr(value, "__dict__", None)
        changed = self._changed(held) if isinstance(held, dict) and not callable(value) else {}
        if not changed:
            return value
        made = copy.copy(value)
        for name, new in changed.items():
            object.__setattr__(made, name, new)
        return made

    def _changed(self, held: dict[str, Any]) -> dict[str, Any]:
        made = {name: self.value(item) for name, item in held.items()}
        return {name: new for name, new in made.items() if new is not held[name]}


class _View(ModuleType):
    """A user's module, whose names mean what stands for them."""

    def __init__(self, module: ModuleType, rebinding: Rebinding) -> None:
        super().__init__(module.__name__)
        self.__dict__["_module"], self.__dict__["_rebinding"] = module, rebinding

    def __getattr__(self, name: str) -> Any:
        return self.__dict__["_rebinding"].value(getattr(self.__dict__["_module"], name))


# the first match decides: an IntEnum is an int, a struct's class is a type
_MAKERS: tuple[tuple[Any, Callable[[Rebinding, Any], Any]], ...] = (
    (Function, Rebinding.function),
    (ConstExpr, lambda self, value: self.asc.ConstExpr(self.value(value.value))),
    (DataType, Rebinding._dtype),
    (Enum, Rebinding._enum),
    (EnumMeta, Rebinding._enum_class),
    (type, Rebinding._class),
    (ModuleType, Rebinding._module),
    (Struct, Rebinding._struct),
    (MockTensor, lambda self, value: self.asc.runtime.jit.MockTensor(self.value(value.dtype))),
    (MockValue, lambda self, value: self.asc.runtime.jit.MockValue(self.value(value.dtype))),
    (tuple, Rebinding._tuple),
    (list, Rebinding._list),
    (dict, Rebinding._dict),
    (staticmethod, Rebinding._static),
)


def _is_ours(value: Any) -> bool:
    """Whether an object is ascsim's own."""
    module = getattr(value, "__module__", None) or ""
    return isinstance(module, str) and (module == OURS or module.startswith(OURS + "."))


def _counterparts() -> dict[int, Any]:
    """pyasc's object of the same name for every object in a public module of ascsim."""
    found: dict[int, Any] = {}
    for path, theirs in sorted(sys.modules.items()):  # `asc` itself first
        ours = sys.modules.get(OURS + path[len(THEIRS) :])
        if path.split(".")[0] != THEIRS or ours is None or path.startswith("asc.lib.host"):
            continue
        for name, value in vars(ours).items():
            if _is_ours(value) and not isinstance(value, (DataType, ModuleType)) and hasattr(theirs, name):
                found.setdefault(id(value), getattr(theirs, name))
    return found

"""User structs: `Struct` with `Field` and `StructField`, laid out as C does.

Fields read on the host are plain numbers, cut to their width; read in a kernel they are run-time scalars. A kernel has
a copy of its own (`_copy`, made at launch). Not modelled: float16 and bfloat16 fields, for which the front end has no
layout.
"""

from __future__ import annotations

import ctypes
from typing import Any, ClassVar

from ...hw import current
from ...hw.errors import ArgumentTypeError, StructError
from .dtype import DataType
from .ir_value import CLASSES, PlainValue, unwrap, value

_CTYPES: dict[str, Any] = {
    "int1": ctypes.c_bool,
    **{f"{sign}{bits}": getattr(ctypes, f"c_{sign}{bits}") for sign in ("int", "uint") for bits in (8, 16, 32, 64)},
    "float32": ctypes.c_float,
    "float64": ctypes.c_double,
}


class _Missing:
    """Default of a field that must be given."""

    def __repr__(self) -> str:
        return "missing"


missing = _Missing()


class BaseField:
    """A field: `default`, and `name`, the device's name for it if that differs. `key` is its name in the class."""

    key = ""
    ctype: Any

    def __init__(self, default: Any = missing, name: str | None = None) -> None:
        self.default, self.name = default, name

    def _plain(self, owner: str, given: Any) -> Any:
        """What is stored for `given`."""
        raise NotImplementedError

    def __set__(self, instance: Struct, given: Any) -> None:
        setattr(instance._memory, self.key, self._plain(type(instance).__name__, given))


class Field(BaseField):
    """A number of type `dtype`; `enum` names the device's enumeration, if the field is one there."""

    def __init__(
        self, dtype: DataType, default: Any = missing, name: str | None = None, enum: str | None = None
    ) -> None:
        super().__init__(default, name)
        if not isinstance(dtype, DataType):
            raise ArgumentTypeError("Field", "is no data type", operand="dtype", value=dtype)
        if dtype.name not in _CTYPES:
            rule = "one of " + ", ".join(_CTYPES)
            raise StructError("Field", "no layout for this type", operand="dtype", value=dtype, rule=rule)
        self.dtype, self.enum_name = dtype, enum
        self.ctype, self._pack = _CTYPES[dtype.name], CLASSES[dtype].pack

    def _plain(self, owner: str, given: Any) -> Any:
        if isinstance(unwrap(given), float) and not isinstance(given, PlainValue) and self.dtype.is_int():
            raise ArgumentTypeError(
                owner, "is no integer", operand=self.key, value=given, rule=f"a number for {self.dtype}"
            )
        return value(given, self.dtype, f"{owner}.{self.key}").v

    def __get__(self, instance: Struct | None, owner: type[Struct]) -> Any:
        if instance is None:
            return self
        number = getattr(instance._memory, self.key)
        return number if current.core.get() is None else self._pack(number)


class StructField(BaseField):
    """A struct inside a struct; assigning to it copies."""

    def __init__(self, struct_cls: type[Struct], default: Struct | None = None, name: str | None = None) -> None:
        if not (isinstance(struct_cls, type) and issubclass(struct_cls, Struct) and struct_cls is not Struct):
            raise ArgumentTypeError("StructField", "is no subclass of Struct", operand="struct_cls", value=struct_cls)
        super().__init__(struct_cls() if default is None else default, name)
        self.struct_cls, self.ctype = struct_cls, struct_cls._layout

    def _plain(self, owner: str, given: Any) -> Any:
        given = unwrap(given)
        if not isinstance(given, self.struct_cls):
            raise ArgumentTypeError(owner, f"is no {self.struct_cls.__name__}", operand=self.key, value=given)
        return given._memory

    def __get__(self, instance: Struct | None, owner: type[Struct]) -> Any:
        if instance is None:
            return self
        part = instance._parts.get(self.key)
        if part is None:  # a view: what is written to the part is written to the whole
            part = instance._parts[self.key] = self.struct_cls._over(getattr(instance._memory, self.key))
        return part


class Struct:
    """Base of user structs, which declare `Field`s and `StructField`s; `pack=` limits the alignment, in bytes."""

    __slots__ = ("_memory", "_parts")

    struct_fields: ClassVar[dict[str, BaseField]] = {}
    _layout: ClassVar[type[ctypes.Structure]]
    _memory: ctypes.Structure
    _parts: dict[str, Struct]

    def __init_subclass__(cls, pack: int = 8, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        name = cls.__name__
        if any(base.struct_fields for base in cls.__bases__ if issubclass(base, Struct)):
            raise StructError(
                name, "fields are not inherited", operand="bases", rule="derive from asc's Struct directly"
            )
        cls.struct_fields = {key: field for key, field in vars(cls).items() if isinstance(field, BaseField)}
        if not cls.struct_fields:
            raise StructError(name, "has no field", rule="at least one Field or StructField")
        for key, field in cls.struct_fields.items():
            if field.key not in ("", key):
                raise StructError(
                    name, "is the same object as another field", operand=key, rule="one Field object a field"
                )
            field.key = key
        layout = [(key, field.ctype) for key, field in cls.struct_fields.items()]
        cls._layout = type(name, (ctypes.Structure,), {"_pack_": pack, "_fields_": layout})

    def __init__(self, **fields: Any) -> None:
        name, known = type(self).__name__, self.struct_fields
        if type(self) is Struct:
            raise StructError("Struct", "has no field", rule="derive a class and declare fields")
        for key in fields:
            if key not in known:
                raise StructError(name, "no such field", operand=key, rule="fields: " + ", ".join(known))
        object.__setattr__(self, "_memory", self._layout())
        object.__setattr__(self, "_parts", {})
        for key, field in known.items():
            given = fields.get(key, field.default)
            if given is missing:
                raise StructError(name, "has no default and was not given", operand=key)
            setattr(self, key, given)

    @classmethod
    def _over(cls, memory: ctypes.Structure) -> Any:
        """The struct that lies in `memory`."""
        self = cls.__new__(cls)
        object.__setattr__(self, "_memory", memory)
        object.__setattr__(self, "_parts", {})
        return self

    def _copy(self) -> Any:
        """An independent copy: what a kernel writes to its struct argument never reaches the host's."""
        copy = self._over(self._layout.from_buffer_copy(self._memory))
        copy.__dict__.update(self.__dict__)
        return copy

    def __setattr__(self, key: str, new: Any) -> None:
        if key not in self.struct_fields and not hasattr(type(self), key):
            raise StructError(
                type(self).__name__, "no such field", operand=key, rule="fields: " + ", ".join(self.struct_fields)
            )
        object.__setattr__(self, key, new)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{key}={getattr(self, key)!r}' for key in self.struct_fields)})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), self.pack(), self.__dict__)

    def addressof(self) -> int:
        """The host address of the struct's memory."""
        return ctypes.addressof(self._memory)

    def pack(self) -> bytes:
        """The struct's bytes, as the device reads them."""
        return bytes(self._memory)


def _rebuild(cls: type[Struct], memory: bytes, attributes: dict[str, Any]) -> Any:
    self = cls._over(cls._layout.from_buffer_copy(memory))
    self.__dict__.update(attributes)
    return self

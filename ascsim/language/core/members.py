"""What the enumerations of the API have in common: members that are cheap, and an error that names the nearest one."""

from __future__ import annotations

from enum import EnumMeta, IntEnum
from typing import TYPE_CHECKING, Any

from ...hw.errors import NoSuchNameError


class _Members(EnumMeta):
    """The class of an enumeration."""

    if not TYPE_CHECKING:  # or any name would be a member

        def __getattr__(cls, name: str) -> Any:
            """A member, where Python (3.10) looks for them here; else who asks is told which there are."""
            if name[:1] == "_":
                raise AttributeError(f"type object {cls.__name__!r} has no attribute {name!r}")
            members = cls._member_map_
            if name in members:
                return members[name]
            raise NoSuchNameError.among(cls.__name__, name, members, f"one of {', '.join(members)}")


class Enumeration(IntEnum, metaclass=_Members):
    """Members hash as their value, at the speed of an int, so that they are cheap parts of dictionary keys."""

    __hash__ = int.__hash__

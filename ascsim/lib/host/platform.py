"""The platform as the tiling interface sees it: a handle on the record of `ascsim.hw.soc`."""

from __future__ import annotations

from ascsim.hw.errors import ArgumentTypeError
from ascsim.hw.soc import Soc, soc

from ..settings import current_settings


class PlatformAscendC:
    """A platform, made by PlatformAscendCManager; `soc` is its record: cores, memories, rates."""

    def __init__(self, record: Soc) -> None:
        if not isinstance(record, Soc):
            rule = "get_ascendc_platform(), or PlatformAscendCManager.get_instance(name)"
            raise ArgumentTypeError("PlatformAscendC", "is no platform", operand="record", value=record, rule=rule)
        self.soc = record

    def __repr__(self) -> str:
        return f"PlatformAscendC({self.soc.name})"


class PlatformAscendCManager:
    """Hands out platforms."""

    @staticmethod
    def get_instance(soc_version: str | None = None) -> PlatformAscendC:
        """The platform of a name; without one that in force."""
        return get_ascendc_platform() if soc_version is None else PlatformAscendC(soc(soc_version))


def get_ascendc_platform() -> PlatformAscendC:
    """The platform in force: that of `set_platform`."""
    return PlatformAscendC(soc(current_settings().platform.value))


__all__ = ["PlatformAscendC", "PlatformAscendCManager", "get_ascendc_platform"]

"""Names of what a kernel can run on: backends, platforms, kernel types. Sizes and rates are in `ascsim.hw.soc`."""

from __future__ import annotations

from enum import Enum


class Backend(Enum):
    """Who executes a launch: the simulator (`Model`) or the real pyasc on a device (`NPU`)."""

    Model = "Model"
    NPU = "NPU"


class Platform(Enum):
    """The chips of the Atlas A2 and A3 families. About Ascend910B2C nothing is published: it takes 910B2's values."""

    Ascend910B1 = "Ascend910B1"
    Ascend910B2 = "Ascend910B2"
    Ascend910B2C = "Ascend910B2C"
    Ascend910B3 = "Ascend910B3"
    Ascend910B4 = "Ascend910B4"
    Ascend910B4_1 = "Ascend910B4-1"
    Ascend910_9362 = "Ascend910_9362"
    Ascend910_9372 = "Ascend910_9372"
    Ascend910_9381 = "Ascend910_9381"
    Ascend910_9382 = "Ascend910_9382"
    Ascend910_9391 = "Ascend910_9391"
    Ascend910_9392 = "Ascend910_9392"


class KernelType(Enum):
    """Which cores of a block run the body of a kernel."""

    AIV_ONLY = 0
    AIC_ONLY = 1
    MIX_AIV_HARD_SYNC = 2
    MIX_AIC_HARD_SYNC = 3
    MIX_AIV_1_0 = 4
    MIX_AIC_1_0 = 5
    MIX_AIC_1_1 = 6
    MIX_AIC_1_2 = 7

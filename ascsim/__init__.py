"""ascsim: run, check and time Ascend AI-core kernels written with the pyasc API, without a device."""
from .hw.checks import Checks
from .hw.errors import *  # noqa: F403
from .hw.errors import SimulatorError, SimulatorWarning

"""High-level operations: programs over the vector and matrix instructions. Names only."""

from __future__ import annotations

from typing import NoReturn

from ...hw.errors import NoSuchNameError
from .activation import *
from .math import *
from .matmul import *
from .matmul_config import *
from .normalization import *
from .quantization import *
from .softmax_flash import *
from .sort import *
from .static_tiling import *
from .swiglu import *
from .tcube_tiling import *
from .tiling import *


def __getattr__(name: str) -> NoReturn:
    raise NoSuchNameError.among(__name__, name, globals())

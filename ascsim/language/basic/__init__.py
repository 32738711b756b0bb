"""Instruction-level operations. Names only."""

from .block_sync import *
from .cache import *
from .common import *
from .data_copy import *
from .determine_compute_sync import *
from .dump_tensor import *
from .meetings import *
from .sys_var import *
from .vec_bilinear import *
from .vec_binary import *
from .vec_binary_scalar import *
from .vec_duplicate import *
from .vec_two_types import *
from .vec_unary import *
from .vec_vconv import *

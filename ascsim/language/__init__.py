"""What a kernel author may write. Names only."""

from . import basic, core
from .basic import *
from .core import *
# from .fwk import *

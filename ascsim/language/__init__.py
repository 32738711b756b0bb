"""What a kernel author may write. Names only."""

from . import adv, basic, core, fwk
from .basic import *
from .core import *
from .fwk import *

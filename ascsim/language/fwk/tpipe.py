"""Everything of the framework under the module path that the API gives it. Names only."""

from .pipe import TPipe, get_tpipe_ptr
from .placement import TBufHandle
from .pool import TBufPool
from .queue import TQue, TQueBind
from .tbuf import TBuf

__all__ = ["TBuf", "TBufHandle", "TBufPool", "TPipe", "TQue", "TQueBind", "get_tpipe_ptr"]

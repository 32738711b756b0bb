"""Which core runs now.

Cores run one at a time in order of their serial numbers, each until it ends or waits for another core. Only then
does a second thread exist: the waiting core keeps its own, and the baton goes on. Nothing ever runs concurrently.
"""

from __future__ import annotations

import contextlib
import contextvars
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from . import current
from .serving import Serving

if TYPE_CHECKING:
    from .core import Core
    from .findings import Site


class _Abandoned(BaseException):
    """Unwinds the kernels of cores that wait when the launch has failed. Not for the kernel to catch."""


class Waiter:
    """A core that waits for another: where, until when, in words, and the lock that holds its thread."""

    __slots__ = ("core", "failed", "lock", "ready", "site", "why")

    def __init__(self, core: Core, ready: Callable[[], bool], why: Callable[[], str], site: Site) -> None:
        self.core, self.ready, self.why, self.site = core, ready, why, site
        self.lock = threading.Lock()
        self.lock.acquire()
        self.failed = False  # nobody can ever make it ready


class Scheduler:
    """Runs the cores of one launch."""

    def __init__(
        self,
        places: list[Any],
        enter: Callable[[Any], Core],
        leave: Callable[[Core], None],
        body: Callable[[], Any],
    ) -> None:
        self.places, self.enter, self.leave, self.body = places, enter, leave, body
        self.next_place = 0
        self.waiting: list[Waiter] = []
        self.error: BaseException | None = None
        self.done = threading.Event()

    def run(self) -> None:
        """Run every core to its end; raises what the first failing kernel raised."""
        self._loop()
        self.done.wait()
        if self.error is not None:
            raise self.error

    def _loop(self) -> None:
        """Called by the thread that holds the baton while no kernel is on its stack."""
        while True:
            if self.error is not None:
                if self.waiting:
                    self.waiting.pop(0).lock.release()
                    return
                break
            ready = next((waiter for waiter in self.waiting if waiter.ready()), None)
            if ready is not None:
                self._resume(ready)
                return
            if self.next_place < len(self.places):
                self.next_place += 1
                self._run(self.places[self.next_place - 1])
            elif self.waiting:
                self.waiting[0].failed = True
                self._resume(self.waiting[0])
                return
            else:
                break
        self.done.set()

    def _resume(self, waiter: Waiter) -> None:
        self.waiting.remove(waiter)
        waiter.lock.release()

    def _run(self, place: Any) -> None:
        core = self.enter(place)
        token = current.core.set(core)
        try:
            with np.errstate(all="ignore"), contextlib.suppress(Serving):
                self.body()
            self.leave(core)
        except _Abandoned:
            pass
        except BaseException as error:
            self.error = self.error or error
        finally:
            current.core.reset(token)

    def wait(
        self,
        core: Core,
        ready: Callable[[], bool],
        why: Callable[[], str],
        site: Site,
        stuck: Callable[[list[Waiter]], BaseException] | None,
    ) -> None:
        """The running core gives up its turn at `site` until `ready()`.

        Where that can never be it raises `stuck(waiters)`, or goes on all the same if there is no `stuck`.
        """
        if ready():
            return
        waiter = Waiter(core, ready, why, site)
        self.waiting.append(waiter)
        self.waiting.sort(key=lambda w: w.core.serial)
        context = contextvars.copy_context()
        threading.Thread(target=context.run, args=(self._loop,), daemon=True).start()
        waiter.lock.acquire()
        if self.error is not None:
            raise _Abandoned
        if waiter.failed and stuck is not None:
            raise stuck([waiter, *self.waiting])

    def others_can_run(self) -> bool:
        """Whether a core other than the one that runs now could."""
        return self.next_place < len(self.places) or any(waiter.ready() for waiter in self.waiting)

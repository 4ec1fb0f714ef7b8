"""What is shown while a run goes on: a bar on a terminal or in a notebook, a line now and then elsewhere."""

from __future__ import annotations

import sys
import time

WIDTH = 14
BETWEEN_LINES = 5.0
"""Seconds between two lines where there is no terminal."""


class Progress:
    """Shows the events of a run on standard error.

    >>> from coldlink.progress import Progress
    >>> shown = Progress()
    >>> shown.started("search", 0, 100)
    >>> shown.state(25, 0.5)
    'search [===           ] 25/100, loss 0.500'
    """

    def __init__(self) -> None:
        self._bar = sys.stderr.isatty() or "ipykernel" in sys.modules
        self._name, self._steps, self._found = "", 0, ""
        self._started = self._told = time.monotonic()
        self._length = 0

    def started(self, name: str, step: int, steps: int) -> None:
        """A phase begins."""
        self._name, self._steps, self._found = name, steps, ""
        self._started = self._told = time.monotonic()

    def validated(self, auc: float, ap: float) -> None:
        """The model was validated."""
        self._found = f", AUC {auc:.3f}, AP {ap:.3f}"

    def advanced(self, step: int, loss: float) -> None:
        """Some steps were done."""
        if self._bar:
            self._write("\r" + self.state(step, loss), end="")
        elif time.monotonic() - self._told > BETWEEN_LINES:
            self._told = time.monotonic()
            self._write(self.state(step, loss))

    def ended(self, step: int) -> None:
        """The phase is over."""
        self._clear()
        if not self._name.split(", ")[-1].startswith("trial"):
            self._write(f"{self._name}: {step} steps in {time.monotonic() - self._started:.1f} s{self._found}")

    def note(self, text: str) -> None:
        """Something to tell in a line."""
        self._clear()
        self._write(text)

    def state(self, step: int, loss: float) -> str:
        """A line that says how far the phase is."""
        bar = "=" * (WIDTH * step // max(self._steps, 1))
        return f"{self._name} [{bar:<{WIDTH}}] {step}/{self._steps}, loss {loss:.3f}{self._found}"

    def _clear(self) -> None:
        if self._bar and self._length:
            self._write("\r" + " " * self._length + "\r", end="")
            self._length = 0

    def _write(self, text: str, end: str = "\n") -> None:
        self._length = max(self._length, len(text)) if end == "" else 0
        sys.stderr.write(text + end)
        sys.stderr.flush()

"""What the user should know about input that was accepted, as a warning where the package was called."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

from coldlink.errors import LoadWarning

PACKAGE = str(Path(__file__).parent)


def notice(notes: list[str]) -> None:
    """One warning with all notes, at the line that called the package."""
    if not notes:
        return
    frame, depth = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_code.co_filename.startswith(PACKAGE):
        frame, depth = frame.f_back, depth + 1
    warnings.warn("; ".join(notes), LoadWarning, stacklevel=depth)

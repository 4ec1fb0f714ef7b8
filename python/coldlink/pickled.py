"""Files as bytes, for pickles: what the library keeps, it keeps in files."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")


def written(save: Callable[[str], None]) -> bytes:
    """What `save` writes to a file."""
    with tempfile.TemporaryDirectory(prefix="coldlink-") as folder:
        path = Path(folder, "pickled.coldlink")
        save(str(path))
        return path.read_bytes()


def opened(contents: bytes, open: Callable[[str], T]) -> T:
    """What `open` makes of a file with these contents."""
    # A mapped file stays readable after it is removed; where it cannot be removed, it is left.
    with tempfile.TemporaryDirectory(prefix="coldlink-", ignore_cleanup_errors=True) as folder:
        path = Path(folder, "pickled.coldlink")
        path.write_bytes(contents)
        return open(str(path))

"""Ctrl-C stops what takes long."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import world

# A shell ignores Ctrl-C on behalf of what it runs in the background, and programs inherit that.
PROGRAM = """
import signal, sys, coldlink
signal.signal(signal.SIGINT, signal.default_int_handler)
graph = coldlink.read(sys.argv[1])
model = coldlink.Model(preset="default", steps=1_000_000, patience=0)
print("ready", flush=True)
try:
    {call}
except KeyboardInterrupt:
    print("stopped", model.is_fitted, flush=True)
"""


@pytest.mark.parametrize("call", ["model.fit(graph)", "model.evaluate(graph)", "model.tune(graph)"])
def test_a_run_stops_within_seconds(call: str, tmp_path: Path) -> None:
    folder = world.write(tmp_path / "papers", *world.papers())
    line = [sys.executable, "-c", PROGRAM.format(call=call), str(folder)]
    with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as run:
        assert run.stdout is not None and run.stdout.readline() == "ready\n"
        time.sleep(0.5)
        run.send_signal(signal.SIGINT)
        try:
            said, _ = run.communicate(timeout=5)
        except subprocess.TimeoutExpired:
            run.kill()
            raise
        assert said == "stopped False\n"

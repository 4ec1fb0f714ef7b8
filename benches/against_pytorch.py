#!/usr/bin/env python3
"""A training step of DEAL: coldlink against PyTorch on the same graphs, batch size, width, steps and threads.

    python benches/against_pytorch.py                                  # every set, both encoders
    python benches/against_pytorch.py --sets cora --encoders linear    # a quick look
    python benches/against_pytorch.py --output results/2026-11-15-against-pytorch

The first run makes `benches/.venv` and installs numpy and torch there. Graphs are read from `DEAL_DATA`, or from `../shared/data`
beside the repository. Both sides draw a batch (40 % linked pairs), look up the weights of the unlinked ones, run forward, backward and Adam;
both train the encoder and the structure table with loose alignment under the cosine. The encoders: `linear`, one matrix without
bias; `mlp`, attributes -> width, ELU, -> width, with biases. The two sides take turns, because a machine's speed drifts; the medians are compared.
What PyTorch offers for the step is tried first, and its fastest variant on that set is the one compared (see pytorch_peer.py).
"""

import argparse
import csv
import dataclasses
import json
import os
import platform
import shlex
import statistics
import subprocess
import sys
import time
import venv
from pathlib import Path

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parent
ENVIRONMENT = HERE / ".venv"
EXAMPLE = REPOSITORY / "crates/coldlink/examples/train_speed.rs"
QUIET_CORES = 0.2
SETS = ["cora", "citeseer", "cs", "photo"]


def enter_environment():
    """Runs this script again inside its own virtual environment, which is made when missing."""
    if Path(sys.prefix).resolve() == ENVIRONMENT.resolve():
        return
    python = ENVIRONMENT / "bin/python"
    if not (python.exists() and can_import_torch(python)):
        print(f"making {ENVIRONMENT.relative_to(REPOSITORY)} with numpy and torch", file=sys.stderr)
        venv.create(ENVIRONMENT, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "numpy", "torch"], check=True)
    os.execv(python, [str(python), *sys.argv])


def can_import_torch(python):
    return subprocess.run([python, "-c", "import numpy, torch"], capture_output=True).returncode == 0


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", nargs="+", default=SETS, metavar="SET")
    parser.add_argument("--encoders", nargs="+", default=["linear", "mlp"], choices=["linear", "mlp"], metavar="ENCODER")
    parser.add_argument("--side", choices=["both", "coldlink", "pytorch"], default="both")
    parser.add_argument("--batch-share", type=float, default=0.1, help="pairs in a batch, as a share of the nodes")
    parser.add_argument("--width", type=int, default=64)
    parser.add_argument("--steps", type=int, default=320, help="timed steps in a repetition")
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2, help="for coldlink; PyTorch uses as many or one, as is faster")
    parser.add_argument("--patience", type=int, default=0,
                        help="how often to repeat a measurement that other processes disturbed: two threads that wait for "
                             "each other suffer most, which is unfair to PyTorch")
    parser.add_argument("--no-compile", action="store_true", help="do not try torch.compile")
    parser.add_argument("--no-own-gradient", action="store_true",
                        help="leave out the variant whose backward pass is written by hand: PyTorch's own operations only")
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("DEAL_DATA", REPOSITORY.parent / "shared/data")))
    parser.add_argument("--output", type=Path, help="folder for rows.csv and summary.md")
    return parser.parse_args()


@dataclasses.dataclass
class Row:
    set: str
    encoder: str
    side: str
    variant: str
    batch: int
    width: int
    steps: int
    repetition: int
    milliseconds_per_step: float
    first_loss: float | None
    last_loss: float | None
    others_cores: float | None


class OthersCores:
    """How many cores other processes kept busy meanwhile: a row with much of it says little. Known on Linux only."""

    def __enter__(self):
        self.start, self.value = self.now(), None
        return self

    def __exit__(self, *_):
        if self.start:
            wall, busy, own = (after - before for after, before in zip(self.now(), self.start))
            self.value = max(0.0, round((busy - own) / wall, 2))

    @staticmethod
    def now():
        if not Path("/proc/stat").exists():
            return None
        user, nice, system, _idle, _wait, interrupt, soft_interrupt, steal = map(
            int, Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9])
        busy = (user + nice + system + interrupt + soft_interrupt + steal) / os.sysconf("SC_CLK_TCK")
        return time.monotonic(), busy, sum(os.times()[:4])


class Coldlink:
    name = "coldlink"

    def __init__(self, path, encoder, batch, options):
        flags = ["--encoder", encoder, "--batch", batch, "--width", options.width, "--steps", options.steps]
        self.command = [str(part) for part in [
            "cargo", "run", "--quiet", "--release", "-p", "coldlink", "--example", "train_speed", "--",
            path, *flags, "--threads", options.threads, "--json"]]
        self.asked = {"batch": batch, "width": options.width, "steps": options.steps}
        self.variant = f"{options.threads} threads"

    def measure(self):
        done = subprocess.run(self.command, cwd=REPOSITORY, check=True, stdout=subprocess.PIPE, text=True)
        found = json.loads(done.stdout.strip().splitlines()[-1])
        differing = {key: (found[key], value) for key, value in self.asked.items() if found.get(key, value) != value}
        assert not differing, f"coldlink measured something else than was asked (found, asked): {differing}"
        return found["milliseconds_per_step"], found.get("first_loss"), found.get("last_loss")


class PyTorch:
    name = "PyTorch"

    def __init__(self, graph, encoder, batch, options):
        import pytorch_peer
        import torch

        torch._dynamo.reset()
        self.setting = (graph, encoder, batch, options.width)
        self.steps = options.steps
        self.make_trainer = pytorch_peer.Trainer
        self.variant = pytorch_peer.fastest_variant(
            *self.setting, threads=options.threads, try_compile=not options.no_compile,
            own_gradient=not options.no_own_gradient, report=self.report)

    @staticmethod
    def report(field, timings):
        print(f"    {field}: " + ", ".join(f"{option} {value:.2f} ms" for option, value in timings.items()), file=sys.stderr)

    def measure(self):
        trainer = self.make_trainer(*self.setting, self.variant)
        early, _ = trainer.run(32)
        losses, milliseconds = trainer.run(self.steps)
        first, last = early[:16].mean().item(), losses[-16:].mean().item()
        assert last < first, f"PyTorch's loss rose from {first} to {last}: it does not train"
        return milliseconds, first, last


def sides_of(path, graph, encoder, batch, options):
    if options.side != "pytorch":
        yield Coldlink(path, encoder, batch, options)
    if options.side != "coldlink":
        yield PyTorch(graph, encoder, batch, options)


def measure(options):
    import pytorch_peer

    for name in options.sets:
        path = options.data / f"{name}.npz"
        graph = pytorch_peer.load_graph(path)
        batch = int(options.batch_share * graph.node_count)
        for encoder in options.encoders:
            print(f"{name}, {encoder}, {batch} pairs", file=sys.stderr)
            sides = list(sides_of(path, graph, encoder, batch, options))
            for repetition in range(options.repetitions):
                for side in sides:
                    found, others = measure_in_quiet(side, options.patience)
                    print(f"    {side.name}: {found[0]:.3f} ms, others on {others} cores", file=sys.stderr)
                    yield Row(name, encoder, side.name, str(side.variant), batch, options.width, options.steps,
                              repetition, *found, others)


def measure_in_quiet(side, patience):
    while True:
        with OthersCores() as others:
            found = side.measure()
        if (others.value or 0) <= QUIET_CORES or patience == 0:
            return found, others.value
        patience -= 1


def losses_of(row):
    return "" if row.first_loss is None else f"{row.first_loss:.3f} to {row.last_loss:.3f}"


def table(rows):
    """One line per set and encoder: median (lowest) milliseconds per step of either side."""
    header = ["set", "encoder", "pairs", "coldlink ms", "PyTorch ms", "times faster", "coldlink loss", "PyTorch loss", "PyTorch variant"]
    lines = [header]
    for name, encoder, batch in dict.fromkeys((row.set, row.encoder, row.batch) for row in rows):
        chosen = {side: [row for row in rows if (row.set, row.encoder, row.side) == (name, encoder, side)]
                  for side in ("coldlink", "PyTorch")}
        times = {side: [row.milliseconds_per_step for row in found] for side, found in chosen.items()}
        medians = {side: statistics.median(found) for side, found in times.items() if found}
        cells = [f"{medians[side]:.3f} ({min(times[side]):.3f})" if side in medians else "" for side in times]
        faster = f"{medians['PyTorch'] / medians['coldlink']:.1f}" if len(medians) == 2 else ""
        losses = [losses_of(found[-1]) if found else "" for found in chosen.values()]
        variant = chosen["PyTorch"][-1].variant if chosen["PyTorch"] else ""
        lines.append([name, encoder, str(batch), *cells, faster, *losses, variant])
    widths = [max(len(line[column]) for line in lines) for column in range(len(header))]
    text = ["| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths)) + " |" for line in lines]
    return "\n".join([text[0], "|" + "|".join("-" * (width + 2) for width in widths) + "|", *text[1:]])


def processor():
    for line in Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []:
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def summary(rows, options):
    import torch

    busy = sum((row.others_cores or 0) > QUIET_CORES for row in rows)
    return "\n".join([
        "# A training step: coldlink against PyTorch",
        "",
        f"    python {shlex.join(['benches/against_pytorch.py', *sys.argv[1:]])}",
        "",
        f"- processor: {processor()}, {os.cpu_count()} cores",
        f"- PyTorch {torch.__version__}, Python {platform.python_version()}, {platform.system()}",
        f"- {options.steps} steps a repetition, {options.repetitions} repetitions, the sides in turn; width {options.width}",
        f"- {busy} of {len(rows)} rows measured while other processes used more than {QUIET_CORES} cores",
        "",
        "Milliseconds per step: median (lowest). A step draws its batch, looks up the weights, and runs forward, backward and Adam.",
        "Losses: the first 16 steps, and the last 16.",
        "",
        table(rows),
        "",
    ])


def write(rows, options):
    options.output.mkdir(parents=True, exist_ok=True)
    with open(options.output / "rows.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, [field.name for field in dataclasses.fields(Row)])
        writer.writeheader()
        writer.writerows(dataclasses.asdict(row) for row in rows)
    (options.output / "summary.md").write_text(summary(rows, options))


def main():
    enter_environment()
    options = arguments()
    if options.side != "pytorch" and not EXAMPLE.exists():
        print(f"{EXAMPLE.relative_to(REPOSITORY)} is missing: measuring PyTorch alone", file=sys.stderr)
        options.side = "pytorch"
    import torch

    # Moments of rows that are no longer touched decay into denormals, which would slow the dense Adam down.
    torch.set_flush_denormal(True)
    rows = []
    for row in measure(options):
        rows.append(row)
        if options.output:
            write(rows, options)
    print(table(rows))


if __name__ == "__main__":
    main()

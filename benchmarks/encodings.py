"""Every speed that the project claims, beside its peers and the limit of the hardware.

    python -m benchmarks.encodings [--rounds 25] [--compile] [--smoke] [--device cuda] [--out FILE]

Everything is measured three times, each time in a process of its own: with the C library's default
allocation; with memory that it keeps, so that a fresh result costs no page faults; and, allocated by default,
beside a process that keeps one core busy. Ctrl-C stops it, and writes nothing.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

BUSY = "beside a busy process"
CIRCUMSTANCES = {
    "default": {},
    # mmap_max=0 takes large blocks from the heap. Without the second setting the C library gives
    # the heap's end back at once, and the next block faults its pages in again.
    "no page faults": {"GLIBC_TUNABLES": "glibc.malloc.mmap_max=0:glibc.malloc.trim_threshold=17179869184"},
    BUSY: {},
}
"""What each is called -> what it sets in the environment."""
RESULTS = Path(__file__).parent / "results"
FORMAT = 1
INTERRUPTED = 130
"""The exit code of what Ctrl-C stopped, as shells have it."""


def run_rows(
    allocation: str,
    *,
    rounds: int,
    smoke: bool = False,
    device: str = "cpu",
    compiled: bool = False,
    threads: int = 2,
) -> dict[str, Any]:
    """Time every row in this process, whose circumstances must already be what is named."""
    import torch
    from tqdm import tqdm

    from benchmarks.cases import FULL, SMOKE, Setting, all_work
    from benchmarks.measure import measure

    torch.set_num_threads(threads)
    setting = Setting(SMOKE if smoke else FULL, device, compiled)
    makers = all_work(setting)
    rows = []
    progress = tqdm(total=len(makers) * rounds, desc=allocation, file=sys.stderr, leave=False)
    with torch.no_grad(), progress as bar:
        for make in makers:
            torch.compiler.reset()  # else PyTorch counts shapes of other rows as recompilations, and gives up
            work = make()
            bar.set_postfix_str(work.id)
            rows.append(measure(work, rounds, device=device, tick=bar.update))
    return {
        "allocation": allocation,
        "environment": CIRCUMSTANCES[allocation],
        "rows": rows,
        "skipped": setting.skipped,
    }


def run_all(options: argparse.Namespace) -> dict[str, Any]:
    """All circumstances, each in its own process; then what needs fresh interpreters anyway."""
    from tqdm import tqdm

    from benchmarks.cases import FULL, SMOKE
    from benchmarks.measure import import_times, machine, memory, versions

    runs = [_in_own_process(name, options) for name in circumstances_of(options.device)]
    found: dict[str, Any] = {
        "format": FORMAT,
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "command": "python -m benchmarks.encodings " + " ".join(options.given),
        "rounds": options.rounds,
        "smoke": options.smoke,
        "machine": machine(options.device, options.threads),
        "versions": versions(),
        "runs": runs,
    }
    if options.device == "cpu":
        import_rounds = 1 if options.smoke else 5
        with tqdm(total=import_rounds + 1, desc="imports", file=sys.stderr, leave=False) as bar:
            found["imports"] = import_times(import_rounds, tick=bar.update)
        found["memory"] = memory(SMOKE if options.smoke else FULL, options.threads)
    return found


def circumstances_of(device: str) -> list[str]:
    """Those that can be had: a GPU has the first alone, and only glibc can be told how to allocate."""
    if device != "cpu":
        return ["default"]
    glibc = platform.libc_ver()[0] == "glibc"
    return [name for name, environment in CIRCUMSTANCES.items() if glibc or not environment]


@contextmanager
def _busy_process() -> Iterator[None]:
    """A core that has something else to do for as long as this lasts."""
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as other:
        try:
            yield
        finally:
            other.kill()


def _in_own_process(allocation: str, options: argparse.Namespace) -> dict[str, Any]:
    """Run this module in these circumstances alone; the environment is set before Python starts."""
    allocators = ("GLIBC_TUNABLES", "MALLOC_", "LD_PRELOAD")
    environment = {k: v for k, v in os.environ.items() if not k.startswith(allocators)}
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "run.json"
        command = [sys.executable, "-m", "benchmarks.encodings", *options.given]
        command += ["--only", allocation, "--out", str(out)]
        environment |= CIRCUMSTANCES[allocation]
        with _busy_process() if allocation == BUSY else nullcontext():
            finished = subprocess.run(command, env=environment, check=False)
        if finished.returncode == INTERRUPTED:
            raise KeyboardInterrupt
        if finished.returncode:
            sys.exit(finished.returncode)
        run: dict[str, Any] = json.loads(out.read_text())
        return run


def default_out(options: argparse.Namespace) -> Path:
    """A file name that says what hardware, and nothing of whose."""
    if options.device == "cpu":
        from benchmarks.measure import cpu_name

        return RESULTS / f"cpu-{_slug(cpu_name())}-{options.threads}-threads.json"
    import torch

    return RESULTS / f"gpu-{_slug(torch.cuda.get_device_name())}.json"


def _slug(name: str) -> str:
    """Lower case, without what is no word of it: "Intel(R) Xeon(R) Processor" gives "intel-xeon"."""
    words = re.sub(r"\((r|tm)\)|\b(processor|cpu)\b|@.*", " ", name.lower())
    return re.sub(r"[^a-z0-9]+", "-", words).strip("-")


def parse(arguments: list[str]) -> argparse.Namespace:
    description = (__doc__ or "").partition("\n")[0]
    parser = argparse.ArgumentParser(prog="python -m benchmarks.encodings", description=description)
    parser.add_argument("--rounds", type=int, default=25, help="how often each way is timed (25)")
    parser.add_argument("--threads", type=int, default=2, help="threads of torch (2)")
    parser.add_argument("--compile", action="store_true", help="also what needs torch.compile")
    parser.add_argument("--smoke", action="store_true", help="tiny sizes, to see that all of it runs")
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--out", type=Path, help="where to write (benchmarks/results/, by the hardware)")
    parser.add_argument("--only", choices=[*CIRCUMSTANCES], help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.rounds < 1:
        parser.error(f"--rounds {options.rounds}: give 1 or more")
    if options.threads < 1:
        parser.error(f"--threads {options.threads}: give 1 or more")
    if options.device == "cuda":
        import torch

        if not torch.cuda.is_available():
            parser.error("--device cuda: torch finds no CUDA device here; leave it away to measure the CPU")
    options.given = _without_out(arguments)
    return options


def _without_out(arguments: list[str]) -> list[str]:
    kept, skip = [], False
    for argument in arguments:
        if not skip and argument != "--out" and not argument.startswith("--out="):
            kept.append(argument)
        skip = argument == "--out"
    return kept


def main() -> None:
    options = parse(sys.argv[1:])
    try:
        if options.only:
            run = run_rows(
                options.only,
                rounds=options.rounds,
                smoke=options.smoke,
                device=options.device,
                compiled=options.compile,
                threads=options.threads,
            )
            options.out.write_text(json.dumps(run))
            return
        results = run_all(options)
    except KeyboardInterrupt:
        if not options.only:
            print("\ninterrupted; nothing was written", file=sys.stderr)
        sys.exit(INTERRUPTED)

    from benchmarks.speed import misses, speed_tables

    print(speed_tables(results))
    if not options.smoke:
        for miss in misses(results):
            print(f"above the goal: {miss}")
    out = options.out or (None if options.smoke else default_out(options))
    if out is not None:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(json.dumps(results, indent=1) + "\n")
        print(f"wrote {out}")


if __name__ == "__main__":
    main()

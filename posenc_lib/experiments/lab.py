"""Run an experiment: each run once, kept as soon as it is done, all of them in one JSON file at the end."""

from __future__ import annotations

import hashlib
import importlib
import json
import os
import platform
import shutil
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from datetime import date
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import torch
from tqdm import tqdm  # type: ignore[import-untyped]

import posenc_lib
from posenc_lib.experiments import NAMES
from posenc_lib.experiments.training import Bench

FORMAT = 1

Run = dict[str, Any]
"""Settings of one run, plain data, the seed among them."""


def module_of(name: str) -> Any:
    """The module of an experiment.

    Raises:
        ValueError: there is none of that name.
    """
    if name not in NAMES:
        raise ValueError(f"there is no experiment {name!r}; there are: {', '.join(NAMES)}")
    return importlib.import_module(f"posenc_lib.experiments.{NAMES[name]}")


def perform(
    name: str,
    *,
    steps: int | None = None,
    seeds: int | None = None,
    fast: bool = False,
    device: str = "cpu",
    jobs: int = 1,
    work: Path,
    progress: bool = False,
) -> dict[str, Any]:
    """Every run of an experiment, and what a reader needs to judge them.

    Runs that `work` holds already are not made again; one that was killed goes on from its checkpoint.

    Args:
        name: a key of `NAMES`.
        steps, seeds: training steps and number of seeds; None for the experiment's own.
        fast: the form for tests: under a minute for all experiments together.
        device: "cpu", "cuda", ...
        jobs: runs at the same time, each with its share of the cores.
        work: folder of finished runs and checkpoints.
        progress: show a bar.

    Raises:
        ValueError: an unknown experiment, steps, seeds or jobs below 1.
    """
    module = module_of(name)
    for what, count in (("steps", steps), ("seeds", seeds), ("jobs", jobs)):
        if count is not None and count < 1:
            raise ValueError(f"{what}={count}; give 1 or more")
    todo: list[Run] = list(module.runs(steps=steps, seeds=seeds, fast=fast))
    begun = time.monotonic()
    bar = tqdm(total=len(todo), desc=name, unit="run", disable=not progress)
    done = {}
    for key, outcome in _outcomes(name, todo, device, jobs, work, progress):
        done[key] = outcome
        bar.update()
    bar.close()
    return {
        "format": FORMAT,
        "experiment": name,
        "question": module.QUESTION,
        "command": _command(name, steps, seeds, fast, device, jobs),
        "date": date.today().isoformat(),
        "seconds": round(sum(each["seconds"] for each in done.values()), 1),
        "seconds_of_this_call": round(time.monotonic() - begun, 1),
        "versions": {
            "posenc_lib": posenc_lib.__version__,
            "python": platform.python_version(),
            "torch": torch.__version__,
            "numpy": np.__version__,
        },
        "hardware": hardware(device),
        "runs": [done[_key(run)] for run in todo],
    }


def hardware(device: str) -> dict[str, Any]:
    """What it ran on: the kind of processor, and the name of the accelerator if there was one."""
    found = {"machine": platform.machine(), "cores": os.cpu_count(), "device": device}
    if device.startswith("cuda"):
        found["accelerator"] = torch.cuda.get_device_name(device)
    return found


def _outcomes(
    name: str, todo: list[Run], device: str, jobs: int, work: Path, progress: bool
) -> Iterator[tuple[str, dict[str, Any]]]:
    left = []
    for run in todo:
        finished = work / name / f"{_key(run)}.json"
        if finished.exists():
            yield _key(run), json.loads(finished.read_text(encoding="utf-8"))
        else:
            left.append(run)
    if jobs == 1:
        for run in left:
            yield _key(run), _one(name, run, device, work, None, progress)
        return
    threads = max(1, (os.cpu_count() or 1) // jobs)
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        waiting = {pool.submit(_one, name, run, device, work, threads, False): run for run in left}
        try:
            for finished_run in as_completed(waiting):
                yield _key(waiting[finished_run]), finished_run.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _one(name: str, run: Run, device: str, work: Path, threads: int | None, progress: bool) -> dict[str, Any]:
    """Make one run, and keep it."""
    if threads is not None:
        torch.set_num_threads(threads)
    folder = work / name / _key(run)
    begun = time.monotonic()
    torch.manual_seed(run["seed"])
    result = module_of(name).measure(run, Bench(torch.device(device), folder, progress))
    outcome = {"run": run, "result": result, "seconds": round(time.monotonic() - begun, 2)}
    keep(outcome, folder.with_suffix(".json"))
    shutil.rmtree(folder, ignore_errors=True)  # checkpoints of a finished run
    return outcome


def keep(result: dict[str, Any], to: Path) -> None:
    """Write it as JSON, all of it or nothing. Numbers that are not finite are refused."""
    to.parent.mkdir(parents=True, exist_ok=True)
    half_written = to.with_suffix(".part")
    half_written.write_text(json.dumps(result, allow_nan=False) + "\n", encoding="utf-8")
    half_written.replace(to)


def _key(run: Run) -> str:
    return hashlib.sha256(json.dumps(run, sort_keys=True).encode()).hexdigest()[:16]


def _command(name: str, steps: int | None, seeds: int | None, fast: bool, device: str, jobs: int) -> str:
    given = [("--steps", steps), ("--seeds", seeds), ("--jobs", jobs if jobs > 1 else None)]
    words = [f"{flag} {value}" for flag, value in given if value is not None]
    words += ["--fast"] if fast else []
    words += [f"--device {device}"] if device != "cpu" else []
    return " ".join(["python -m posenc_lib.experiments", name, *words])


def main(arguments: list[str] | None = None) -> None:
    """The command line."""
    import argparse

    from posenc_lib.experiments.results import FOLDER

    parser = argparse.ArgumentParser(
        prog="python -m posenc_lib.experiments",
        description="Train small models, and keep what they show.",
        epilog="After an interruption give the same command again: it goes on where it was.",
    )
    parser.add_argument("name", nargs="*", choices=[*NAMES, []], metavar="NAME", help=", ".join(NAMES))
    parser.add_argument(
        "--steps", type=int, help="training steps of each run; by default the experiment's own"
    )
    parser.add_argument("--seeds", type=int, help="number of seeds; by default 3")
    parser.add_argument("--fast", action="store_true", help="the small form that the tests run")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--jobs", type=int, default=1, help="runs at the same time (1)")
    parser.add_argument(
        "--work", type=Path, default=Path("_build/experiments"), help="finished runs, checkpoints"
    )
    parser.add_argument("--out", type=Path, default=FOLDER, help="folder of the results")
    options = parser.parse_args(arguments)
    if not options.name:
        for name in NAMES:
            print(f"{name:24}{module_of(name).QUESTION}")
        return
    for name in options.name:
        try:
            result = perform(
                name,
                steps=options.steps,
                seeds=options.seeds,
                fast=options.fast,
                device=options.device,
                jobs=options.jobs,
                work=options.work,
                progress=True,
            )
        except KeyboardInterrupt:
            sys.exit("\nstopped; give the same command again to go on")
        except ValueError as error:
            sys.exit(f"error: {error}")
        keep(result, options.out / f"{name}.json")
        print(f"{name}: {len(result['runs'])} runs, {options.out / name}.json")

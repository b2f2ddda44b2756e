"""Run an experiment: each run once, kept as soon as it is done, all of them in one JSON file at the end."""

from __future__ import annotations

import importlib
import json
import os
import platform
import shlex
import shutil
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from datetime import date
from multiprocessing import get_context, parent_process
from pathlib import Path
from typing import Any

import numpy as np
import torch
from tqdm import tqdm

import posenc_lib
from posenc_course.experiments import LONG, NAMES, NEXT, gates, training
from posenc_course.experiments.keys import key_of
from posenc_course.experiments.training import Bench

FORMAT = 1

ADMITTED, NOT_ADMITTED = "admitted", "not admitted"

Run = dict[str, Any]
"""Settings of one run, plain data, the seed among them."""


def module_of(name: str) -> Any:
    """The module of an experiment.

    Raises:
        ValueError: there is none of that name.
    """
    modules = NAMES | LONG | NEXT
    if name not in modules:
        raise ValueError(f"there is no experiment {name!r}; the experiments are: {', '.join(modules)}")
    return importlib.import_module(f"posenc_course.experiments.{modules[name]}")


def chosen(names: Sequence[str], full: bool) -> list[tuple[str, bool]]:
    """The experiments that are asked for, each with whether its large form is.

    "all" is those that the book quotes and an evening is enough for. In full it is every one there is: in its
    large form where it has one.

    Raises:
        ValueError: there is none of that name, or it is asked for in full and has one size.
    """
    if list(names) == ["all"]:
        return [(name, full and has_full(name)) for name in (NAMES | LONG | NEXT if full else NAMES)]
    for name in names:
        if full and not has_full(name):
            raise ValueError(f"the experiment {name!r} has one size; leave out full (--full)")
        module_of(name)
    return [(name, full) for name in names]


def has_full(name: str) -> bool:
    """Whether there is a large form of it."""
    return getattr(module_of(name), "HAS_FULL", False)


def perform(
    name: str,
    *,
    steps: int | None = None,
    seeds: int | None = None,
    fast: bool = False,
    full: bool = False,
    device: str = "cpu",
    jobs: int = 1,
    only: Sequence[str] = (),
    work: Path,
    store: Path | None = None,
    progress: bool = False,
) -> dict[str, Any]:
    """Every run of an experiment, and what a reader needs to judge them.

    Runs that `work` or `store` holds already are not made again; one that was killed goes on from its
    checkpoint. What another version of the experiment left there is not used.

    Args:
        name: a key of `NAMES`.
        steps, seeds: training steps and number of seeds; None for the experiment's own.
        fast: the form for tests: under a minute for all experiments together.
        full: the large form, for days or a GPU, of an experiment that has one.
        device: "cpu", "cuda", ...
        jobs: runs at the same time, one thread each: the numbers do not depend on it.
        only: the encodings whose runs are to be made now; all where none is given.
        work: folder of finished runs and checkpoints.
        store: the file of the result. An experiment that `STORES_EACH` is written there after every run.
        progress: show a bar.

    Raises:
        ValueError: an unknown experiment; steps, seeds or jobs below 1; a run whose loss is no longer a
            number.
    """
    module = module_of(name)
    for what, count in (("steps", steps), ("seeds", seeds), ("jobs", jobs)):
        if count is not None and count < 1:
            raise ValueError(f"{what}={count}; give 1 or more")
    chosen([name], full)
    own = {"full": True} if full else {}
    todo: list[Run] = list(module.runs(steps=steps, seeds=seeds, fast=fast, **own))
    by_key = {_key(module, run, device): run for run in todo}
    command = _command(name, steps, seeds, fast, full, device)
    begun = time.monotonic()
    done: dict[str, dict[str, Any]] = _stored(store, by_key) if getattr(module, "STORES_EACH", False) else {}
    left = {key: run for key, run in by_key.items() if key not in done}
    if only:
        left = {key: run for key, run in left.items() if run.get("encoding") in only}
    if unknown := sorted({run["encoding"] for run in left.values() if run.get("rate", 0) is None}):
        raise ValueError(
            f"no learning rate is known yet for {', '.join(unknown)}; run the sweep first: "
            f"python -m posenc_course.experiments {module.SWEEP}{' --full' if full else ''}"
        )

    def report() -> dict[str, Any]:
        outcomes = [{"key": key} | done[key] | verdict(module, done[key]) for key in by_key if key in done]
        return _report(
            name, module.QUESTION, command, device, time.monotonic() - begun, outcomes, len(by_key)
        )

    with tqdm(total=len(todo), initial=len(done), desc=name, unit="run", disable=not progress) as bar:
        for key, outcome in _outcomes(name, left, device, jobs, work, progress):
            done[key] = outcome
            if store is not None and getattr(module, "STORES_EACH", False):
                keep(report(), store)
            bar.update()
    return report()


def verdict(module: Any, outcome: dict[str, Any]) -> dict[str, Any]:
    """Whether a run passes the gate of its experiment, and why not; nothing where there is no gate."""
    gate = gates.of(module)
    if gate is None:
        return {}
    lacks = gate.shortfall(outcome["run"], outcome["result"])
    if lacks is None:
        return {"verdict": ADMITTED}
    return {"verdict": NOT_ADMITTED, "reason": lacks}


def _stored(store: Path | None, by_key: dict[str, Run]) -> dict[str, dict[str, Any]]:
    """The outcomes of these runs that the file of the result holds. Gates are applied to them anew."""
    if store is None or not store.exists():
        return {}
    held = json.loads(store.read_text(encoding="utf-8"))["runs"]
    parts = ("run", "result", "seconds", "processor_seconds", "on")
    return {each["key"]: {part: each[part] for part in parts} for each in held if each.get("key") in by_key}


def _report(
    name: str,
    question: str,
    command: str,
    device: str,
    seconds: float,
    outcomes: list[dict[str, Any]],
    asked: int,
) -> dict[str, Any]:
    """What is stored of an experiment."""
    gate = gates.of(module_of(name))
    return {
        "format": FORMAT,
        "experiment": name,
        "question": question,
        **({} if gate is None else {"gate": gate.words}),
        "command": command,
        "date": date.today().isoformat(),
        "seconds": round(sum(each["seconds"] for each in outcomes), 1),
        "processor_seconds": round(sum(each["processor_seconds"] for each in outcomes), 1),
        "seconds_of_this_call": round(seconds, 1),
        "versions": {
            "posenc_lib": posenc_lib.__version__,
            "python": platform.python_version(),
            "torch": torch.__version__,
            "numpy": np.__version__,
        },
        "hardware": hardware(device),
        "runs_asked_for": asked,
        "runs": outcomes,
    }


def hardware(device: str) -> dict[str, Any]:
    """What it ran on: the processor, and the name of the accelerator if there was one."""
    found = {"processor": _processor(), "cores": os.cpu_count(), "device": device}
    if device.startswith("cuda"):
        found["accelerator"] = torch.cuda.get_device_name(device)
    return found


def _processor() -> str:
    """Its name, or its kind where the system does not tell the name."""
    listed = Path("/proc/cpuinfo")
    lines = listed.read_text(encoding="utf-8").splitlines() if listed.exists() else []
    named = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return named[0] if named else platform.processor() or platform.machine()


def _outcomes(
    name: str, todo: dict[str, Run], device: str, jobs: int, work: Path, progress: bool
) -> Iterator[tuple[str, dict[str, Any]]]:
    """The outcome of each run, as it becomes known."""
    left = {}
    for key, run in todo.items():
        finished = work / name / f"{key}.json"
        if finished.exists():
            yield key, json.loads(finished.read_text(encoding="utf-8"))
        else:
            left[key] = run
    if jobs == 1:
        for key, run in left.items():
            yield key, _one(name, key, run, device, work, progress)
        return
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn"), initializer=_end_with_parent) as pool:
        waiting = {pool.submit(_one, name, key, run, device, work, False): key for key, run in left.items()}
        try:
            for finished_run in as_completed(waiting):
                yield waiting[finished_run], finished_run.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _end_with_parent() -> None:
    """In a worker: end when the parent was killed, which would otherwise leave it waiting for ever."""

    def watch() -> None:
        parent = parent_process()
        assert parent is not None
        parent.join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _one(name: str, key: str, run: Run, device: str, work: Path, progress: bool) -> dict[str, Any]:
    """Make one run, and keep it."""
    folder = work / name / key
    begun, worked = time.monotonic(), time.process_time()
    torch.manual_seed(run["seed"])
    with _one_thread():
        result = module_of(name).measure(run, Bench(torch.device(device), folder, progress, work / "models"))
    outcome = {
        "run": run,
        "result": result,
        "seconds": round(time.monotonic() - begun, 2),
        "processor_seconds": round(time.process_time() - worked, 2),  # after a kill: since it went on
        "on": hardware(device).get("accelerator") or _processor(),
    }
    try:
        keep(outcome, folder.with_suffix(".json"))
    except ValueError:
        raise ValueError(f"the run {run} produced a number that is not finite; try a lower rate") from None
    shutil.rmtree(folder, ignore_errors=True)  # checkpoints of a finished run
    return outcome


@contextmanager
def _one_thread() -> Iterator[None]:
    """Sums depend on how many threads share them: with one, every machine and every `jobs` does the same."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def keep(result: dict[str, Any], to: Path) -> None:
    """Write it as JSON, all of it or nothing.

    Raises:
        ValueError: a number in it is not finite.
    """
    text = json.dumps(result, allow_nan=False)
    to.parent.mkdir(parents=True, exist_ok=True)
    half_written = to.with_suffix(".part")
    half_written.write_text(text + "\n", encoding="utf-8")
    half_written.replace(to)


def _key(module: Any, run: Run, device: str) -> str:
    """Differs where a run would: by its settings, the device, and the code of experiment and training."""
    parts = (*getattr(module, "PARTS", (module,)), training)
    return key_of(run, parts, "" if getattr(module, "STORES_EACH", False) else device)


def _command(
    name: str,
    steps: int | None,
    seeds: int | None,
    fast: bool,
    full: bool,
    device: str,
) -> str:
    """What gives the same result again; how many runs at once makes no difference to it."""
    words = ["python", "-m", "posenc_course.experiments", name]
    for flag, value in (("--steps", steps), ("--seeds", seeds)):
        words += [] if value is None else [flag, str(value)]
    words += (["--fast"] if fast else []) + (["--full"] if full else [])
    return shlex.join([*words, "--device", device])


def main(arguments: list[str] | None = None) -> None:
    """The command line."""
    import argparse

    from posenc_course.experiments.results import path_of

    parser = argparse.ArgumentParser(
        prog="python -m posenc_course.experiments",
        description="Train small models and store what they show.",
        epilog="After an interruption, give the same command again: it continues where it stopped.",
    )
    parser.add_argument(
        "name",
        nargs="*",
        metavar="NAME",
        help=f"{', '.join(NAMES | LONG | NEXT)}; or all, for those that an evening is enough for (--full: "
        "every one). Without a name they are listed.",
    )
    parser.add_argument(
        "--steps", type=int, help="training steps of each run; by default the experiment's own"
    )
    parser.add_argument("--seeds", type=int, help="number of seeds; by default the experiment's own")
    parser.add_argument("--fast", action="store_true", help="the small form that the tests run")
    parser.add_argument(
        "--full", action="store_true", help="the large form, for days or a GPU; kept next to the other"
    )
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--jobs", type=int, help="runs at the same time; by default one per core, at most 4")
    parser.add_argument(
        "--only",
        nargs="+",
        default=(),
        metavar="ENCODING",
        help="make only the runs of these now",
    )
    parser.add_argument(
        "--work", type=Path, default=Path("_build/experiments"), help="finished runs, checkpoints"
    )
    parser.add_argument(
        "--out",
        type=Path,
        help="folder of the results; by default that of the book, or the folder of --work where --steps, "
        "--seeds or --fast is given",
    )
    options = parser.parse_args(arguments)
    own = options.steps is options.seeds is None and not options.fast

    def place(name: str, full: bool) -> Path:
        """Of its result. A trial never replaces what the book quotes."""
        there = path_of(name, full)
        folder = options.out or (None if own else options.work)
        return there if folder is None else Path(folder / there.name)

    jobs = options.jobs
    if jobs is None:
        jobs = min(4, os.cpu_count() or 1) if options.device == "cpu" else 1
    try:
        # All of them at once: a misspelt name ends it before the first experiment, not after it.
        experiments = chosen(options.name, options.full)
        for name, full in experiments:
            store = place(name, full)
            result = perform(
                name,
                steps=options.steps,
                seeds=options.seeds,
                fast=options.fast,
                full=full,
                device=options.device,
                jobs=jobs,
                only=options.only,
                work=options.work,
                store=store,
                progress=True,
            )
            keep(result, store)
            if publish := getattr(module_of(name), "publish", None):
                publish(result, options.work / "models", store.with_suffix(""))
            print(f"{name}: {len(result['runs'])} runs, {store}")
            for each in result["runs"]:
                if each.get("verdict") == NOT_ADMITTED:
                    print(f"  not admitted: {_short(each['run'])}: {each['reason']}")
    except KeyboardInterrupt:
        sys.exit("\nstopped; give the same command again to continue")
    except ValueError as error:
        sys.exit(f"error: {error}")
    if not experiments:
        for name in NAMES:
            print(f"{name:24}{_minutes(path_of(name)):>17}  {module_of(name).QUESTION}")
        for told, names in (("long: days, or a GPU", LONG), ("new, not in the book yet", NEXT)):
            for name in names:
                print(f"{name:24}{'':17}  ({told}) {module_of(name).QUESTION}")


def _minutes(stored: Path) -> str:
    """How long one core worked on a stored result, in words; nothing where there is none."""
    if not stored.exists():
        return ""
    seconds = json.loads(stored.read_text(encoding="utf-8"))["processor_seconds"]
    return f"{round(seconds / 60)} min of a core"


def _short(run: Run) -> str:
    """The settings that tell the runs of one experiment apart."""
    return ", ".join(
        f"{key} {run[key]}" for key in ("task", "encoding", "rule", "rate", "seed") if key in run
    )

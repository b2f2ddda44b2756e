"""How it is timed: round by round, so that what disturbs the machine disturbs all alike."""

from __future__ import annotations

import gc
import json
import os
import platform
import random
import statistics
import subprocess
import sys
from collections.abc import Callable, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from time import perf_counter
from typing import Any

import torch

from benchmarks.cases import Contender, Sizes, Work

SHORTEST = 2e-3
"""Seconds that one sample takes at least: what is quicker is repeated, and the time shared out."""

PACKAGES = (
    "posenc_lib",
    "torch",
    "numpy",
    "transformers",
    "rotary-embedding-torch",
    "x-transformers",
    "timm",
    "diffusers",
    "positional-encodings",
    "torchtune",
    "liger-kernel",
    "flash-attn",
)

IMPORTS = {
    "posenc_lib": "ours",
    "numpy": "limit",
    "torch": "reference",
    "rotary_embedding_torch": "peer",
    "x_transformers": "peer",
    "transformers.models.llama.modeling_llama": "peer",
    "diffusers.models.embeddings": "peer",
    "timm": "peer",
}


def measure(
    work: Work, rounds: int, *, device: str = "cpu", tick: Callable[[], object] = bool
) -> dict[str, Any]:
    """Check that all contenders agree, then time them, `rounds` times each, in a new order every round.

    Returns:
        What the work is, and for each contender quartiles of its seconds and of its multiples of the unit
        (the same round's time of the unit, so that a slow moment cancels).
    """
    sample = _cuda_sample if device != "cpu" else _cpu_sample
    entries, calls = list(work.contenders), {}
    off = {}
    for each in entries:
        off[each.name] = each.off_by()
        once = min(sample(each.call, 1) for _ in range(3))
        calls[each.name] = max(1, min(1000, int(SHORTEST / max(once, 1e-9))))
    seconds: dict[str, list[float]] = {each.name: [] for each in entries}
    order = random.Random(0)
    gc.collect()
    gc.disable()
    try:
        for _ in range(rounds):
            for each in order.sample(entries, len(entries)):
                seconds[each.name].append(sample(each.call, calls[each.name]))
            tick()
    finally:
        gc.enable()
    unit = _unit(work, seconds)
    return {
        "id": work.id,
        "title": work.title,
        "limit": work.limit,
        "unit": unit,
        "unit_is": work.unit,
        "at_most": work.at_most,
        "contenders": [_summary(each, seconds, unit, off[each.name]) for each in entries],
    }


def _unit(work: Work, seconds: dict[str, list[float]]) -> str:
    kind = "limit" if work.unit == "limit" else "peer"
    right = [each.name for each in work.contenders if each.kind == kind and each.wrong is None]
    return min(right, key=lambda name: statistics.median(seconds[name]))


def _summary(
    each: Contender, seconds: dict[str, list[float]], unit: str, off: float | None
) -> dict[str, Any]:
    own = seconds[each.name]
    return {
        "name": each.name,
        "kind": each.kind,
        "seconds": quartiles(own),
        "least_seconds": min(own),
        "most_seconds": max(own),
        "multiple": quartiles([a / b for a, b in zip(own, seconds[unit], strict=True)]),
        "off_by": off,
        "wrong": each.wrong,
    }


def quartiles(numbers: Sequence[float]) -> list[float]:
    """Lower quartile, median, upper quartile."""
    if len(numbers) == 1:
        return [numbers[0]] * 3
    return statistics.quantiles(numbers, n=4, method="inclusive")


def _cpu_sample(call: Callable[[], Any], calls: int) -> float:
    start = perf_counter()
    for _ in range(calls):
        call()
    return (perf_counter() - start) / calls


def _cuda_sample(call: Callable[[], Any], calls: int) -> float:
    """By the GPU's own clock. A first call is in flight before it starts, which hides the launch."""
    start, stop = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    torch.cuda.synchronize()
    call()
    start.record()
    for _ in range(calls):
        call()
    stop.record()
    torch.cuda.synchronize()
    return float(start.elapsed_time(stop)) / 1e3 / calls


# ---- what needs a fresh interpreter

_IMPORT = """
import time
start = time.perf_counter()
import {name}
print(time.perf_counter() - start)
"""

_MEMORY = """
import json, resource
import torch
import torch.nn.functional as F
from posenc_lib.biased import alibi_attention

def peak():
    try:
        with open("/proc/self/status") as status:
            return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

torch.set_num_threads({threads})
attend = {{
    "ours": lambda q, k, v: alibi_attention(q, k, v),
    "limit": lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True),
}}[{kind!r}]
with torch.no_grad():
    attend(*torch.randn(3, 1, {heads}, 256, 64))  # what a first call loads is not its working memory
    q, k, v = torch.randn(3, 1, {heads}, {keys}, 64)
    before = peak()
    result = attend(q, k, v)
    print(json.dumps({{"bytes": peak() - before, "result_bytes": result.nbytes}}))
"""


def import_times(rounds: int, tick: Callable[[], object] = bool) -> dict[str, Any]:
    """Seconds that an import takes in a fresh interpreter, all in turn; the first round warms up."""
    seconds: dict[str, list[float]] = {}
    missing: dict[str, str] = {}
    for turn in range(rounds + 1):
        for name in IMPORTS:
            if name in missing:
                continue
            finished = _fresh(_IMPORT.format(name=name))
            if finished.returncode:
                missing[name] = finished.stderr.strip().splitlines()[-1]
            elif turn:
                seconds.setdefault(name, []).append(float(finished.stdout.split()[-1]))
        tick()
    return {
        "at_most_seconds": 0.15,
        "rounds": rounds,
        "modules": [
            {"name": name, "kind": IMPORTS[name], "seconds": quartiles(own)} for name, own in seconds.items()
        ],
        "missing": missing,
    }


def memory(sizes: Sizes, threads: int, heads: int = 2) -> dict[str, Any]:
    """How far the peak of resident memory grows in one causal attention over many keys."""
    keys = sizes.long_keys
    found = {}
    for kind in ("limit", "ours"):
        code = _MEMORY.format(kind=kind, threads=threads, heads=heads, keys=keys)
        finished = _fresh(code)
        if finished.returncode:
            raise RuntimeError(f"attention over {keys:,} keys failed:\n{finished.stderr}")
        found[kind] = json.loads(finished.stdout)
    return {"keys": keys, "heads": heads, "n_by_n_bytes": heads * keys * keys * 4, **found}


def _fresh(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


# ---- where it was measured


def machine(device: str, threads: int) -> dict[str, Any]:
    found: dict[str, Any] = {
        "cpu": cpu_name(),
        "cores": os.cpu_count(),
        "instructions": torch.backends.cpu.get_cpu_capability(),
        "threads": threads,
        "system": f"{platform.system()} {platform.machine()}, {' '.join(platform.libc_ver())}".strip(", "),
        "python": platform.python_version(),
        "device": device,
    }
    if device != "cpu":
        found["gpu"] = torch.cuda.get_device_name()
    return found


def versions() -> dict[str, str]:
    found = {}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def cpu_name() -> str:
    """Its name, or its kind where the system does not tell the name."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()

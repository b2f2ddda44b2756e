"""Which engine runs a trained byte model in a page, in Chromium: what each weighs, and how long it takes.

    python -m benchmarks.engines [--rounds 3] [--only tfjs plain]

The same model (RoPE, 0.8 million weights) reads the same text in each of them, in a worker of a page without
cross-origin isolation, as the book's are: at once what comes first, then byte by byte. Each round begins with
a browser of its own. Packages: those of `benchmarks/engines/package.json` and of book/web (`npm ci` in both).
onnxruntime-web wants a graph: it is left out where onnx and onnxscript are not installed.
"""

from __future__ import annotations

import argparse
import gzip
import importlib.util
import json
import os
import platform
import shutil
import statistics
import subprocess
import tempfile
import time
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import torch
from playwright.sync_api import sync_playwright
from torch import Tensor, nn
from torch.nn import functional as F

from benchmarks.pages import served
from book.chromium import FLAGS, find
from posenc_course import trained
from posenc_course.experiments import export, source_text
from posenc_course.experiments.decoder import Decoder
from posenc_course.experiments.page_tables import place

ROOT = Path(__file__).resolve().parent.parent
HERE = ROOT / "benchmarks" / "engines"
RESULT = ROOT / "benchmarks" / "results" / "pages" / "engines.json"
MODEL = "rope"
LENGTHS = (256, 1024)

WASM = {
    "plain": (),
    "tfjs": ("@tensorflow/tfjs-backend-wasm/wasm-out/tfjs-backend-wasm-simd.wasm",),
    "jax": (),
    "ort": (
        "onnxruntime-web/dist/ort-wasm-simd-threaded.mjs",
        "onnxruntime-web/dist/ort-wasm-simd-threaded.wasm",
    ),
}
"""engine -> what its script asks for besides, in node_modules."""
PACKAGES = {"tfjs": "@tensorflow/tfjs-backend-wasm", "jax": "@jax-js/jax", "ort": "onnxruntime-web"}
IN_WORKER = """([address, given]) => new Promise((resolve, reject) => {
  const worker = new Worker(address, { type: "module" });
  worker.onmessage = ({ data }) => data.error ? reject(new Error(data.error)) : resolve(data);
  worker.onerror = (event) => reject(new Error(event.message));
  worker.postMessage(given);
})"""


def decoder_of(content: bytes) -> Decoder:
    """The model of an exported file, in PyTorch."""
    told = trained.read(content).settings
    numbers = {name: int(told[name]) for name in ("dim", "heads", "layers", "length")}
    return export.loaded(content, {"encoding": told["encoding"], "base": float(told["base"]), **numbers})


# --- a graph for onnxruntime-web


class Graph(nn.Module):
    """The model as a function of its memory and of what the doors give, since a graph has no state."""

    def __init__(self, model: Decoder, heads: int) -> None:
        super().__init__()
        self.model, self.heads = model, heads

    def forward(
        self,
        tokens: Tensor,
        added: Tensor,
        cos: Tensor,
        sin: Tensor,
        bias: Tensor,
        keys: Tensor,
        values: Tensor,
    ) -> tuple[Tensor, Tensor, Tensor]:
        x = self.model.embedding(tokens) + added
        all_keys, all_values = [], []
        layers: Any = self.model.layers
        for number, layer in enumerate(layers):
            projected = F.linear(layer.norm1(x), layer.attention.in_proj_weight)
            q, k, v = projected.unflatten(-1, (3, self.heads, -1)).permute(1, 2, 0, 3).unbind()
            q, k = (_turned(each, cos, sin) for each in (layer.encoding.norm_q(q), layer.encoding.norm_k(k)))
            k, v = torch.cat([keys[number], k], dim=1), torch.cat([values[number], v], dim=1)
            weights = (q @ k.mT * q.shape[-1] ** -0.5 + bias).softmax(-1)
            x = x + layer.attention.out_proj((weights @ v).transpose(0, 1).flatten(1))
            x = x + layer.narrow(F.relu(layer.widen(layer.norm2(x))).square())
            all_keys.append(k)
            all_values.append(v)
        return self.model.head(self.model.norm(x)), torch.stack(all_keys), torch.stack(all_values)


def _turned(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    first, second = x[..., ::2], x[..., 1::2]
    return torch.stack([first * cos - second * sin, first * sin + second * cos], dim=-1).flatten(-2)


def write_graph(content: bytes, to: Path) -> None:
    told = trained.read(content).settings
    dim, heads, layers = (int(told[name]) for name in ("dim", "heads", "layers"))
    size, new, old = dim // heads, 5, 7
    # Each its own tensor: what is given twice is taken for one input.
    turns = (torch.zeros(new, size // 2) for _ in range(2))
    memory = (torch.zeros(layers, heads, old, size) for _ in range(2))
    example = (torch.zeros(new, dtype=torch.long), torch.zeros(new, dim), *turns)
    example += (torch.zeros(heads, new, old + new), *memory)
    names = ["tokens", "added", "cos", "sin", "bias", "keys", "values"]
    free = torch.export.Dim.AUTO
    shapes: list[dict[int, Any]] = [{0: free}] * 4 + [{1: free, 2: free}] + [{2: free}] * 2
    torch.onnx.export(
        Graph(decoder_of(content), heads).eval(),
        example,
        to,
        input_names=names,
        output_names=["logits", "all_keys", "all_values"],
        dynamic_shapes=tuple(shapes),
        dynamo=True,
        external_data=False,
        verbose=False,
    )


# --- the measurement


def bundle(engine: str, to: Path) -> None:
    """The worker of an engine as one script, as a page would load it."""
    command = [str(HERE / "node_modules" / "esbuild" / "bin" / "esbuild"), str(HERE / "page.js")]
    options = ["--bundle", "--minify", "--format=esm", "--target=es2022", "--log-level=error"]
    alias = f"--alias:engine={HERE / engine}.js"
    subprocess.run([*command, *options, alias, f"--outfile={to}"], check=True, cwd=HERE)


def weight(engine: str, script: Path) -> dict[str, int]:
    """Bytes of an engine, as they are and as a server sends them; the model is not counted."""
    files = [script, *(HERE / "node_modules" / name for name in WASM[engine])]
    bodies = [file.read_bytes() for file in files]
    return {"bytes": sum(map(len, bodies)), "gzipped": sum(len(gzip.compress(each, 6)) for each in bodies)}


def prepare(folder: Path, engines: list[str]) -> dict[str, Any]:
    """A folder to serve, and what each engine is given."""
    place(folder / "models")
    (folder / "index.html").write_text("<!doctype html><title>engines</title>")
    for engine in engines:
        bundle(engine, folder / f"{engine}.js")
        (folder / engine).mkdir()
        for name in WASM[engine]:
            shutil.copy(HERE / "node_modules" / name, folder / engine)
    if "ort" in engines:
        (folder / "onnx").mkdir()
        write_graph(
            (folder / "models" / f"{MODEL}.safetensors").read_bytes(), folder / "onnx" / f"{MODEL}.onnx"
        )
    told = json.loads((folder / "models" / "models.json").read_text())[MODEL]
    text = next(file.content for file in source_text.split().held_out if len(file.content) > max(LENGTHS))
    return {
        "model": f"/models/{MODEL}.safetensors",
        "tables": told,
        "turns": told["readings"]["none"]["1"],
        "text": list(text[: max(LENGTHS) + 1]),
    }


def measure(engines: list[str], rounds: int, quiet: float) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        given = prepare(folder, engines)
        content = (folder / "models" / f"{MODEL}.safetensors").read_bytes()
        with torch.no_grad():
            exact = decoder_of(content)(torch.tensor([given["text"]]))[0].numpy()
        found: dict[str, list[dict[str, Any]]] = {engine: [] for engine in engines}
        with served(folder) as address, sync_playwright() as playwright:
            for _ in range(rounds):
                for engine in engines:
                    browser = playwright.chromium.launch(executable_path=find(), args=list(FLAGS))
                    version, tab = browser.version, browser.new_page()
                    tab.goto(address)
                    found[engine].append(tab.evaluate(IN_WORKER, [f"/{engine}.js", given]))
                    browser.close()
                    time.sleep(quiet)
        return {
            "date": date.today().isoformat(),
            "browser": f"Chromium {version}",
            "machine": f"{platform.machine()}, {os.cpu_count()} cores",
            "load": round(os.getloadavg()[0], 2),
            "model": f"{MODEL}, {len(content):,} bytes",
            "engines": {
                engine: {
                    "package": _package(engine),
                    **weight(engine, folder / f"{engine}.js"),
                    **_summary(found[engine], exact),
                }
                for engine in engines
            },
        }


def _package(engine: str) -> str:
    if engine not in PACKAGES:
        return "none"
    told = json.loads((HERE / "node_modules" / PACKAGES[engine] / "package.json").read_text())
    return f"{told['name']} {told['version']}"


def _summary(rounds: list[dict[str, Any]], exact: np.ndarray) -> dict[str, float]:
    def median(name: str) -> float:
        return float(round(statistics.median(each[name] for each in rounds), 3))

    told = {"start, s": median("start"), "written, bytes/s": round(median("written"), 1)}
    for length in LENGTHS:
        told |= {
            f"first {length} bytes, s": median(f"first {length}"),
            f"again {length}, s": median(f"again {length}"),
        }
    off = max(
        np.abs(np.asarray(each[f"logits {length}"]) - exact[length - 1]).max()
        for each in rounds
        for length in LENGTHS
    )
    return told | {"farthest from PyTorch": float(f"{off:.1e}")}


def table(result: dict[str, Any]) -> str:
    rows = list(next(iter(result["engines"].values())))[1:]
    lines = [f"{'':<24}" + "".join(f"{name:>14}" for name in result["engines"])]
    lines += [
        f"{row:<24}" + "".join(f"{each[row]:>14}" for each in result["engines"].values()) for row in rows
    ]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", nargs="+", choices=WASM, default=list(WASM))
    parser.add_argument("--quiet", type=float, default=0, help="seconds of rest between two browsers")
    parser.add_argument("--out", type=Path, default=RESULT)
    options = parser.parse_args()
    engines = options.only
    if "ort" in engines and not all(map(importlib.util.find_spec, ("onnx", "onnxscript"))):
        print("onnxruntime-web is left out: onnx and onnxscript are not installed")
        engines = [each for each in engines if each != "ort"]
    result = measure(engines, options.rounds, options.quiet)
    print(table(result))
    before = json.loads(options.out.read_text()) if options.out.exists() else {}
    options.out.write_text(json.dumps(before | result, indent=2) + "\n")  # what others measured stays


if __name__ == "__main__":
    main()

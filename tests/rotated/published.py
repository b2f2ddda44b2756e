"""The config.json files of published models, and what their code makes of them.

`published.json` holds, for each model, the keys of its file that are about positions, as they stand there,
and the answer. Answers come from reading the models' own code or transformers', not from this library;
`tests/conformance/test_published_peers.py` compares them with what transformers builds.

- `from`: where the file was read. Its home is `https://huggingface.co/<model>/blob/main/config.json`.
  `excerpt` marks those of which only a part was found. Where nothing but the default of transformers' class
  for that checkpoint is known, `from` says so.
- `family`: what a caller has to name, where the file's `model_type` is not known here or says too little.
- `answer.by`: whose code says so. `answer.layers`: a letter for each layer, explained by `answer.kinds`:
  `attends: false` is a layer without queries and keys, `softmax` what scores are multiplied by, `width` how
  wide a query is, where not `head_dim`, `window` how many keys it sees, its own included (about half of them
  on either side, where `both`). `trailing`: the last columns of a head turn, as with latent attention.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

PUBLISHED: dict[str, dict[str, Any]] = json.loads(
    Path(__file__).with_name("published.json").read_text(encoding="utf-8")
)


def turns(kind: dict[str, Any], length: int) -> list[float]:
    """The angle per position of each pair, by the published formulas."""
    dim, base = kind["rotary_dim"], kind["base"]
    rule = kind.get("rule", {"type": "default"})
    plain = [base ** (-2 * i / dim) for i in range(dim // 2)]
    return RULES[rule["type"]](plain, base, dim, rule, length)


def _alpha(plain: list[float], base: float, dim: int, rule: dict[str, Any], length: int) -> list[float]:
    grown = base * rule["alpha"] ** (dim / (dim - 2))
    return [grown ** (-2 * i / dim) for i in range(dim // 2)]


def _dynamic(plain: list[float], base: float, dim: int, rule: dict[str, Any], length: int) -> list[float]:
    longer = max(1.0, length / rule["length"])
    grown = base * (rule["factor"] * longer - (rule["factor"] - 1)) ** (dim / (dim - 2))
    return [grown ** (-2 * i / dim) for i in range(dim // 2)]


def _yarn(plain: list[float], base: float, dim: int, rule: dict[str, Any], length: int) -> list[float]:
    def pair_of(rotations: float) -> float:
        return dim * math.log(rule["length"] / (rotations * 2 * math.pi)) / (2 * math.log(base))

    low, high = pair_of(rule["fast"]), pair_of(rule["slow"])
    if rule["truncate"]:
        low, high = math.floor(low), math.ceil(high)
    low, high = max(low, 0), min(high, dim - 1)
    interpolated = [min(max((i - low) / (high - low), 0.0), 1.0) for i in range(dim // 2)]
    return [f * (1 - w) + f / rule["factor"] * w for f, w in zip(plain, interpolated, strict=True)]


def _llama3(plain: list[float], base: float, dim: int, rule: dict[str, Any], length: int) -> list[float]:
    def scaled(frequency: float) -> float:
        rotations = rule["length"] * frequency / (2 * math.pi)
        if rotations > rule["high"]:
            return frequency
        if rotations < rule["low"]:
            return frequency / rule["factor"]
        smooth = (rotations - rule["low"]) / (rule["high"] - rule["low"])
        return (1 - smooth) * frequency / rule["factor"] + smooth * frequency

    return [scaled(f) for f in plain]


def _longrope(plain: list[float], base: float, dim: int, rule: dict[str, Any], length: int) -> list[float]:
    divisors = rule["long" if length > rule["length"] else "short"]
    return [f / d for f, d in zip(plain, divisors, strict=True)]


def _proportional(
    plain: list[float], base: float, dim: int, rule: dict[str, Any], length: int
) -> list[float]:
    turning = int(rule["share"] * dim // 2)
    return [f if i < turning else 0.0 for i, f in enumerate(plain)]


RULES: dict[str, Any] = {
    "default": lambda plain, *_: plain,
    "linear": lambda plain, base, dim, rule, length: [f / rule["factor"] for f in plain],
    "alpha": _alpha,
    "dynamic": _dynamic,
    "yarn": _yarn,
    "llama3": _llama3,
    "longrope": _longrope,
    "proportional": _proportional,
}

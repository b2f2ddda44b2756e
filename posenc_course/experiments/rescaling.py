"""The byte model, trained, read further than it was trained: by other frequencies of RoPE, or without it.

All begins with weights that another experiment has trained, and every way of reading is tested on the same
bytes: at the length of training first, then on windows of ever more bytes. A way that may also learn gets so
small a share of the bytes of the training that it is no training of its own, at the learning rate that was
best on files that no test looks at.
"""

from __future__ import annotations

import copy
import json
import math
from typing import Any

from torch import Tensor

from posenc_course.experiments import byte_model, source_text, uncertainty
from posenc_course.experiments.byte_model import at_the_trained_length, cut, losses_of, rounded
from posenc_course.experiments.decoder import Decoder
from posenc_course.experiments.training import Bench
from posenc_course.experiments.wrapped import LogLength, change_encodings, with_encodings
from posenc_lib.nn import NoPE, PositionalEncoding, Rotary
from posenc_lib.rotated import DynamicNTKScaling, LinearScaling, NTKScaling, Scaling, YaRNScaling

KEPT = 0.327
"""Of the pairs of LLaMA 2 (head_dim 128, base 10,000, length 4,096), those that turn 32 times or more: these
YaRN leaves as they are. Where all is smaller, the same share is."""
KS = (0.0, 0.05, 0.1, 0.2)
"""k of YaRN's factor k ln(s) + 1 on queries and keys. It is 0.1 in the paper, which fitted it to LLaMA."""
CHOOSING_AT = 4
"""The factor for which k is chosen."""

RATES = (0.2, 0.6, 2.0)
"""Learning rates that a tuning may have, as a share of that of the training."""
CHOOSING = 6
"""Files to choose by."""


def measure(run: dict[str, Any], bench: Bench) -> dict[str, Any]:
    """Read the trained model of a run by its rule, for each factor, untouched and tuned.

    Returns:
        base: of the model as it was trained, `byte_model.at_the_trained_length`;
        lengths: those of the tests beyond;
        k: of YaRN, the one that was chosen, and the loss with each;
        forms: of each, "factor" and "share", which may be read to adapt, of the bytes of the training;
            "steps", "bytes", "rate" of the tuning, and "tried", the loss with each rate;
            "trained": the loss at the length of training, its uncertainty, and bytes and loss "by_file";
            "by_length": for each of the lengths a row of means, one a file;
            "by_stretch": of the longest windows, the mean of each stretch of the length of training.
    """
    model, _ = byte_model.trained(run, bench)
    of_yarn = chosen_k(model, run) if run["rule"] == "yarn" else None
    k = 0.1 if of_yarn is None else of_yarn["chosen"]
    forms = []
    for factor, share in run["forms"]:
        changed, tuning = tuned(model, run, factor, share, bench, k)
        kind = {"factor": factor, "share": share, **tuning}
        forms.append(kind | {"trained": as_trained(changed, run), **beyond(changed, run, factor, k)})
    return {
        "base": base_of(model, run),
        "lengths": lengths_of(run),
        **({} if of_yarn is None else {"k": of_yarn}),
        "forms": forms,
    }


_bases: dict[str, dict[str, Any]] = {}


def base_of(model: Decoder, run: dict[str, Any]) -> dict[str, Any]:
    """The test of the model as it was trained; a process that has made it before does not make it again."""
    told = json.dumps({name: run[name] for name in (*byte_model.TRAINING, "text")})
    if told not in _bases:
        _bases[told] = at_the_trained_length(model, source_text.require(run["text"]).held_out, run)
    return _bases[told]


# --- ways to read


def encoding_for(run: dict[str, Any], factor: int, length: int, k: float = 0.1) -> PositionalEncoding:
    """What takes the place of the encoding of the training.

    Args:
        run: its "rule" and "encoding", and the sizes of the model.
        factor: how many times longer the texts may become.
        length: of the text that is read now. Only dynamic NTK asks.
        k: of YaRN.
    """
    rule, head_dim = run["rule"], run["dim"] // run["heads"]
    if rule == "dropped" or run["encoding"] == "none":
        plain: PositionalEncoding = NoPE()
    else:
        plain = Rotary(head_dim, base=run["base"], scaling=scaling(run, factor, length, k))
    return LogLength(plain, run["length"], least=1) if rule == "log-length" else plain


def scaling(run: dict[str, Any], factor: int, length: int, k: float = 0.1) -> Scaling | None:
    """The library's rule for RoPE's frequencies; None where they stay."""
    trained = run["length"]
    if run["rule"] == "dynamic-ntk":
        return DynamicNTKScaling(factor, original_length=trained, length=length, formula="paper")
    if factor == 1:
        return None
    if run["rule"] == "pi":
        return LinearScaling(factor)
    if run["rule"] == "ntk":
        return NTKScaling(factor)
    if run["rule"] == "yarn":
        sharper = k * math.log(factor) + 1
        return YaRNScaling(factor, trained, beta_fast(run), attention_factor=sharper, ramp="turns")
    if run["rule"] == "yarn-of-llama":
        return YaRNScaling(factor, trained)
    return None


def beta_fast(run: dict[str, Any]) -> float:
    """From so many turns within the training on, YaRN leaves a pair as it is."""
    turns: float = run["length"] / (2 * math.pi) * run["base"] ** -KEPT
    return max(turns, 1.0)


def chosen_k(model: Decoder, run: dict[str, Any]) -> dict[str, Any]:
    """The k with which YaRN has the lowest loss on the files to choose by, read CHOOSING_AT times as long."""
    length = CHOOSING_AT * run["length"]

    def loss(k: float) -> float:
        by_yarn = with_encodings(model, lambda _: encoding_for(run, CHOOSING_AT, length, k))
        return loss_to_choose_by(by_yarn, run, length)

    tried = {k: loss(k) for k in KS}
    return {"chosen": min(tried, key=lambda k: tried[k]), "tried": [[k, loss] for k, loss in tried.items()]}


# --- a short tuning


def tuned(
    model: Decoder, run: dict[str, Any], factor: int, share: float, bench: Bench, k: float = 0.1
) -> tuple[Decoder, dict[str, Any]]:
    """A copy read by the rule, and tuned if it may be: the best of the rates, and how it was found."""
    length = factor * run["length"]
    changed = with_encodings(model, lambda _: encoding_for(run, factor, length, k))
    if not share:
        return changed, {"steps": 0}
    batch, steps = size_of_tuning(run, factor, share)
    content = source_text.joined(source_text.require(run["text"]).learn, run["learn"])
    best, tried = changed, {}
    for rate in RATES:
        candidate = copy.deepcopy(changed)
        short = {"length": length, "batch": batch, "steps": steps, "rate": rate * run["rate"]}
        name = f"{factor}-{share}-{rate}"
        byte_model.train(candidate, run | short | {"seed": 1000 + run["seed"]}, content, bench, name)
        tried[rate] = loss_to_choose_by(candidate, run, length)
        if tried[rate] == min(tried.values()):
            best = candidate
    chosen = min(tried, key=lambda rate: tried[rate])
    losses = [[rate, loss] for rate, loss in tried.items()]
    return best, {"steps": steps, "bytes": steps * batch * length, "rate": chosen, "tried": losses}


def size_of_tuning(run: dict[str, Any], factor: int, share: float) -> tuple[int, int]:
    """Windows in a step, and steps: as many bytes in a step as in the training, or one window."""
    batch = max(1, run["batch"] // factor)
    bytes_of_it = share * run["steps"] * run["batch"] * run["length"]
    return batch, max(1, int(bytes_of_it / (batch * factor * run["length"]) + 1e-9))


def loss_to_choose_by(model: Decoder, run: dict[str, Any], length: int) -> float:
    """The loss on windows of this length in files that no test looks at, the same bytes for each length."""
    longest = run["longest"]
    files = source_text.require(run["text"]).choose
    places = source_text.windows(files, longest + 1, most=1)[:CHOOSING]
    windows = cut(files, places, longest + 1).unfold(1, length + 1, length).flatten(0, 1)
    return round(float(losses_of(model, windows).double().mean()), 5)


# --- the test


def lengths_of(run: dict[str, Any]) -> list[int]:
    """The length of training, and twice as long again and again."""
    return [run["length"] * 2**k for k in range((run["longest"] // run["length"]).bit_length())]


def as_trained(model: Decoder, run: dict[str, Any]) -> dict[str, Any]:
    """The loss on windows of the length of training, at most so many of each file."""
    files = source_text.require(run["text"]).held_out
    places = source_text.windows(files, run["length"] + 1, most=run["per_file"])
    losses = losses_of(model, cut(files, places, run["length"] + 1)).double().mean(dim=1).tolist()
    by_file: dict[str, list[float]] = {}
    for (path, _), loss in zip(places, losses, strict=True):
        by_file.setdefault(path, []).append(loss)
    means = [sum(each) / len(each) for each in by_file.values()]
    weights = [len(each) * run["length"] for each in by_file.values()]
    loss, uncertain = uncertainty.mean_over_files(means, weights)
    return {
        "loss": round(loss, 5),
        "uncertainty": round(uncertain, 5),
        "by_file": {"bytes": weights, "loss": rounded(means)},
    }


def beyond(model: Decoder, run: dict[str, Any], factor: int, k: float = 0.1) -> dict[str, Any]:
    """The loss on longer and longer windows: for each of the same bytes as `byte_model.beyond` reads."""
    trained, longest = run["length"], run["longest"]
    files = source_text.require(run["text"]).held_out
    places = source_text.windows(files, trained + longest + 1, most=1)[: run["windows"]]
    body = cut(files, places, trained + longest + 1)[:, trained:]

    def losses(length: int) -> Tensor:
        """(files, bytes)"""
        if run["rule"] == "dynamic-ntk":
            change_encodings(model, lambda _: encoding_for(run, factor, length, k))
        return losses_of(model, body.unfold(1, length + 1, length).flatten(0, 1)).view(len(body), -1)

    found = [losses(length) for length in lengths_of(run)]
    stretches = found[-1].view(len(body), -1, trained).mean(dim=(0, 2))
    return {
        "by_length": [rounded(each.mean(dim=1).tolist()) for each in found],
        "by_stretch": rounded(stretches.tolist()),
    }

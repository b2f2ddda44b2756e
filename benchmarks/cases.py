"""What is timed: for each piece of work its limit, ours, and the peers that do the same.

Every peer is called as its users call it. What it returns is compared with ours before it is timed.
"""

from __future__ import annotations

import importlib
import itertools
import math
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

import torch
import torch.nn.functional as F

os.environ["HF_HUB_OFFLINE"] = "1"

from posenc_lib import nn, sinusoidal
from posenc_lib.biased import alibi_attention, alibi_bias, alibi_score_mod, alibi_slopes
from posenc_lib.rotated import RotaryTables, apply_rotary, mrope_tables, rotary_tables, rotate
from posenc_lib.rotated.tables import Layout

Kind = Literal["limit", "ours", "peer", "reference"]
Tensors = tuple[torch.Tensor, ...]

EXACT = 2e-5
"""The most by which two float32 ways of the same sum, with the same tables, may differ."""
BFLOAT16 = 2.0**-8
"""One rounding to bfloat16 moves a number by up to this share of it."""
DEFAULT_ROPE = {"rope_type": "default", "rope_theta": 10000.0}
"""As transformers has it in a config."""


@dataclass(frozen=True)
class Contender:
    """One way to do a piece of work.

    Args:
        kind: "limit", what the hardware needs for the least that must be done; "ours"; "peer"; or
            "reference", a figure to compare with.
        call: does it, and returns what it made.
        expected: ours, from the same input, computed when asked; None where nothing is to agree.
        within: the largest difference from it that the arithmetic of the contender explains.
        wrong: why it is known to differ by more; it is then timed all the same, and never counted
            as the fastest.
    """

    name: str
    kind: Kind
    call: Callable[[], Any]
    expected: Callable[[], Tensors] | None = None
    within: float = EXACT
    wrong: str | None = None

    def off_by(self) -> float | None:
        """Run once; the largest difference from what is expected.

        Raises:
            ValueError: it is above `within`, and nobody knew.
        """
        made = self.call()
        if self.expected is None:
            return None
        made = made if isinstance(made, tuple) else (made,)
        pairs = list(zip(made, self.expected(), strict=True))
        if any(ours.shape != theirs.shape for theirs, ours in pairs):
            raise ValueError(f"{self.name} gives shapes {[tuple(theirs.shape) for theirs, _ in pairs]}")
        off = max(float((theirs.double() - ours.double()).abs().max()) for theirs, ours in pairs)
        if not off <= self.within and self.wrong is None:
            raise ValueError(
                f"{self.name} differs from ours by {off:.3g}, and at most {self.within:.3g} is explained"
            )
        return off


@dataclass(frozen=True)
class Work:
    """One row of the result.

    Args:
        at_most: the goal for ours, in multiples of `unit`: by default allocation, without page faults.
        unit: whose time is 1: the "limit", or the "fastest peer" that is right.
    """

    id: str
    title: str
    limit: str
    at_most: tuple[float, float] | None
    contenders: tuple[Contender, ...]
    unit: Literal["limit", "fastest peer"] = "limit"


@dataclass(frozen=True)
class Sizes:
    q_heads: int = 32
    k_heads: int = 8
    seq: int = 2048
    head_dim: int = 128
    decode_at: int = 2047
    table: tuple[int, int] = (8192, 1024)
    attention: tuple[int, int, int, int] = (1, 16, 1024, 64)
    long_keys: int = 32_768


FULL = Sizes()
SMOKE = Sizes(4, 2, 32, 16, 31, (128, 512), (1, 4, 64, 16), 1_024)
"""Everything once, in no time: the table still long enough that ours takes its way for long ones."""


@dataclass
class Setting:
    """Where and how: shared by all the work of a run."""

    sizes: Sizes = FULL
    device: str = "cpu"
    compiled: bool = False
    skipped: dict[str, str] = field(default_factory=dict)
    """Peers that are not installed, and the reason that importing them gave."""

    def module(self, name: str) -> Any:
        """The module, or None, noted in `skipped`."""
        try:
            if name.startswith("timm:"):
                return timm_file(name.removeprefix("timm:"))
            return importlib.import_module(name)
        except ImportError as error:
            self.skipped[name] = str(error).partition("\n")[0]
            return None

    def normal(self, *shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
        numbers = torch.randn(*shape, generator=torch.Generator().manual_seed(sum(shape)))
        return numbers.to(self.device, dtype)


def all_work(setting: Setting) -> list[Callable[[], Work]]:
    """The rows, each to be built when its turn comes, so that tensors do not pile up."""
    rope = [
        lambda: rope_written(setting),
        lambda: rope_fresh(setting, torch.float32),
        lambda: rope_fresh(setting, torch.bfloat16),
        lambda: rope_decode(setting),
    ]
    if setting.device != "cpu":
        return rope[:3]
    return [
        *rope,
        lambda: sinusoidal_table(setting),
        lambda: alibi(setting),
        lambda: rope_step(setting),
        lambda: mrope(setting),
        lambda: rope_token(setting),
        lambda: alibi_table(setting),
    ]


# ---- RoPE


def rope_written(setting: Setting) -> Work:
    """RoPE where the result is written into memory that is there already."""
    q, k, tables = _queries_keys_tables(setting, torch.float32)
    out_q, out_k = torch.empty_like(q), torch.empty_like(k)
    contenders = [_copy(q, k, out_q, out_k)]
    for layout in ("interleaved", "half"):
        own_q, own_k = q.clone(), k.clone()  # turned in place again and again: their lengths stay
        contenders += [
            Contender(
                f"ours, {layout}, out=",
                "ours",
                lambda layout=layout: (
                    rotate(q, tables, layout=layout, out=out_q),
                    rotate(k, tables, layout=layout, out=out_k),
                ),
                _exact_rotation(q, k, tables, layout),
            ),
            Contender(
                f"ours, {layout}, in place",
                "ours",
                lambda layout=layout, own_q=own_q, own_k=own_k: (
                    rotate(own_q, tables, layout=layout, out=own_q),
                    rotate(own_k, tables, layout=layout, out=own_k),
                ),
                _exact_rotation(q, k, tables, layout),
            ),
        ]
        if setting.compiled:
            turn = torch.compile(partial(_rotated_into, layout=layout), dynamic=False)
            contenders.append(
                Contender(
                    f"ours, {layout}, out=, compiled",
                    "ours",
                    lambda turn=turn: (
                        turn(q, tables.cos, tables.sin, out_q),
                        turn(k, tables.cos, tables.sin, out_k),
                    ),
                    _exact_rotation(q, k, tables, layout),
                )
            )
    liger = setting.module("liger_kernel.ops.rope") if setting.device != "cpu" else None
    if liger is not None:
        turn = partial(liger.LigerRopeFunction.apply, q.clone(), k.clone(), *_twice(tables, torch.float32))
        expected = _exact_rotation(q, k, tables, "half")
        contenders.append(Contender("liger-kernel, half, in place", "peer", turn, expected))
    return Work(
        "rope-written",
        f"RoPE on q {_shape(q)}, k {_shape(k)}, float32, out= or in place",
        "out.copy_(in)",
        (1.2, 1.2),
        tuple(contenders),
    )


def rope_fresh(setting: Setting, dtype: torch.dtype) -> Work:
    """RoPE where the result is new memory."""
    q, k, tables = _queries_keys_tables(setting, dtype)
    out_q, out_k = torch.empty_like(q), torch.empty_like(k)
    contenders = [
        _copy(q, k, out_q, out_k),
        Contender("in.clone()", "reference", lambda: (q.clone(), k.clone())),
        *_rope_contenders(setting, q, k, tables, first=0),
    ]
    goal = (6.5, 1.3) if dtype == torch.float32 else (2.0, 2.0)
    return Work(
        f"rope-fresh-{_name(dtype)}",
        f"RoPE on q {_shape(q)}, k {_shape(k)}, {_name(dtype)}, fresh result",
        "out.copy_(in)",
        goal,
        tuple(contenders),
    )


def rope_decode(setting: Setting) -> Work:
    """RoPE on one token, as in every step of decoding."""
    sizes = setting.sizes
    q = setting.normal(1, sizes.q_heads, 1, sizes.head_dim)
    k = setting.normal(1, sizes.k_heads, 1, sizes.head_dim)
    tables = rotary_tables(torch.tensor([sizes.decode_at], device=setting.device), sizes.head_dim)
    contenders = [
        _copy(q, k, torch.empty_like(q), torch.empty_like(k)),
        *_rope_contenders(setting, q, k, tables, first=sizes.decode_at),
        *_joined_contenders(q, k, tables),
    ]
    return Work(
        "rope-decode",
        f"RoPE on one token, q {_shape(q)}, k {_shape(k)}, float32",
        "out.copy_(in)",
        (0.7, 0.7),
        tuple(contenders),
        unit="fastest peer",
    )


def rope_step(setting: Setting) -> Work:
    """RoPE on one token by a module that is given its position as a tensor, another one in each call."""
    sizes = setting.sizes
    q = setting.normal(1, sizes.q_heads, 1, sizes.head_dim)
    k = setting.normal(1, sizes.k_heads, 1, sizes.head_dim)
    steps = [torch.tensor([at]) for at in range(sizes.decode_at, sizes.decode_at + 1024)]
    tables = rotary_tables(steps[0], sizes.head_dim)
    # Their angles are float32: off by up to a rounding of the position, and one of the frequency.
    off = 2 * max(float(q.abs().max()), float(k.abs().max())) * sizes.decode_at * 2.0**-23 + EXACT
    found = []
    for layout in ("interleaved", "half"):
        module, turn = nn.Rotary(sizes.head_dim, layout=layout), itertools.cycle(steps)
        call = partial(_turned_at_next, module, turn, q, k)
        expected = _exact_rotation(q, k, tables, layout)
        found.append(Contender(f"ours: nn.Rotary, {layout}", "ours", call, expected))
    llama = setting.module("transformers.models.llama.modeling_llama")
    if llama is not None:
        config = llama.LlamaConfig(head_dim=sizes.head_dim, rope_parameters=DEFAULT_ROPE)
        theirs, turn = llama.LlamaRotaryEmbedding(config), itertools.cycle(steps)
        call = partial(_applied_at_next, llama, theirs, turn, q, k)
        expected = _exact_rotation(q, k, tables, "half")
        found.append(Contender("transformers (LLaMA)", "peer", call, expected, off))
    ret = setting.module("rotary_embedding_torch")
    if ret is not None:
        rope, places = ret.RotaryEmbedding(sizes.head_dim, cache_if_possible=False), itertools.cycle(steps)

        def turned() -> Tensors:
            first = int(next(places))
            return tuple(rope.rotate_queries_or_keys(x, offset=first) for x in (q, k))

        expected = _exact_rotation(q, k, tables, "interleaved")
        found.append(Contender("rotary-embedding-torch", "peer", turned, expected, off))
    found.append(_copy(q, k, torch.empty_like(q), torch.empty_like(k)))
    return Work(
        "rope-step",
        f"RoPE on one token at a new position, tables too, q {_shape(q)}, k {_shape(k)}, float32",
        "out.copy_(in)",
        None,
        tuple(found),
        unit="fastest peer",
    )


def _turned_at_next(module: nn.Rotary, steps: Iterator[torch.Tensor], q: Any, k: Any) -> Tensors:
    at = next(steps)
    return module.rotate(q, k, at, at)


def _applied_at_next(llama: Any, rope: Any, steps: Iterator[torch.Tensor], q: Any, k: Any) -> Tensors:
    made: Tensors = llama.apply_rotary_pos_emb(q, k, *rope(q, next(steps)[None]))
    return made


def rope_token(setting: Setting) -> Work:
    """RoPE by one call, tables too, on so few numbers that the calls of functions take the time."""
    sizes = setting.sizes
    x, position = setting.normal(1, 8, 1, sizes.head_dim // 2), torch.tensor([sizes.decode_at])
    dim = x.shape[-1]
    tables = rotary_tables(position, dim)
    pairs, half = (
        lambda layout=layout: _exact_rotation(x, x, tables, layout)()[:1]
        for layout in ("interleaved", "half")
    )

    def plain_lines() -> torch.Tensor:
        rates = 10000.0 ** (-torch.arange(0, dim, 2, dtype=torch.float64) / dim)
        angles = position[:, None] * rates
        cos, sin = angles.cos().float(), angles.sin().float()
        first, second = x[..., 0::2], x[..., 1::2]
        turned = torch.stack([first * cos - second * sin, second * cos + first * sin], -1)
        return turned.flatten(-2)

    found = [
        Contender("out.copy_(in)", "limit", partial(torch.empty_like(x).copy_, x)),
        Contender("ours: apply_rotary, interleaved", "ours", lambda: apply_rotary(x, position), pairs),
        Contender("ours: apply_rotary, half", "ours", lambda: apply_rotary(x, position, layout="half"), half),
        Contender("six lines of torch", "peer", plain_lines, pairs),
    ]
    ret = setting.module("rotary_embedding_torch")
    if ret is not None:
        rope = ret.RotaryEmbedding(dim, cache_if_possible=False)
        off = 2 * float(x.abs().max()) * sizes.decode_at * 2.0**-23 + EXACT
        call = partial(rope.rotate_queries_or_keys, x, offset=sizes.decode_at)
        found.append(Contender("rotary-embedding-torch", "peer", call, pairs, off))
    return Work(
        "rope-token",
        f"RoPE on one token by one call, tables too, x {_shape(x)}, float32",
        "out.copy_(in)",
        (2.0, 2.0),
        tuple(found),
        unit="fastest peer",
    )


def mrope(setting: Setting) -> Work:
    """M-RoPE as in Qwen2-VL, tables and rotation, for text before and after a picture."""
    sizes = setting.sizes
    q = setting.normal(1, sizes.q_heads, sizes.seq, sizes.head_dim)
    k = setting.normal(1, sizes.k_heads, sizes.seq, sizes.head_dim)
    half = sizes.head_dim // 2
    sections = (half // 4, 3 * half // 8, half - half // 4 - 3 * half // 8)
    positions = torch.arange(sizes.seq).expand(3, 1, -1).clone()
    side = math.isqrt(sizes.seq // 2)
    rows, columns = (each.flatten() for each in torch.meshgrid(*[torch.arange(side)] * 2, indexing="ij"))
    first = sizes.seq // 4
    picture = slice(first, first + side * side)
    positions[0, 0, picture] = first
    positions[1, 0, picture], positions[2, 0, picture] = first + rows, first + columns
    positions[:, 0, first + side * side :] = torch.arange(sizes.seq - first - side * side) + first + side
    own = positions[:, :, None]

    def expected() -> Tensors:
        return _exact_rotation(q, k, mrope_tables(own, sizes.head_dim, sections), "half")()

    def ours() -> Tensors:
        tables = mrope_tables(own, sizes.head_dim, sections)
        return rotate(q, tables, layout="half"), rotate(k, tables, layout="half")

    off = 2 * max(float(q.abs().max()), float(k.abs().max())) * sizes.seq * 2.0**-23 + EXACT
    found = [
        _copy(q, k, torch.empty_like(q), torch.empty_like(k)),
        Contender("ours: mrope_tables and rotate, half", "ours", ours, expected),
    ]
    qwen = setting.module("transformers.models.qwen2_vl.modeling_qwen2_vl")
    if qwen is not None:
        text = qwen.Qwen2VLConfig().text_config
        text.hidden_size, text.num_attention_heads = sizes.q_heads * sizes.head_dim, sizes.q_heads
        text.rope_parameters = DEFAULT_ROPE | {"mrope_section": list(sections)}
        theirs = qwen.Qwen2VLRotaryEmbedding(text)
        found.append(
            Contender(
                "transformers (Qwen2-VL)",
                "peer",
                lambda: qwen.apply_rotary_pos_emb(q, k, *theirs(q, positions)),
                expected,
                off,
            )
        )
    return Work(
        "mrope",
        f"M-RoPE, tables too, q {_shape(q)}, k {_shape(k)}, float32, fresh result",
        "out.copy_(in)",
        None,
        tuple(found),
    )


def _joined_contenders(q: torch.Tensor, k: torch.Tensor, tables: RotaryTables) -> list[Contender]:
    """Ours by one call for q and k: joined first here, though a model that projects both at once need not."""
    heads = (q.shape[1], k.shape[1])

    def turn(layout: Layout) -> Tensors:
        joined = rotate(torch.cat((q, k), dim=1), tables, layout=layout)
        turned: Tensors = joined.split(heads, dim=1)
        return turned

    return [
        Contender(
            f"ours, {layout}, q and k joined",
            "ours",
            partial(turn, layout),
            _exact_rotation(q, k, tables, layout),
            EXACT,
        )
        for layout in ("interleaved", "half")
    ]


def _rope_contenders(
    setting: Setting, q: torch.Tensor, k: torch.Tensor, tables: RotaryTables, *, first: int
) -> list[Contender]:
    """Ours and every peer, on positions from `first` on. Peers that take tables are given ours."""
    dim, dtype = q.shape[-1], q.dtype
    size = max(float(q.abs().max()), float(k.abs().max()))
    half, pairs = (_exact_rotation(q, k, tables, layout) for layout in ("half", "interleaved"))
    # Half a unit for each rounding to bfloat16, ours and theirs, of a number of up to 2 size.
    given = EXACT if dtype == torch.float32 else 2 * size * BFLOAT16
    # Their own tables: angles in float32, so off by up to a rounding of the position, and of the frequency.
    own = given + 2 * size * (first + q.shape[-2]) * 2.0**-23

    def both(one: Callable[[torch.Tensor], torch.Tensor]) -> Callable[[], Tensors]:
        return lambda: (one(q), one(k))

    found = [
        Contender("ours, interleaved", "ours", both(lambda x: rotate(x, tables)), pairs, given),
        Contender("ours, half", "ours", both(lambda x: rotate(x, tables, layout="half")), half, given),
    ]
    if setting.compiled:
        layout: Layout
        for layout, expected in (("interleaved", pairs), ("half", half)):
            turn = torch.compile(partial(_rotated, layout=layout), dynamic=False)
            call = both(lambda x, turn=turn: turn(x, tables.cos, tables.sin))
            found.append(Contender(f"ours, {layout}, compiled", "ours", call, expected, given))

    llama = setting.module("transformers.models.llama.modeling_llama")
    if llama is not None:
        call = partial(llama.apply_rotary_pos_emb, q, k, *_twice(tables, dtype))
        loose = EXACT if dtype == torch.float32 else 6 * size * BFLOAT16  # it rounds at every step
        found.append(Contender("transformers (LLaMA)", "peer", call, half, loose))

    ret = setting.module("rotary_embedding_torch")
    if ret is not None:
        ret_rope = ret.RotaryEmbedding(dim).to(q.device)
        # It caches the angles of the first call, offset and all, for every later one.
        call = both(lambda x: ret_rope.rotate_queries_or_keys(x, offset=first))
        wrong = None if dtype == torch.float32 else "its positions are rounded to bfloat16"
        found.append(Contender("rotary-embedding-torch", "peer", call, pairs, own, wrong))

    xt = setting.module("x_transformers.x_transformers")
    if xt is not None:
        positions = torch.arange(first, first + q.shape[-2], device=q.device)
        freqs, _ = xt.RotaryEmbedding(dim).to(q.device)(positions)
        call = both(lambda x: xt.apply_rotary_pos_emb(x, freqs))
        found.append(Contender("x-transformers", "peer", call, pairs, own))

    timm = setting.module("timm:pos_embed_sincos")
    if timm is not None:
        for name, expected in (("half", half), ("interleaved", pairs)):
            cos, sin = _twice(tables, torch.float32) if name == "half" else _repeated(tables)
            emb = torch.cat([sin.reshape(-1, dim), cos.reshape(-1, dim)], -1)
            call = both(lambda x, emb=emb, name=name: timm.apply_rot_embed_cat(x, emb, half=name == "half"))
            found.append(Contender(f"timm, {name}", "peer", call, expected, given))

    diffusers = setting.module("diffusers.models.embeddings")
    if diffusers is not None:
        for name, axis, expected in (("half", -2, half), ("interleaved", -1, pairs)):
            cos, sin = _twice(tables, torch.float32) if name == "half" else _repeated(tables)
            their = cos.reshape(-1, dim), sin.reshape(-1, dim)
            call = both(
                lambda x, emb=their, axis=axis: diffusers.apply_rotary_emb(x, emb, use_real_unbind_dim=axis)
            )
            found.append(Contender(f"diffusers, {name}", "peer", call, expected, given))

    torchtune = setting.module("torchtune.modules")
    if torchtune is not None:
        tune = torchtune.RotaryPositionalEmbeddings(dim, max_seq_len=first + q.shape[-2]).to(q.device)
        at = torch.arange(first, first + q.shape[-2], device=q.device)[None]
        call = both(lambda x: tune(x.transpose(1, 2), input_pos=at).transpose(1, 2))
        found.append(Contender("torchtune", "peer", call, pairs, own))

    flash = setting.module("flash_attn.layers.rotary") if setting.device != "cpu" else None
    if flash is not None:
        narrow = tables.cos.to(dtype), tables.sin.to(dtype)
        loose = EXACT if dtype == torch.float32 else 6 * size * BFLOAT16
        for name, expected in (("half", half), ("interleaved", pairs)):
            call = both(
                lambda x, name=name: flash.apply_rotary_emb(
                    x.transpose(1, 2), *narrow, interleaved=name == "interleaved"
                ).transpose(1, 2)
            )
            found.append(Contender(f"flash-attn, {name}", "peer", call, expected, loose))
    return found


def _rotated_into(
    x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, out: torch.Tensor, *, layout: Layout
) -> torch.Tensor:
    return rotate(x, RotaryTables(cos, sin), layout=layout, out=out)


def _rotated(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, layout: Layout) -> torch.Tensor:
    return rotate(x, RotaryTables(cos, sin), layout=layout)


def _queries_keys_tables(
    setting: Setting, dtype: torch.dtype
) -> tuple[torch.Tensor, torch.Tensor, RotaryTables]:
    sizes = setting.sizes
    q = setting.normal(1, sizes.q_heads, sizes.seq, sizes.head_dim, dtype=dtype)
    k = setting.normal(1, sizes.k_heads, sizes.seq, sizes.head_dim, dtype=dtype)
    return q, k, rotary_tables(torch.arange(sizes.seq, device=setting.device), sizes.head_dim)


def _copy(q: torch.Tensor, k: torch.Tensor, out_q: torch.Tensor, out_k: torch.Tensor) -> Contender:
    return Contender("out.copy_(in)", "limit", lambda: (out_q.copy_(q), out_k.copy_(k)))


def _exact_rotation(
    q: torch.Tensor, k: torch.Tensor, tables: RotaryTables, layout: str
) -> Callable[[], Tensors]:
    """The rotation written out in float64, and rounded once to the dtype of q."""

    def one(x: torch.Tensor) -> torch.Tensor:
        pairs = x.double().unflatten(-1, (-1, 2) if layout == "interleaved" else (2, -1))
        axis = -1 if layout == "interleaved" else -2
        first, second = pairs.unbind(axis)
        cos, sin = tables.cos.double(), tables.sin.double()
        turned = torch.stack([first * cos - second * sin, second * cos + first * sin], axis)
        return turned.flatten(-2).to(x.dtype)

    return lambda: (one(q), one(k))


def _twice(tables: RotaryTables, dtype: torch.dtype) -> Tensors:
    """(cos, cos) and (sin, sin), side by side, with an axis for the batch."""
    return tuple(torch.cat([table, table], -1)[None].to(dtype) for table in (tables.cos, tables.sin))


def _repeated(tables: RotaryTables) -> Tensors:
    return tuple(table.repeat_interleave(2, -1)[None] for table in (tables.cos, tables.sin))


# ---- sinusoidal


def sinusoidal_table(setting: Setting) -> Work:
    """A whole table, as a model makes when it starts."""
    rows, dim = setting.sizes.table
    positions = torch.arange(rows)
    theta = (positions.double()[:, None] * 10000.0 ** (-torch.arange(0, dim, 2).double() / dim)).float()
    limit = "torch.sin, torch.cos of given angles"
    # Angles in float32: a rounding of the largest position, and one of the frequency.
    own = 3 * rows * 2.0**-24

    def table(layout: str, spacing: str = "paper") -> Callable[[], Tensors]:
        """sin and cos of float64 angles: no shift, no recurrence."""

        def made() -> Tensors:
            steps = dim // 2 - (spacing == "tensor2tensor")
            rates = 10000.0 ** (-torch.arange(dim // 2).double() / steps)
            angles = positions.double()[:, None] * rates
            parts = [angles.sin(), angles.cos()]
            return (torch.stack(parts, -1).flatten(-2) if layout == "interleaved" else torch.cat(parts, -1),)

        return made

    found = [
        Contender(limit, "limit", lambda: (torch.sin(theta), torch.cos(theta))),
        Contender("torch.ones: write alone", "reference", lambda: torch.ones(rows, dim)),
    ]
    for layout in ("interleaved", "split"):
        call = partial(sinusoidal, positions, dim, layout=layout)
        found.append(Contender(f"ours, {layout}", "ours", call, table(layout), 1e-7))

    def peer(
        name: str, call: Callable[[], Any], expected: Callable[[], Tensors], within: float = own
    ) -> None:
        found.append(Contender(name, "peer", call, expected, within))

    models = "transformers.models"
    gptj = setting.module(f"{models}.gptj.modeling_gptj")
    if gptj is not None:
        peer("transformers (GPT-J)", lambda: gptj.create_sinusoidal_positions(rows, dim), table("split"))
    m2m = setting.module(f"{models}.m2m_100.modeling_m2m_100")
    if m2m is not None:
        m2m_table = m2m.M2M100SinusoidalPositionalEmbedding.get_embedding
        peer("transformers (M2M100)", lambda: m2m_table(rows, dim), table("split", "tensor2tensor"))
    whisper = setting.module(f"{models}.whisper.modeling_whisper")
    if whisper is not None:
        peer("transformers (Whisper)", lambda: whisper.sinusoids(rows, dim), table("split", "tensor2tensor"))
    xt = setting.module("x_transformers.x_transformers")
    if xt is not None:
        scaled, x = xt.ScaledSinusoidalEmbedding(dim), torch.zeros(1, rows, dim)
        torch.nn.init.ones_(scaled.scale)
        peer("x-transformers", lambda: scaled(x), table("split"))
    pe = setting.module("positional_encodings.torch_encodings")
    if pe is not None:
        x = torch.zeros(1, rows, dim)
        peer("positional-encodings", lambda: pe.PositionalEncoding1D(dim)(x)[0], table("interleaved"))
    diffusers = setting.module("diffusers.models.embeddings")
    if diffusers is not None:
        exact = diffusers.get_1d_sincos_pos_embed_from_grid
        grid = positions.double()
        peer("diffusers (float64)", lambda: exact(dim, grid), table("split"), 1e-9)
    return Work(
        "sinusoidal-table",
        f"sinusoidal table ({rows}, {dim}), float32",
        limit,
        (2.2, 0.6),
        tuple(found),
    )


# ---- ALiBi


def alibi(setting: Setting) -> Work:
    """Causal attention with ALiBi."""
    batch, heads, n, head_dim = shape = setting.sizes.attention
    q, k, v = setting.normal(3, *shape)
    bias = torch.as_tensor(alibi_bias(heads, n, n), dtype=torch.float32)
    past = torch.ones(n, n, dtype=torch.bool).tril()
    cached = bias.masked_fill(~past, -math.inf)[None]

    def expected() -> Tensors:
        scores = q.double() @ k.double().mT / math.sqrt(head_dim) + cached.double()
        return (scores.softmax(-1) @ v.double(),)

    attend = F.scaled_dot_product_attention
    found = [
        Contender("attention without bias", "limit", lambda: attend(q, k, v, is_causal=True)),
        Contender("ours: alibi_attention", "ours", lambda: alibi_attention(q, k, v), expected),
        Contender("cached n-by-n bias", "peer", lambda: attend(q, k, v, attn_mask=cached), expected),
    ]
    xt = setting.module("x_transformers.x_transformers")
    if xt is not None:

        def rebuilt() -> torch.Tensor:
            made = xt.AlibiPositionalBias(heads)(n, n)
            return attend(q, k, v, attn_mask=made.masked_fill(~past, -math.inf)[None])

        found.append(Contender("bias rebuilt (x-transformers)", "peer", rebuilt, expected, 10 * EXACT))
    bloom = setting.module("transformers.models.bloom.modeling_bloom")
    if bloom is not None:
        ones = torch.ones(batch, n, dtype=torch.long)

        def bloom_bias() -> torch.Tensor:
            made = bloom.build_alibi_tensor(ones, heads, torch.float32).view(batch, heads, 1, n)
            return attend(q, k, v, attn_mask=made.masked_fill(~past, -math.inf))

        # Counted from key 0, so large numbers cancel in the softmax, where float32 has lost their last bits.
        drift = n * 2.0**-22
        found.append(Contender("bias rebuilt (transformers, BLOOM)", "peer", bloom_bias, expected, drift))
    if setting.compiled:
        from torch.nn.attention.flex_attention import create_block_mask, flex_attention

        flex = torch.compile(flex_attention, dynamic=False)
        score_mod = alibi_score_mod(heads, n, n)
        block_mask = create_block_mask(lambda b, h, i, j: i >= j, None, None, n, n, device="cpu")
        call = partial(flex, q, k, v, score_mod=score_mod, block_mask=block_mask)
        found.append(Contender("FlexAttention, compiled", "peer", call, expected, 10 * EXACT))
    return Work(
        "alibi-attention",
        f"ALiBi attention {shape}, float32, causal",
        "attention without bias",
        (1.25, 1.25),
        tuple(found),
    )


def alibi_table(setting: Setting) -> Work:
    """The bias of ALiBi as a table."""
    _, heads, n, _ = setting.sizes.attention
    positions = torch.arange(n)
    slopes = torch.from_numpy(alibi_slopes(heads))

    def expected() -> Tensors:
        return ((slopes[:, None, None] * (positions - positions[:, None])).float(),)

    def plain_lines() -> torch.Tensor:
        return slopes.float()[:, None, None] * (positions - positions[:, None])

    rounded = n * 2.0**-23  # the slope to float32, before the product is
    out = torch.empty(heads, n, n)
    found = [
        Contender("out.fill_(0)", "limit", lambda: out.fill_(0)),
        Contender("ours: alibi_bias", "ours", lambda: alibi_bias(heads, positions, positions), expected),
        Contender("two lines of torch", "peer", plain_lines, expected, rounded),
    ]
    xt = setting.module("x_transformers.x_transformers")
    if xt is not None:

        def symmetric() -> Tensors:
            return (-expected()[0].abs(),)

        def theirs() -> torch.Tensor:
            bias: torch.Tensor = xt.AlibiPositionalBias(heads)(n, n)  # the old one keeps it
            return bias

        found.append(Contender("x-transformers, symmetric", "peer", theirs, symmetric, rounded))
    return Work(
        "alibi-table",
        f"ALiBi's bias ({heads}, {n}, {n}), float32, fresh result",
        "out.fill_(0)",
        None,
        tuple(found),
        unit="fastest peer",
    )


# ---- helpers


def timm_file(name: str) -> ModuleType:
    """One file of timm.layers: importing timm itself needs torchvision, which its encodings do not."""
    spec = find_spec("timm")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError("No module named 'timm'", name="timm")
    if "timm_layers" not in sys.modules:
        sys.modules["timm_layers"] = ModuleType("timm_layers")
        sys.modules["timm_layers"].__path__ = [str(Path(spec.origin).parent / "layers")]
    return importlib.import_module(f"timm_layers.{name}")


def _shape(x: torch.Tensor) -> str:
    return str(tuple(x.shape)).replace(" ", "")


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")

"""Rotary position embedding (RoPE): tables of cosines and sines, and the rotation by them.

Every encoding of this door ends in `RotaryTables`: plain RoPE and its context extensions here,
axial and multimodal RoPE in `axial`, xPos in `xpos`. One function, `rotate`, applies them all; the
arithmetic is in `turn`, and for tensors in `in_torch`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import numpy as np

from posenc_lib import _require as require
from posenc_lib._arrays import Array, ArrayT, constant, count_up, namespace, torch_of
from posenc_lib.angles import angles, frequencies
from posenc_lib.rotated.tables import Layout, RotaryTables, tables_of
from posenc_lib.rotated.turn import LAYOUTS, beside_heads, fitting, require_broadcast, require_vectors, turn
from posenc_lib.scaling.config import partial_rotary_dim, read_scaling


def rotary_tables(
    positions: int | Array,
    dim: int,
    *,
    base: float = 10000.0,
    scaling: Any = None,
    dtype: Any = None,
) -> RotaryTables:
    """Cosine and sine of position * frequency, to rotate queries and keys by.

    Make them once, then `rotate` with them in every layer.

    Args:
        positions: an int n for positions 0 .. n-1, or an array of any shape (...): integers or
            reals, of any offset. They become axes of the tables, so give (batch, 1, seq) for rows
            that differ, where vectors are (batch, heads, seq, head_dim).
        dim: how many columns turn, even: head_dim, or `rotary_dim` for partial rotation.
        base: the constant of the geometric series of wavelengths (`rope_theta`).
        scaling: None, a rule such as `YaRNScaling`, or a Hugging Face `rope_scaling` /
            `rope_parameters` dict. A dict's own `rope_theta` replaces the default base.
        dtype: of the tables; by default float64 in NumPy and float32 in PyTorch. Angles are float64
            and the cast comes last, so that position 10,000,000 is as exact as position 1.

    Returns:
        Tables of shape (..., dim/2), in the library and on the device of `positions` (NumPy for an int).

    Raises:
        TypeError: positions are not numbers, dim not an integer, or scaling not a rule.
        ValueError: n < 0; NaN positions; odd dim; base not positive; a scaling that cannot be built, or
            a base that contradicts the dict's.

    Source: Su et al. 2021, "RoFormer", equations 15 and 34.

    Example:
        >>> tables = rotary_tables(3, 4)
        >>> tables.cos.round(4)
        array([[ 1.    ,  1.    ],
               [ 0.5403,  1.    ],
               [-0.4161,  0.9998]])
    """
    base, rule = read_scaling(scaling, base)
    rates = frequencies(dim, base=base, scaling=rule)
    positions = require.positions(positions)
    return tables_of(angles(positions, rates), positions, dtype, _scale(rule))


def rotate(
    x: ArrayT,
    tables: RotaryTables,
    *,
    layout: Layout = "interleaved",
    seq_axis: int = -2,
    out: Array | None = None,
) -> ArrayT:
    """Turn the pairs of queries or keys by tables made before.

    Args:
        x: (..., seq, head_dim), real floating point. The first `tables.dim` columns turn, the rest
            passes through.
        tables: from `rotary_tables` or any other maker of tables. Their positions broadcast to
            x.shape[:-1], in one way only: (batch, seq) would be taken for (heads, seq), and is refused.
            Their dtype is x's own or a wider one. A 16-bit x is turned in the tables' float32 and
            rounded once, at the end.
        layout: which columns make a pair. "interleaved": 2j and 2j+1, as the paper, GPT-J, Cohere
            and GLM. "half": j and j + dim/2, as LLaMA, Mistral, Qwen and GPT-NeoX checkpoints in
            Hugging Face format.
        seq_axis: which axis of x is the sequence: -2 for (batch, heads, seq, head_dim), -3 (or 1) for
            (batch, seq, heads, head_dim), as flash-attn has it. Positions broadcast to the axes up to it: in
            the latter to (batch, seq).
        out: where to write the result; of x's shape, dtype and device, and it may be x itself. (Compiled
            by torch.compile, a fresh result is quicker.)

    Returns:
        The rotated vectors, of x's shape and dtype; `out` if that was given.

    Raises:
        TypeError: x holds no real numbers; tables are none, narrower than x, or of another library;
            out has another dtype; seq_axis is not an integer.
        ValueError: more columns to turn than x has; positions that do not broadcast, or in two ways; an out
            of another shape; an unknown layout; no such axis; different devices; out given where gradients
            are recorded.

    Example:
        >>> import numpy as np
        >>> keys = np.ones((2, 5, 8))  # heads, positions, head_dim
        >>> tables = rotary_tables(np.arange(100, 105), 8)
        >>> rotate(keys, tables, layout="half").shape
        (2, 5, 8)
        >>> rotate(keys, tables, out=keys) is keys
        True
    """
    require.choice(layout, "layout", LAYOUTS)
    if torch_of(x) is not None:
        from posenc_lib.rotated import in_torch

        return cast(ArrayT, in_torch.rotate(x, tables, layout, seq_axis, out))
    require_vectors(x)
    seq_axis = require.seq_axis(seq_axis, x.ndim)
    tables = beside_heads(fitting(x, tables, out, seq_axis), seq_axis)
    turned = turn(namespace(x), x, tables, layout)
    return turned if out is None else _write(out, turned)


def apply_rotary(
    x: ArrayT,
    positions: int | Array,
    *,
    base: float = 10000.0,
    layout: Layout = "interleaved",
    rotary_dim: int | None = None,
    scaling: Any = None,
    seq_axis: int = -2,
) -> ArrayT:
    """Rotate queries or keys by their positions.

    The dot product of a rotated query and a rotated key depends on their positions through the
    difference alone.

    Args:
        x: (..., seq, head_dim), real floating point.
        positions: an int n, which must be seq, for positions 0 .. n-1; or an array (or list) that
            broadcasts to x.shape[:-1]: (seq,) with any offset for a cache of keys, (batch, 1, seq) for
            rows that differ, as with padding on the left. For packed texts, `packed_positions`.
        base, scaling: as in `rotary_tables`.
        layout: as in `rotate`.
        rotary_dim: how many columns turn, even; the rest passes. By default all of head_dim, or the
            share that a scaling dict names as `partial_rotary_factor`.
        seq_axis: as in `rotate`: with -3, x is (..., seq, heads, head_dim), and positions broadcast to
            (..., seq).

    Returns:
        The rotated vectors, of x's shape, dtype, library and device.

    Raises:
        TypeError: x holds no real numbers; positions are not numbers or of another library.
        ValueError: positions that do not broadcast, or in two ways, or NaN; rotary_dim odd or above
            head_dim; an unknown layout; different devices; and what `rotary_tables` raises.

    Source: Su et al. 2021, "RoFormer: Enhanced Transformer with Rotary Position Embedding",
    section 3.2.

    Example:
        >>> import numpy as np
        >>> q, k = np.random.default_rng(0).standard_normal((2, 1, 8))
        >>> near = apply_rotary(q, [9]) @ apply_rotary(k, [2]).T
        >>> far = apply_rotary(q, [1009]) @ apply_rotary(k, [1002]).T
        >>> np.allclose(near, far)
        True
    """
    require.choice(layout, "layout", LAYOUTS)
    if torch_of(x) is not None:
        from posenc_lib.rotated import in_torch

        if in_torch.stands_plainly(x, positions, seq_axis):
            rates, rule = _rates(x.shape[-1], rotary_dim, base, scaling)
            turned: Any = in_torch.rotate_at(x, positions, rates, _scale(rule), layout, seq_axis)
            return turned
    xp = require_vectors(x)
    seq_axis = require.seq_axis(seq_axis, x.ndim)
    rates, rule = _rates(x.shape[-1], rotary_dim, base, scaling)
    positions = _positions_of(xp, x, positions, seq_axis)
    tables = tables_of(angles(positions, rates), positions, _arithmetic_dtype(xp, x), _scale(rule))
    return rotate(x, tables, layout=layout, seq_axis=seq_axis)


def _rates(head_dim: int, rotary_dim: int | None, base: float, scaling: Any) -> tuple[np.ndarray, Any]:
    """The frequencies of the columns that turn, and the rule that changed them."""
    base, rule = read_scaling(scaling, base)
    if rotary_dim is None and isinstance(scaling, Mapping):
        rotary_dim = partial_rotary_dim(scaling, head_dim)
    return frequencies(require.rotary_dim(rotary_dim, head_dim), base=base, scaling=rule), rule


def _scale(rule: Any) -> Any:
    """By which a rule multiplies cosines and sines."""
    return getattr(rule, "attention_scaling", 1.0)


def _positions_of(xp: Any, x: Array, positions: Any, seq_axis: int) -> Array:
    """Positions as an array of x's library and device that broadcasts to x's axes up to the sequence."""
    if require.is_count(positions):
        if x.ndim < 2 or positions != x.shape[seq_axis]:
            raise ValueError(
                f"positions={positions} means 0 .. {positions - 1}, but x has shape {tuple(x.shape)}; give "
                f"seq, its axis {seq_axis}, or an array of positions; seq_axis says which axis that is"
            )
        return count_up(x.shape[seq_axis], x)
    given = require.positions(positions)
    if isinstance(positions, (list, tuple)):
        given = constant(given, x)
    if namespace(given) is not xp:
        raise TypeError(
            f"x is {type(x).__name__}, positions are {type(given).__name__}; convert them to x's library"
        )
    require.same_device(x=x, positions=given)
    require_broadcast("positions", given.shape, x, seq_axis)
    return given


def _arithmetic_dtype(xp: Any, x: Array) -> Any:
    """x's own dtype, or float32 where that has 16 bits: rounded once, at the end."""
    return x.dtype if xp.finfo(x.dtype).bits >= 32 else xp.float32


def _write(out: Array, turned: Array) -> Array:
    try:
        out[...] = turned
    except TypeError as error:
        raise TypeError(f"out of type {type(out).__name__} cannot be written to; do not pass out=") from error
    return out

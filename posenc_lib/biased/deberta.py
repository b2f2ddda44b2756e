"""DeBERTa's disentangled attention: relative keys for the query, and relative queries for the key."""

from __future__ import annotations

from typing import Any

from posenc_lib import _require as require
from posenc_lib._arrays import Array, ArrayT, clip, device_of, namespace
from posenc_lib._heads import heads_first, matmul, matmul_by_group
from posenc_lib.biased.relative import offsets, queries_and_keys
from posenc_lib.biased.shaw import beside_heads, pick, require_rows


def deberta_buckets(
    relative_positions: int | Array, *, buckets: int | None = 256, max_distance: int = 512
) -> Array:
    """The row of DeBERTa's table for each relative position, key - query.

    Rows are in the order of query - key, keys after the query first: row `buckets` is the query's own.
    Of each direction, the first half of the buckets hold one distance each; the others grow geometrically,
    and the last one holds max_distance and all beyond.

    Args:
        relative_positions: whole numbers, key - query (negative for the past), of any shape; see
            `relative_positions`.
        buckets: how many of one direction, even, 4 or more, as in DeBERTa-v2 and v3; half as many as the
            table has rows. None for one row per distance, as in DeBERTa-v1: then max_distance of each
            direction.
        max_distance: `max_relative_positions` of the config, or `max_position_embeddings` where that is -1;
            above buckets/2 + 1.

    Returns:
        int64 of the same shape, 0 .. 2 buckets - 1, in the library and on the device of the relative
        positions (NumPy for a number). The past has no bucket for max_distance: its last row is that
        of max_distance - 1.

    Raises:
        TypeError: relative positions are not integers; buckets or max_distance not an integer.
        ValueError: buckets odd or too few; max_distance too small.

    Who does what: DeBERTa's code rounds a float32 logarithm up. Here the borders are whole numbers, found
    in integer arithmetic; transformers 5.24.0 puts every distance to 100,000 into the same bucket
    (tests/conformance).

    Example:
        >>> import numpy as np
        >>> deberta_buckets(np.asarray([0, -1, -2, -3, -6, -7, -99, 1, 7, 8]), buckets=4, max_distance=8)
        array([4, 5, 6, 7, 7, 7, 7, 3, 1, 0])

    Source: He et al. 2021, "DeBERTa", equation 3, for v1; `make_log_bucket_position` in the code of
    microsoft/DeBERTa, `da_utils.py`, for v2 and v3.
    """
    relative_positions = require.numbers(relative_positions, "relative_positions")
    require.whole(relative_positions, "relative_positions")
    max_distance = require.count(max_distance, "max_distance")
    span = max_distance if buckets is None else _read_buckets(buckets, max_distance)

    xp = namespace(relative_positions)
    ahead = -clip(xp.astype(relative_positions, xp.int64), -max_distance, max_distance)  # query - key
    if buckets is not None:
        first = xp.asarray(_borders(span, max_distance), dtype=xp.int64, device=device_of(ahead))
        bucket = xp.astype(xp.searchsorted(first, xp.abs(ahead), side="right"), xp.int64, copy=False)
        ahead = xp.where(ahead < 0, -bucket, bucket)
    return clip(ahead + span, 0, 2 * span - 1)


def deberta_bias(
    q: ArrayT,
    k: Array,
    relative_keys: Array | None,
    relative_queries: Array | None,
    queries: int | Array,
    keys: int | Array,
    *,
    buckets: int | None = 256,
    max_distance: int = 512,
    scale: float | None = None,
    seq_axis: int = -2,
) -> ArrayT:
    """DeBERTa's two terms of position: scale * (q_i . K_r + k_j . Q_r), r the row of the offset.

    The first is content to position, what the query makes of a distance; the second position to content,
    what the key does.

    Args:
        q: (..., heads, queries, head_dim), real.
        k: (..., heads, keys, head_dim); its heads may be a divisor of q's, as in `attention`.
        relative_keys: (heads, rows, head_dim), the table of relative positions through a projection to
            keys, rows as in `deberta_buckets`; None to leave out content to position.
        relative_queries: the same, through a projection to queries; None to leave out position to content.
        queries: an int n for the last n of the keys' positions, or integers (..., queries).
        keys: an int n for positions 0 .. n-1, or integers (..., keys).
        buckets, max_distance: as in `deberta_buckets`.
        scale: 1 / sqrt(3 head_dim) by default, or 1 / sqrt(2 head_dim) with one of the terms: DeBERTa
            divides by sqrt(head_dim) times the square root of the number of terms, content included.
        seq_axis: of q and k, as in `attention`; -3 for (..., queries or keys, heads, head_dim).

    Returns:
        (..., heads, queries, keys).

    Raises:
        TypeError: arrays not real numbers, of different libraries, tensors of different dtypes; positions not
            integers.
        ValueError: both tables None; shapes that do not fit, different devices; as `deberta_buckets`.

    `attention` divides q . k by sqrt(head_dim): give it q / sqrt(3), and this function q itself. In v2 and
    v3 checkpoints the table goes through a layer norm first (`norm_rel_ebd`), and through the
    projections of the layer's own queries and keys (`share_att_key`), biases included.

    Who does what: the paper's equation 4 looks the relative query up at j - i. All published code,
    microsoft/DeBERTa's and that of transformers 5.24.0, uses i - j for both terms, as is done here.

    Example:
        >>> import numpy as np
        >>> from posenc_lib import attention
        >>> q, k, v = np.random.default_rng(0).normal(size=(3, 2, 5, 8))  # 2 heads, 5 positions
        >>> K, Q = np.random.default_rng(1).normal(size=(2, 2, 16, 8))  # 2 * 8 rows
        >>> bias = deberta_bias(q, k, K, Q, 5, 5, buckets=8, max_distance=16)
        >>> attention(q / 3**0.5, k, v, bias=bias).shape
        (2, 5, 8)

    Source: He et al. 2021, "DeBERTa: Decoding-enhanced BERT with Disentangled Attention", section 3.1.
    """
    q, k = heads_first(seq_axis, q=q, k=k)
    tables = {"relative_keys": relative_keys, "relative_queries": relative_queries}
    given = {name: table for name, table in tables.items() if table is not None}
    span = max_distance if buckets is None else _read_buckets(buckets, max_distance)
    _require_fit(q, k, given, span)
    placed = queries_and_keys(queries, keys, q)
    require.one_each(placed[0], q.shape[-2], "queries", "q")
    require.one_each(placed[1], k.shape[-2], "keys", "k")
    relative = offsets(*placed)
    require_rows(relative, "q", q)
    xp = namespace(q, relative)
    require.same_device(q=q, positions=relative)
    rows = beside_heads(deberta_buckets(relative, buckets=buckets, max_distance=max_distance))

    terms = []
    if relative_keys is not None:
        terms.append(pick(matmul(xp, q, xp.matrix_transpose(relative_keys)), rows))
    if relative_queries is not None:
        by_row = matmul_by_group(xp, relative_queries, xp.matrix_transpose(k))  # (..., heads, rows, keys)
        of_the_key = pick(xp.matrix_transpose(by_row), xp.matrix_transpose(rows))
        terms.append(xp.matrix_transpose(of_the_key))
    bias = terms[0] if len(terms) == 1 else terms[0] + terms[1]
    if scale is None:
        return bias * ((1 + len(terms)) * q.shape[-1]) ** -0.5
    return bias * require.positive(scale, "scale")


def _require_fit(q: Array, k: Array, tables: dict[str, Array], span: int) -> None:
    """Raise unless queries, keys and the tables fit together."""
    if not tables:
        raise ValueError("relative_keys and relative_queries are both None; give one of them, or both")
    require.real_array(q, "q", "(..., heads, queries, head_dim)", 3, more=True)
    require.real_array(k, "k", "(..., heads, keys, head_dim)", 3, more=True)
    for name, table in tables.items():
        require.real_array(table, name, "(heads, rows, head_dim)", 3)
        wanted = (q.shape[-3], 2 * span, q.shape[-1])
        if tuple(table.shape) != wanted:
            raise ValueError(
                f"{name} has shape {tuple(table.shape)}; for q of shape {tuple(q.shape)} and {span} "
                f"buckets of each direction give (heads, rows, head_dim) = {wanted}"
            )
    namespace(q, k, *tables.values())
    require.same_device(q=q, k=k, **tables)
    require.same_dtype(q=q, k=k, **tables)
    require.same_head_dim(q=q, k=k)
    require.heads_in_groups(q, k=k)


def _read_buckets(given: Any, max_distance: int) -> int:
    buckets, max_distance = require.count(given, "buckets"), require.count(max_distance, "max_distance")
    if buckets < 4 or buckets % 2:
        raise ValueError(
            f"buckets={buckets} of one direction cannot be halved into near and far ones; give an even "
            "number, 4 or more, or None for one row per distance"
        )
    if max_distance < buckets // 2 + 2:
        raise ValueError(
            f"max_distance={max_distance} is too small: distances 0 to {buckets // 2} have a bucket each, "
            f"so the others must reach further; give {buckets // 2 + 2} or more"
        )
    return buckets


def _borders(buckets: int, max_distance: int) -> tuple[int, ...]:
    """The shortest distance of the buckets 1, 2, ..., `buckets`; the last one is max_distance.

    With half = buckets / 2, bucket half + m ends at the largest distance n with
    (n / half)^(half - 1) <= ((max_distance - 1) / half)^m, which is decided in whole numbers.
    """
    half = buckets // 2
    steps = half - 1
    borders = list(range(1, half + 2))
    for m in range(1, half):
        near = half * ((max_distance - 1) / half) ** (m / steps)
        end = int(near)
        if abs(near - round(near)) < 1e-9 * near:  # too close to a whole number for floating point
            largest = (max_distance - 1) ** m * half ** (steps - m)
            end = round(near)
            while end**steps > largest:
                end -= 1
            while (end + 1) ** steps <= largest:
                end += 1
        borders.append(end + 1)
    return tuple(borders)

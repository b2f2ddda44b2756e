"""Exercises of `04-extrapolation`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from posenc_lib._arrays import Array
from posenc_lib.exercises.exercise import Case, Exercise, Mistake, Property, enough_of_each

CHAPTER = "04-extrapolation"
EARLY_TOKENS = "How a long window flatters a model"

Generator = np.random.Generator


# --- stretch ---------------------------------------------------------------------------------------


def _stretch_cases(rng: Generator) -> Iterator[Case]:
    yield Case(
        "3 rows over 5 positions", (np.array([[0.0, 10.0, -1.0], [2.0, 20.0, 1.0], [4.0, 40.0, 0.5]]), 5)
    )
    for rows, dim, length in ((2, 1, 7), (4, 4, 4), (5, 3, 12), (8, 2, 32), (9, 2, 5), (6, 6, 11)):
        yield Case(f"{rows} rows over {length} positions", (rng.normal(size=(rows, dim)), length))
    rows, length = int(rng.integers(5, 20)), int(rng.integers(25, 60))
    yield Case(f"{rows} rows over {length} positions", (rng.normal(size=(rows, 3)), length))


def _corners(rows: int, length: int) -> Array:
    """Where each position lies between the rows, the ends kept."""
    return np.arange(length) * ((rows - 1) / (length - 1))


def _read_between(table: Array, places: Array) -> Array:
    below = np.clip(np.floor(places).astype(int), 0, len(table) - 2)
    share = (places - below)[:, None]
    return table[below] * (1 - share) + table[below + 1] * share


def _stretch(table: Array, length: int) -> Array:
    return _read_between(table, _corners(len(table), length))


def _shares_swapped(table: Array, length: int) -> Array:
    places = _corners(len(table), length)
    below = np.clip(np.floor(places).astype(int), 0, len(table) - 2)
    share = (places - below)[:, None]
    return table[below] * share + table[below + 1] * (1 - share)


def _centred(table: Array, length: int) -> Array:
    places = (np.arange(length) + 0.5) * len(table) / length - 0.5
    return _read_between(table, np.clip(places, 0, len(table) - 1))


def _rows_by_length(table: Array, length: int) -> Array:
    places = np.arange(length) * len(table) / length
    return _read_between(table, np.clip(places, 0, len(table) - 1))


def _zeros_after(table: Array, length: int) -> Array:
    stretched = np.zeros((length, table.shape[1]))
    stretched[: len(table)] = table[:length]
    return stretched


def _stretch_by_column(table: Array, length: int) -> Array:
    places = np.linspace(0, len(table) - 1, length)
    return np.stack([np.interp(places, np.arange(len(table)), column) for column in table.T], axis=1)


def _stretch_by_loop(table: Array, length: int) -> list[list[float]]:
    stretched = []
    for position in range(length):
        place = position * (len(table) - 1) / (length - 1)
        below = min(int(place), len(table) - 2)
        share = place - below
        stretched.append(
            [(1 - share) * a + share * b for a, b in zip(*table[below : below + 2], strict=True)]
        )
    return stretched


def _stretch_by_tents(table: Array, length: int) -> Array:
    places = np.linspace(0, len(table) - 1, length)
    weights = np.maximum(0, 1 - np.abs(places[:, None] - np.arange(len(table))))
    return np.asarray(weights @ table)


STRETCH = Exercise(
    id=f"{CHAPTER}.stretch",
    title="Stretch a learned table",
    signature="stretch(table: array of shape (rows, dim), length: int) -> array of shape (length, dim)",
    points=4,
    minutes=15,
    difficulty=3,
    reference=_stretch,
    make_cases=_stretch_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == (args[1], args[0].shape[1]),
            "The stretched table has a row for each of the length positions, and as many columns as before.",
            about="form",
        ),
        Property(
            lambda args, value: bool(np.allclose(value[0], args[0][0])),
            "Position 0 must keep row 0 of the table.",
        ),
        Property(
            lambda args, value: bool(np.allclose(value[-1], args[0][-1])),
            "The last position must get the last row of the table.",
        ),
    ),
    mistakes=(
        Mistake(
            "clamped",
            lambda table, length: table[np.minimum(np.arange(length), len(table) - 1)],
            "The table is not stretched: it ends where it ended, and its last row is repeated. Let position "
            "p read at place p * (rows - 1) / (length - 1).",
        ),
        Mistake(
            "wrapped",
            lambda table, length: table[np.arange(length) % len(table)],
            "The table starts again from its first row where it ends, so a far position looks like a near "
            "one. Spread the rows over all positions instead.",
        ),
        Mistake(
            "zeros",
            _zeros_after,
            "The rows past the end are zeros. Spread the rows that there are over all positions, so that "
            "each position lies between two of them.",
        ),
        Mistake(
            "rows-by-length",
            _rows_by_length,
            "The place is p * rows / length, so the last position does not reach the last row at its own "
            "place. Count the gaps and not the posts: p * (rows - 1) / (length - 1).",
        ),
        Mistake(
            "gaps-by-length",
            lambda table, length: _read_between(table, np.arange(length) * (len(table) - 1) / length),
            "The place is p * (rows - 1) / length, so the last position falls short of the last row. There "
            "are length - 1 gaps between length positions: divide by length - 1.",
        ),
        Mistake(
            "centred",
            _centred,
            "The rows are taken as cells with centres, as image libraries do by default "
            "(align_corners=False). Then both ends are cut off. Here the first and the last position keep "
            "the first and the last row: p * (rows - 1) / (length - 1).",
        ),
        Mistake(
            "nearest",
            lambda table, length: table[np.rint(_corners(len(table), length)).astype(int)],
            "Each position got the nearest row, so neighbours share a row and cannot be told apart. Read "
            "between the two rows, in proportion to how near each is.",
        ),
        Mistake(
            "row-below",
            lambda table, length: table[np.floor(_corners(len(table), length)).astype(int)],
            "Each position got the row below its place, so neighbours share a row. Add the share of the row "
            "above: (1 - share) * below + share * above.",
        ),
        Mistake(
            "shares-swapped",
            _shares_swapped,
            "The two shares are swapped. At place 1.25 row 1 is the nearer one, so it counts 0.75 and row 2 "
            "counts 0.25.",
        ),
        Mistake(
            "columns",
            lambda table, length: _stretch_by_column(table.T, length).T if table.shape[1] > 1 else table,
            "The columns were stretched. Positions are the rows: the result has shape (length, dim).",
        ),
    ),
    alternatives=(_stretch_by_column, _stretch_by_loop, _stretch_by_tents),
    hints=(
        "Position 0 reads row 0, and position `length - 1` reads row `rows - 1`. Where does position p "
        "read, if every step is equally long?",
        "The place of position p is `p * (rows - 1) / (length - 1)`. Its whole part is the row below, and "
        "what is left is the share of the row above.",
        "The last place has no row above it. Keep the row below at `rows - 2` there, with a share of 1; or "
        "let `np.interp` read each column.",
    ),
)


# --- interpolated_positions ------------------------------------------------------------------------


def _interpolation_cases(rng: Generator) -> Iterator[Case]:
    for length, trained in ((8, 4), (4, 4), (3, 8), (10, 4), (1, 16), (100, 64), (256, 64), (9, 6)):
        yield Case(f"length {length}, trained at {trained}", (length, trained))
    for _ in range(2):
        trained = int(rng.integers(5, 30))
        length = trained + int(rng.integers(31, 60))
        yield Case(f"length {length}, trained at {trained}", (length, trained))


def _shrink(length: int, trained: int) -> Array:
    return np.arange(length) * min(1.0, trained / length)


def _where_longer(squeeze: Callable[[Array, int, int], Any]) -> Callable[[int, int], Any]:
    """A mistake that is made only on texts that are longer than the training length."""

    def positions(length: int, trained: int) -> Any:
        whole = np.arange(length, dtype=np.float64)
        return squeeze(whole, length, trained) if length > trained else whole

    return positions


def _interpolate_by_loop(length: int, trained: int) -> list[float]:
    factor = max(length / trained, 1.0)
    return [token / factor for token in range(length)]


INTERPOLATED_POSITIONS = Exercise(
    id=f"{CHAPTER}.interpolated_positions",
    title="Squeeze the positions",
    signature="interpolated_positions(length: int, trained: int) -> array of shape (length,)",
    points=2,
    minutes=8,
    difficulty=2,
    reference=_shrink,
    make_cases=_interpolation_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == (args[0],),
            "There is one position for each token of the text.",
            about="form",
        ),
        Property(
            lambda args, value: bool(np.all(np.asarray(value) < args[1])),
            "No position may reach the training length: that is the whole purpose.",
        ),
        Property(
            lambda args, value: len(set(np.ravel(value).tolist())) == args[0],
            "Two tokens got the same position. Positions need not be whole numbers.",
        ),
    ),
    mistakes=(
        Mistake(
            "unchanged",
            lambda length, trained: np.arange(length),
            "The positions are 0, 1, 2, ... as before, so a long text still reaches positions that were "
            "never trained. Multiply them by trained / length.",
        ),
        Mistake(
            "short-texts-stretched",
            lambda length, trained: np.arange(length) * (trained / length),
            "Texts shorter than the training length are stretched: their tokens stand further apart than "
            "they ever did in training. Leave the positions of such texts alone.",
        ),
        Mistake(
            "whole-numbers",
            _where_longer(lambda p, length, trained: p * trained // length),
            "The positions are cut down to whole numbers, so neighbours share one and their order is lost. "
            "Keep the fractions: divide with a single slash.",
        ),
        Mistake(
            "rounded",
            _where_longer(lambda p, length, trained: np.rint(p * trained / length)),
            "The positions are rounded to whole numbers, so some neighbours share one. Keep the fractions: a "
            "rotation or a sine takes any real position.",
        ),
        Mistake(
            "stretched",
            _where_longer(lambda p, length, trained: p * length / trained),
            "The factor is upside down: the positions were spread even further. Multiply by trained / "
            "length.",
        ),
        Mistake(
            "ends-kept",
            _where_longer(lambda p, length, trained: p * (trained - 1) / (length - 1)),
            "The last token was put on the last trained position. That is how a table is stretched; position "
            "interpolation multiplies by trained / length.",
        ),
        Mistake(
            "clamped",
            _where_longer(lambda p, length, trained: np.minimum(p, trained - 1)),
            "All far tokens got the last trained position, so their order is lost. Squeeze all positions "
            "alike, the near ones too.",
        ),
        Mistake(
            "wrapped",
            _where_longer(lambda p, length, trained: p % trained),
            "The count starts again at the training length, so a far token gets the position of a near one. "
            "Squeeze all positions alike.",
        ),
        Mistake(
            "whole-factor",
            _where_longer(lambda p, length, trained: p / -(-length // trained)),
            "The factor was rounded up to a whole number, so the positions are squeezed more than they need "
            "to be. Use length / trained as it is.",
        ),
        Mistake(
            "counted-from-1",
            _where_longer(lambda p, length, trained: (p + 1) * trained / length),
            "The tokens are counted from 1. The first token stands at position 0, squeezed or not.",
        ),
    ),
    alternatives=(
        lambda length, trained: np.linspace(0, min(length, trained), length, endpoint=False),
        _interpolate_by_loop,
        lambda length, trained: np.arange(length, dtype=np.float32) / np.float32(max(1.0, length / trained)),
    ),
    hints=(
        "A text of 8 tokens has to fit where 4 were trained. By what do you multiply each position?",
        "The factor is `trained / length`. What happens to a text that is shorter than the training length, "
        "and what should happen?",
        "`min(1.0, trained / length)` leaves short texts alone.",
    ),
)


# --- early_share -----------------------------------------------------------------------------------

EARLY_SHARE = Exercise(
    id=f"{CHAPTER}.early_share",
    title="Predict: how many tokens are early?",
    step_of=EARLY_TOKENS,
    parts=("in blocks of 64", "in blocks of 1024"),
    signature="early_share: two numbers between 0 and 1, (in blocks of 64, in blocks of 1024)",
    points=1,
    minutes=5,
    difficulty=2,
    kind="value",
    reference=lambda: (0.5, 0.03125),
    make_cases=lambda rng: iter([Case("your prediction")]),
    relative_tolerance=1e-2,
    absolute_tolerance=0.0,
    properties=(
        Property(
            lambda args, value: all(0 <= share <= 1 for share in value),
            "Give shares between 0 and 1: early tokens of a block, divided by all tokens of the block.",
        ),
    ),
    mistakes=(
        Mistake(
            "the-same-share",
            lambda: (0.5, 0.5),
            "Your first number is right. A longer block has just as many early tokens as a short one, and "
            "many more others: the share falls.",
        ),
        Mistake(
            "counts",
            lambda: (32, 32),
            "These are counts: each block has 32 early tokens, whatever its length. Divide by the length of "
            "the block.",
        ),
        Mistake(
            "percent",
            lambda: (50, 3.125),
            "These are percentages. Give shares between 0 and 1.",
        ),
        Mistake(
            "late-share",
            lambda: (0.5, 0.96875),
            "The second number is the share of tokens that are not early. Take it from 1.",
        ),
        Mistake(
            "ratio-of-blocks",
            lambda: (0.5, 0.0625),
            "Your first number is right. The second is 64 / 1024, one block in the other. An early token is "
            "one of the first 32.",
        ),
        Mistake(
            "swapped",
            lambda: (0.03125, 0.5),
            "The two numbers are swapped. The short blocks come first, and more of their tokens are early.",
        ),
        Mistake(
            "thirty-one",
            lambda: (31 / 64, 31 / 1024),
            "You counted 31 early tokens. The first token of a block has 0 tokens before it and the next has "
            "1; 0 to 31 are 32 different numbers.",
        ),
        Mistake(
            "thirty-three",
            lambda: (33 / 64, 33 / 1024),
            "You counted 33 early tokens. Fewer than 32 means 0 to 31, and 32 itself does not belong to it.",
        ),
    ),
    alternatives=(
        lambda: [0.5, 1 / 32],
        lambda: (32 / 64, 32 / 1024),
        lambda: tuple(np.mean(np.arange(block) < 32) for block in (64, 1024)),
        lambda: (0.5, 0.0313),
    ),
    hints=(
        "How many tokens does the first token of a block have before it? And the second?",
        "Each block has 32 tokens with fewer than 32 before them. What share of the block is that?",
    ),
)


# --- far_gap ---------------------------------------------------------------------------------------


def _losses(rng: Generator, windows: int, length: int, trained: int, rise: float) -> Array:
    """Losses that fall along a window as context grows, and change past the training length."""
    place = np.arange(length)
    mean = 1.5 + 2.0 / (1 + place / 4) + rise * (place >= trained)
    return np.asarray(mean + 0.2 * rng.normal(size=(windows, length)))


def _far_gap_cases(rng: Generator) -> Iterator[Case]:
    yield Case("two windows, nothing changes", (np.full((2, 16), 1.25), 8))
    for label, shape, rise in (
        ("a model that breaks", (3, 16, 8), 1.0),
        ("a model that hides it well", (4, 24, 20), 0.4),
        ("a model that gains", (5, 64, 16), -0.3),
        ("one token past the training length", (2, 9, 8), 0.7),
    ):
        yield Case(label, (_losses(rng, *shape, rise), shape[2]))
    padded = _losses(rng, 3, 32, 12, 0.8)
    padded[0, 9:] = np.nan
    padded[1, 20:] = np.nan
    yield Case("windows that end early, with NaN after their end", (padded, 12))
    few = _losses(rng, 2, 14, 4, 0.5)
    few[1, 6:] = np.nan
    yield Case("one window shorter than the other", (few, 4))


def _gap(far: Array, near: Array, mean: Callable[[Array], Any] = np.nanmean) -> float:
    with np.errstate(all="ignore"):
        return float(mean(far) - mean(near))


def _parts(
    *, whole_far: bool = False, whole_near: bool = False, mean: Callable[[Array], Any] = np.nanmean
) -> Callable[[Array, int], float]:
    """The gap, with some of the three slips of the version that is given."""

    def gap(losses: Array, trained: int) -> float:
        far = losses if whole_far else losses[:, trained:]
        near = losses[:, (0 if whole_near else trained // 2) : trained]
        return _gap(far, near, mean)

    return gap


def _mean_of_means(part: Array) -> float:
    kept = [row[~np.isnan(row)] for row in part]
    return float(np.mean([row.mean() for row in kept if row.size]))


def _gap_by_masks(losses: Array, trained: int) -> Any:
    place = np.broadcast_to(np.arange(losses.shape[1]), losses.shape)
    there = np.isfinite(losses)
    far, near = there & (place >= trained), there & (place >= trained // 2) & (place < trained)
    return losses[far].mean() - losses[near].mean()


def _gap_by_loop(losses: Array, trained: int) -> float:
    far, near = [], []
    for row in losses.tolist():
        for place, loss in enumerate(row):
            if loss != loss:
                continue
            if place >= trained:
                far.append(loss)
            elif place >= trained // 2:
                near.append(loss)
    return float(np.mean(far) - np.mean(near))


def _gap_by_sums(losses: Array, trained: int) -> Any:
    count, total = (~np.isnan(losses)).sum(axis=0), np.nan_to_num(losses).sum(axis=0)
    half = trained // 2
    return (
        total[trained:].sum() / count[trained:].sum() - total[half:trained].sum() / count[half:trained].sum()
    )


FAR_GAP = Exercise(
    id=f"{CHAPTER}.far_gap",
    title="Debug: an evaluation that fools itself",
    signature="far_gap(losses: array of shape (windows, length), trained: int) -> float, in nats",
    points=3,
    minutes=12,
    difficulty=3,
    reference=_parts(),
    make_cases=_far_gap_cases,
    where_not_finite="Some windows end early and hold NaN after their end: leave those entries out of both "
    "means.",
    properties=(
        Property(
            lambda args, value: np.ndim(value) == 0,
            "Return one number: a mean less another mean.",
            about="form",
        ),
    ),
    mistakes=(
        Mistake(
            "as-given",
            _parts(whole_far=True, whole_near=True, mean=np.mean),
            "This does what the given version does. It has three faults: its first mean runs over the whole "
            "window, its second begins at position 0, and both are NaN where a window ends early.",
        ),
        Mistake(
            "far-and-near-mixed",
            _parts(whole_far=True),
            "One fault is left: the first mean runs over the whole window, so the positions that were "
            "trained dilute the damage. Take positions trained and later only.",
        ),
        Mistake(
            "early-tokens-kept",
            _parts(whole_near=True),
            "One fault is left: the second mean begins at position 0. The first tokens have little context "
            "and a high loss, which makes the far ones look good. Begin at trained // 2.",
        ),
        Mistake(
            "padding-kept",
            _parts(mean=np.mean),
            "One fault is left: where a window ends early, the result is NaN. Leave out what is not there, "
            "with np.nanmean for example.",
        ),
        Mistake(
            "mixed-and-early",
            _parts(whole_far=True, whole_near=True),
            "Two faults are left: the first mean should begin at position trained, and the second at "
            "position trained // 2.",
        ),
        Mistake(
            "mixed-and-padded",
            _parts(whole_far=True, mean=np.mean),
            "Two faults are left: the first mean should begin at position trained, and NaN should be left "
            "out of both means.",
        ),
        Mistake(
            "early-and-padded",
            _parts(whole_near=True, mean=np.mean),
            "Two faults are left: the second mean should begin at position trained // 2, and NaN should be "
            "left out of both means.",
        ),
        Mistake(
            "padding-as-zero",
            _parts(mean=lambda part: np.nan_to_num(part).mean()),
            "NaN was replaced by 0, so every token that is missing counts as predicted perfectly. Leave such "
            "entries out instead: np.nanmean.",
        ),
        Mistake(
            "near-less-far",
            lambda losses, trained: -_parts()(losses, trained),
            "The sign is turned: a model that gets worse past its training length must have a gap above 0. "
            "Subtract the near mean from the far mean.",
        ),
        Mistake(
            "mean-of-means",
            _parts(mean=_mean_of_means),
            "You average the windows first, and then their means, so a window that ends early counts as much "
            "as a whole one. Take one mean over all tokens that are there.",
        ),
    ),
    alternatives=(_gap_by_masks, _gap_by_loop, _gap_by_sums),
    hints=(
        "Which positions should each of the two means run over? Write the slices down first.",
        "`losses[:, trained:]` and `losses[:, trained // 2 : trained]`. In which of them may NaN stand?",
        "`np.nanmean` leaves NaN out. `np.mean` gives NaN as soon as one entry is NaN.",
    ),
)


# --- blocks_and_sliding ----------------------------------------------------------------------------


def _context_cases(rng: Generator) -> Iterator[Case]:
    for tokens, window in ((8, 4), (10, 4), (5, 1), (6, 6), (6, 9), (23, 5), (int(rng.integers(14, 22)), 3)):
        yield Case(f"{tokens} tokens, windows of {window}", (_by_context(rng, tokens), window))


def _by_context(rng: Generator, tokens: int) -> Array:
    """losses[t, c]: token t, predicted from the c tokens before it; NaN where there are fewer."""
    losses = 4.0 - np.sqrt(np.arange(tokens)) * 0.5 + rng.normal(size=(tokens, tokens)) * 0.3
    return np.where(np.tri(tokens, dtype=bool), losses, np.nan)


def _mean_at(losses: Array, context: Array) -> float:
    return float(losses[np.arange(len(losses)), context].mean())


def _in_blocks(losses: Array, window: int) -> float:
    return _mean_at(losses, np.arange(len(losses)) % window)


def _in_sliding(losses: Array, window: int) -> float:
    return _mean_at(losses, np.minimum(np.arange(len(losses)), window - 1))


def _sliding_without_start(losses: Array, window: int) -> float:
    late = np.arange(min(window - 1, len(losses) - 1), len(losses))
    return float(losses[late, np.minimum(late, window - 1)].mean())


def _blocks_without_rest(losses: Array, window: int) -> float:
    whole = len(losses) // window * window or len(losses)
    return float(losses[np.arange(whole), np.arange(whole) % window].mean())


def _every_context(losses: Array, window: int) -> float:
    return float(np.nanmean(losses[:, :window]))


def _contexts_by_loop(losses: Array, window: int) -> tuple[float, float]:
    blocks = sliding = 0.0
    seen = 0
    for token, row in enumerate(losses):
        blocks += row[seen]
        sliding += row[token if token < window else window - 1]
        seen = (seen + 1) % window
    return blocks / len(losses), sliding / len(losses)


def _contexts_by_cutting(losses: Array, window: int) -> list[Any]:
    starts = range(0, len(losses), window)
    in_blocks = np.concatenate([np.diag(losses[start : start + window, :window]) for start in starts])
    diagonal, later = np.diag(losses)[:window], losses[window:, window - 1 : window].ravel()
    return [in_blocks.mean(), np.concatenate([diagonal, later]).mean()]


def _contexts_by_masks(losses: Array, window: int) -> tuple[Any, Any]:
    token, context = np.indices(losses.shape)
    return (
        losses[context == token % window].mean(),
        losses[context == np.where(token < window, token, window - 1)].mean(),
    )


BLOCKS_AND_SLIDING = Exercise(
    id=f"{CHAPTER}.blocks_and_sliding",
    title="Blocks, or a window that slides",
    step_of=EARLY_TOKENS,
    parts=("in blocks", "sliding"),
    signature="blocks_and_sliding(losses: array of shape (tokens, tokens), window: int) -> (float, float), "
    "in nats",
    points=3,
    minutes=12,
    difficulty=3,
    reference=lambda losses, window: (_in_blocks(losses, window), _in_sliding(losses, window)),
    make_cases=_context_cases,
    where_not_finite="The losses hold NaN where a token would need more context than there is: token t has t "
    "tokens before it. Do you read one of those?",
    mistakes=(
        Mistake(
            "swapped",
            lambda losses, window: (_in_sliding(losses, window), _in_blocks(losses, window)),
            "The two numbers are swapped. The loss in blocks comes first.",
        ),
        Mistake(
            "blocks-twice",
            lambda losses, window: (_in_blocks(losses, window),) * 2,
            "Both numbers are the loss in blocks. The sliding window moves on by one token each time, so its "
            "context does not start again at 0: it grows to window - 1 and stays there.",
        ),
        Mistake(
            "sliding-twice",
            lambda losses, window: (_in_sliding(losses, window),) * 2,
            "Both numbers are the loss of the sliding window. In blocks the context starts again at 0 with "
            "every block: t % window.",
        ),
        Mistake(
            "one-token-more",
            lambda losses, window: (
                _in_blocks(losses, window),
                _mean_at(losses, np.minimum(np.arange(len(losses)), window)),
            ),
            "The blocks are right. The sliding window reads one token too many: the token itself takes a "
            "place in it, so at most window - 1 are left for those before it.",
        ),
        Mistake(
            "all-before",
            lambda losses, window: (_in_blocks(losses, window), _mean_at(losses, np.arange(len(losses)))),
            "The blocks are right. The second number lets every token see all tokens before it. A window "
            "forgets: at most window - 1 of them.",
        ),
        Mistake(
            "start-left-out",
            lambda losses, window: (_in_blocks(losses, window), _sliding_without_start(losses, window)),
            "The blocks are right. The sliding window leaves out the first tokens, whose window is not full "
            "yet. Count them too, with the context that they have, so that both means are over the same "
            "tokens.",
        ),
        Mistake(
            "rest-left-out",
            lambda losses, window: (_blocks_without_rest(losses, window), _in_sliding(losses, window)),
            "The sliding window is right. The blocks leave out the last tokens, which fill no whole block. "
            "Count them too, so that both means are over the same tokens.",
        ),
        Mistake(
            "every-context",
            lambda losses, window: (_every_context(losses, window), _in_sliding(losses, window)),
            "The sliding window is right. The first number averages over all contexts that fit into a "
            "window. In blocks each token has one context: t % window tokens before it.",
        ),
        Mistake(
            "sums",
            lambda losses, window: (
                _in_blocks(losses, window) * len(losses),
                _in_sliding(losses, window) * len(losses),
            ),
            "These are sums. Divide by the number of tokens, so that texts of different lengths can be "
            "compared.",
        ),
    ),
    alternatives=(_contexts_by_loop, _contexts_by_cutting, _contexts_by_masks),
    hints=(
        "Write down, for tokens 0 to 9 and a window of 4, how many tokens each one sees in blocks, and how "
        "many when the window slides.",
        "In blocks they are 0, 1, 2, 3, 0, 1, 2, 3, 0, 1. Sliding they are 0, 1, 2, 3, 3, 3, 3, 3, 3, 3.",
        "`losses[tokens, context]` with two arrays of whole numbers picks one loss for each token.",
    ),
)


# --- forgets ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Reader:
    """A model that may be asked: tokens 0 .. 9, (n,), to one number for each token, (n,)."""

    reads: str
    reach: int = 1
    """How many tokens back it looks, the token itself counted."""

    def __call__(self, tokens: Array) -> Array:
        given = np.asarray(tokens, dtype=np.int64)
        return np.array([self._last(given[: t + 1]) for t in range(len(given))])

    def _last(self, tokens: Array) -> float:
        near, far = tokens[-self.reach :], tokens[: -self.reach]
        here = float(near @ 1.5 ** -np.arange(len(near))[::-1])
        match self.reads:
            case "far in order":
                here += float(far @ 1.3 ** np.arange(len(far)))
            case "far as a bag":
                here += float((far**2).sum())
            case "far faintly":
                here += 1e-4 * float(far.sum())
            case "first":
                here += float(tokens[0])
            case "middle":
                here += float(far[len(far) // 2]) if len(far) else 0.0
            case "just past":
                here += float(far[-1]) if len(far) else 0.0
            case "difference":
                here += float((far[0] - far[1]) % 10) if len(far) > 1 else 0.0
            case "position":
                here += float(np.sin(len(tokens)))
        return here


DEAF = {
    "a model that reads its window only": "window",
    "a model that reads less than its window": "less",
    "a model that reads its window, and knows the position": "position",
    "a text shorter than the window": "short",
}
LISTENING = {
    "a model that reads all tokens, in order": "far in order",
    "a model that adds up the far tokens": "far as a bag",
    "a model that reads the far tokens very faintly": "far faintly",
    "a model that reads its window and the first token": "first",
    "a model that reads its window and one token in the middle": "middle",
    "a model that reads one token past the window": "just past",
    "a model that compares two far tokens": "difference",
}


def _reader_cases(rng: Generator) -> Iterator[Case]:
    for label in enough_of_each(rng, list(DEAF), list(LISTENING)):
        reads = {**DEAF, **LISTENING}[label]
        window = int(rng.integers(3, 7))
        # Three far tokens or more: the first, one in the middle, and the one just past the window.
        length = window - 2 if reads == "short" else int(rng.integers(window + 3, 11))
        reader = Reader(
            "window" if reads in ("less", "short") else reads, window - 2 if reads == "less" else window
        )
        # All tokens differ, so that to exchange two of them is to change them.
        yield Case(label, (reader, rng.permutation(10)[:length], window))


def _last_of(predict: Callable[[Array], Any], tokens: Array) -> float:
    return float(np.asarray(predict(tokens))[-1])


def _changed(tokens: Array, place: int, by: int = 1) -> Array:
    other = tokens.copy()
    other[place] = (other[place] + by) % 10
    return other


def _deaf_to(
    places: Callable[[int, int], Any], slack: float = 1e-9
) -> Callable[[Callable[[Array], Any], Array, int], bool]:
    """Whether the last output stays when the tokens at these places are changed one by one."""

    def deaf(predict: Callable[[Array], Any], tokens: Array, window: int) -> bool:
        before = _last_of(predict, tokens)
        return all(
            abs(_last_of(predict, _changed(tokens, place)) - before) <= slack
            for place in places(len(tokens), window)
        )

    return deaf


_forgets = _deaf_to(lambda n, window: range(n - window))


def _cut_off(predict: Callable[[Array], Any], tokens: Array, window: int) -> bool:
    return abs(_last_of(predict, tokens) - _last_of(predict, tokens[-window:])) <= 1e-9


def _far_reversed(predict: Callable[[Array], Any], tokens: Array, window: int) -> bool:
    far = max(len(tokens) - window, 0)
    other = np.concatenate([tokens[:far][::-1], tokens[far:]])
    return abs(_last_of(predict, tokens) - _last_of(predict, other)) <= 1e-9


def _all_at_once(predict: Callable[[Array], Any], tokens: Array, window: int) -> bool:
    other = tokens.copy()
    far = max(len(tokens) - window, 0)
    other[:far] = (other[:far] + 1) % 10
    return abs(_last_of(predict, tokens) - _last_of(predict, other)) <= 1e-9


def _every_output(predict: Callable[[Array], Any], tokens: Array, window: int) -> bool:
    return all(
        np.allclose(predict(_changed(tokens, place)), predict(tokens), rtol=0, atol=1e-9)
        for place in range(len(tokens) - window)
    )


def _forgets_by_batch(predict: Callable[[Array], Any], tokens: Array, window: int) -> Any:
    answers = {round(_last_of(predict, tokens), 7)}
    for place in range(max(0, len(tokens) - window)):
        for token in set(range(10)) - {int(tokens[place])}:
            other = np.array(tokens)
            other[place] = token
            answers.add(round(_last_of(predict, other), 7))
    return len(answers) == 1


def _forgets_by_search(predict: Callable[[Array], Any], tokens: Array, window: int) -> bool:
    place = len(tokens) - window - 1
    while place >= 0:
        if not np.isclose(
            _last_of(predict, _changed(tokens, place, by=3)), _last_of(predict, tokens), rtol=0, atol=1e-8
        ):
            return False
        place -= 1
    return True


def _forgets_by_difference(predict: Callable[[Array], Any], tokens: Array, window: int) -> Any:
    before = _last_of(predict, tokens)
    moved = [abs(_last_of(predict, _changed(tokens, p, by=-1)) - before) for p in range(len(tokens) - window)]
    return np.max(moved, initial=0.0) < 1e-6


FORGETS = Exercise(
    id=f"{CHAPTER}.forgets",
    title="Prove by test: does it use what is there?",
    signature="forgets(predict: from tokens of shape (n,) to numbers of shape (n,), tokens: array of shape "
    "(n,), window: int) -> bool",
    points=4,
    minutes=15,
    difficulty=4,
    reference=_forgets,
    make_cases=_reader_cases,
    mistakes=(
        Mistake(
            "cut-off",
            _cut_off,
            "You cut the far tokens off. That also moves the others to new positions, and a model that knows "
            "positions may answer differently without reading a single far token. Leave the text as long as "
            "it is, and change a far token to another one.",
        ),
        Mistake(
            "first-token-only",
            _deaf_to(lambda n, window: range(min(1, max(n - window, 0)))),
            "Only the first token is changed. A model may ignore that one and read others that are far: try "
            "every token before the last window tokens.",
        ),
        Mistake(
            "nearest-far-token-only",
            _deaf_to(lambda n, window: range(max(n - window - 1, 0), n - window)),
            "Only the token just before the window is changed. A model may read another one, the first of "
            "the text for example: try every token before the last window tokens.",
        ),
        Mistake(
            "reversed",
            _far_reversed,
            "You put the far tokens into another order. A model that adds them up reads all of them and does "
            "not notice. Change a far token to another one.",
        ),
        Mistake(
            "all-at-once",
            _all_at_once,
            "You change all far tokens at once and by the same step. A model that compares two of them does "
            "not notice. Change them one by one.",
        ),
        Mistake(
            "every-output",
            _every_output,
            "You compare all outputs. The outputs of early tokens may change, because for them those tokens "
            "are near. Compare the last output only.",
        ),
        Mistake(
            "into-the-window",
            _deaf_to(lambda n, window: range(max(n - window + 1, 0))),
            "You also change the first token inside the window, which the model may read. The far ones are "
            "the first n - window tokens: range(n - window).",
        ),
        Mistake(
            "one-token-short",
            _deaf_to(lambda n, window: range(n - window - 1)),
            "The token just before the window is left out. The far ones are the first n - window tokens: "
            "range(n - window).",
        ),
        Mistake(
            "too-tolerant",
            _deaf_to(lambda n, window: range(n - window), slack=1e-2),
            "You overlook small changes. What is far is often read faintly, and faintly is not the same as "
            "never: allow for rounding only, 1e-9 for example.",
        ),
        Mistake(
            "opposite",
            lambda predict, tokens, window: not _forgets(predict, tokens, window),
            "The answer is the wrong way round: return True where no far token changes the last output.",
        ),
    ),
    alternatives=(_forgets_by_batch, _forgets_by_search, _forgets_by_difference),
    hints=(
        "The last output of `predict(tokens)` is your reference. Which tokens must not be able to change it?",
        "The far tokens are the first `n - window` ones. Copy `tokens`, change one of them to `(token + 1) "
        "% 10`, and ask `predict` again.",
        "Return `False` as soon as one change moves the last output, and `True` after the loop.",
    ),
)


# --- verdict ---------------------------------------------------------------------------------------

UP, STAY, DOWN = (1.4, 4.0), (-0.7, 0.7), (-4.0, -1.4)
"""How far a loss moves past the training length, in slacks, from and to."""
CURVES = {
    "breaks": {
        "all seeds rise": ((UP, UP), (UP, UP), (UP, UP)),
        "one seed of three rises": ((DOWN, DOWN), (DOWN, DOWN), (STAY, (1.4, 2.0))),
        "it rises in between and comes back": ((UP, STAY), (UP, STAY)),
        "large losses and a small rise": ((UP, STAY), (UP, UP)),
    },
    "holds": {
        "all seeds stay": (((0.2, 0.7), STAY), (STAY, STAY), (STAY, STAY)),
        "two seeds of three fall": ((DOWN, DOWN), (DOWN, DOWN), (STAY, STAY)),
        "it falls, and comes back to where it was": ((DOWN, STAY), (DOWN, STAY)),
    },
    "gains": {
        "all seeds fall": ((DOWN, DOWN), (DOWN, DOWN), (DOWN, DOWN)),
        "lengths in another order": ((DOWN, DOWN), (DOWN, DOWN)),
        "it stays at first, and falls at last": ((STAY, DOWN), (STAY, DOWN), (STAY, DOWN)),
    },
}
"""The word, what happens, and for each seed how the loss moves at twice and at four times the length."""


def _verdict_cases(rng: Generator) -> Iterator[Case]:
    moves = {label: seeds for kinds in CURVES.values() for label, seeds in kinds.items()}
    for label in enough_of_each(rng, *(list(kinds) for kinds in CURVES.values())):
        trained, slack = int(2 ** rng.integers(5, 9)), round(float(rng.uniform(0.03, 0.07)), 3)
        lengths = trained // 2 * np.array([1, 2, 4, 8])
        low = 4.5 if label.startswith("large") else 1.2
        base = rng.uniform(low, 6.0, size=(len(moves[label]), 1))
        # With half of the context the loss is higher, by more than any rise past the training length.
        before = rng.uniform(0.3, 0.5, size=base.shape)
        after = slack * np.array([[rng.uniform(*each) for each in seed] for seed in moves[label]])
        losses = base + np.concatenate([before, 0 * before, after], axis=1)
        order = [3, 1, 2, 0] if label == "lengths in another order" else [0, 1, 2, 3]
        yield Case(label, (lengths[order], losses[:, order], trained, slack))


def _judge(
    lengths: Array,
    losses: Array,
    trained: int,
    slack: float,
    *,
    breaks: Callable[[Array], Any] = np.any,
    gains: Callable[[Array], Any] = np.all,
) -> str:
    base = losses[:, lengths == trained]
    change = losses[:, lengths > trained] - base
    longest = losses[:, np.argmax(lengths)] - base[:, 0]
    if breaks(change.max(axis=1) > slack):
        return "breaks"
    return "gains" if gains(longest < -slack) else "holds"


def _judge_mean(lengths: Array, losses: Array, trained: int, slack: float) -> str:
    return _judge(lengths, losses.mean(axis=0, keepdims=True), trained, slack)


def _judge_longest(lengths: Array, losses: Array, trained: int, slack: float) -> str:
    keep = (lengths == trained) | (lengths == lengths.max())
    return _judge(lengths[keep], losses[:, keep], trained, slack)


def _judge_shortest(lengths: Array, losses: Array, trained: int, slack: float) -> str:
    return _judge(lengths, losses, int(lengths.min()), slack)


def _judge_all_lengths(lengths: Array, losses: Array, trained: int, slack: float) -> str:
    base = losses[:, lengths == trained]
    if ((losses - base).max(axis=1) > slack).any():
        return "breaks"
    return _judge(lengths, losses, trained, slack)


def _judge_last_column(lengths: Array, losses: Array, trained: int, slack: float) -> str:
    base = losses[:, lengths == trained]
    if _judge(lengths, losses, trained, slack) == "breaks":
        return "breaks"
    return "gains" if (losses[:, -1:] - base < -slack).all() else "holds"


def _judge_relative(lengths: Array, losses: Array, trained: int, slack: float) -> str:
    return _judge(lengths, losses / losses[:, lengths == trained], trained, slack)


def _judge_any_length(lengths: Array, losses: Array, trained: int, slack: float) -> str:
    change = losses[:, lengths > trained] - losses[:, lengths == trained]
    if (change > slack).any():
        return "breaks"
    return "gains" if (change.min(axis=1) < -slack).all() else "holds"


def _judge_by_loop(lengths: Array, losses: Array, trained: int, slack: float) -> str:
    every_seed_gains = True
    for row in losses.tolist():
        by_length = dict(sorted(zip(lengths.tolist(), row, strict=True)))
        base = by_length[trained]
        if any(loss > base + slack for length, loss in by_length.items() if length > trained):
            return "breaks"
        every_seed_gains &= row[lengths.tolist().index(max(lengths))] < base - slack
    return "gains" if every_seed_gains else "holds"


def _judge_sorted(lengths: Array, losses: Array, trained: int, slack: float) -> str:
    order = np.argsort(lengths)
    start = int(np.searchsorted(lengths[order], trained))
    change = (losses[:, order] - losses[:, order][:, [start]])[:, start + 1 :]
    if change.max() > slack:
        return "breaks"
    return "holds" if change[:, -1].max() >= -slack else "gains"


VERDICT = Exercise(
    id=f"{CHAPTER}.verdict",
    title="Measure and conclude: does it extrapolate?",
    signature="verdict(lengths: (n,) whole numbers, losses: (seeds, n) in nats, trained: int, slack: float) "
    "-> text",
    points=3,
    minutes=12,
    difficulty=3,
    reference=_judge,
    make_cases=_verdict_cases,
    properties=(
        Property(
            lambda args, value: value in ("breaks", "holds", "gains"),
            "Return one of the three words: breaks, holds or gains.",
            about="form",
        ),
    ),
    mistakes=(
        Mistake(
            "mean-over-seeds",
            _judge_mean,
            "You average over the seeds first. A seed that breaks then hides behind others that do not. The "
            "rule asks every seed.",
        ),
        Mistake(
            "longest-only",
            _judge_longest,
            "You look at the longest length only. A loss that rises in between and comes back is a break "
            "too: compare every length above trained.",
        ),
        Mistake(
            "shortest-as-base",
            _judge_shortest,
            "You compare with the shortest length, where context is scarce and the loss high, so the rise "
            "past the training length goes unseen. Compare with the loss at trained.",
        ),
        Mistake(
            "shorter-lengths-too",
            _judge_all_lengths,
            "You also hold the shorter lengths against the model. Their loss is higher because there is less "
            "context. Only lengths above trained say anything about extrapolation.",
        ),
        Mistake(
            "last-column-as-longest",
            _judge_last_column,
            "You take the last column for the longest length. The lengths may come in any order: look for "
            "their maximum.",
        ),
        Mistake(
            "no-slack",
            lambda lengths, losses, trained, slack: _judge(lengths, losses, trained, 0.0),
            "You call every rise a break, however small. A change of at most slack is noise.",
        ),
        Mistake(
            "relative-slack",
            _judge_relative,
            "You take slack as a share of the loss. It is given in nats: compare the difference of two "
            "losses with it.",
        ),
        Mistake(
            "gains-in-any-seed",
            lambda lengths, losses, trained, slack: _judge(lengths, losses, trained, slack, gains=np.any),
            "One seed that falls was enough for you to say gains. The rule asks for it in every seed.",
        ),
        Mistake(
            "gains-at-any-length",
            _judge_any_length,
            "You say gains where the loss falls at some longer length. The rule asks for it at the longest "
            "one.",
        ),
        Mistake(
            "breaks-in-every-seed",
            lambda lengths, losses, trained, slack: _judge(lengths, losses, trained, slack, breaks=np.all),
            "You say breaks only where every seed rises. One seed is enough: a method that fails one time in "
            "three cannot be relied on.",
        ),
    ),
    alternatives=(_judge_by_loop, _judge_sorted, lambda *args: _judge(*args).upper() + " "),
    hints=(
        "For each seed, take the loss at `trained` away from the losses at all longer lengths. A mask such "
        "as `lengths == trained` picks a column.",
        "If one of these differences is above `slack`, in any seed, the word is `breaks`.",
        "Otherwise look at the longest length: below minus `slack` in every seed is `gains`. What is left is "
        "`holds`.",
    ),
)

EXERCISES = (
    STRETCH,
    INTERPOLATED_POSITIONS,
    EARLY_SHARE,
    BLOCKS_AND_SLIDING,
    FAR_GAP,
    FORGETS,
    VERDICT,
)

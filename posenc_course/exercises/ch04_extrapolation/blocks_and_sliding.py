"""How a long window flatters a model: Blocks, or a window that slides."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from posenc_course.exercises.ch04_extrapolation._shared import EARLY_TOKENS, Generator
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property
from posenc_lib._arrays import Array


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


def _mean_of_blocks(losses: Array, window: int) -> float:
    starts = range(0, len(losses), window)
    return float(np.mean([np.diag(losses[start : start + window, :window]).mean() for start in starts]))


def _with_blocks(blocks: Callable[[Array, int], float]) -> Callable[[Array, int], tuple[float, float]]:
    return lambda losses, window: (blocks(losses, window), _in_sliding(losses, window))


def _with_sliding(sliding: Callable[[Array, int], float]) -> Callable[[Array, int], tuple[float, float]]:
    return lambda losses, window: (_in_blocks(losses, window), sliding(losses, window))


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
    id="04-extrapolation.blocks_and_sliding",
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
    properties=(
        Property(
            lambda args, value: np.isclose(value[0], _in_blocks(*args)),
            "The loss in blocks is wrong. Token t has t % window tokens before it in its block. Take that "
            "one loss for every token, and then the mean.",
        ),
        Property(
            lambda args, value: np.isclose(value[1], _in_sliding(*args)),
            "The loss of the sliding window is wrong. Token t has window - 1 tokens before it, or all t of "
            "them if there are fewer. Take that one loss for every token, and then the mean.",
        ),
    ),
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
            "Both numbers are the loss in blocks. The sliding window moves by one token each time, so its "
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
            "The blocks are right. The sliding window leaves out the first tokens, whose window is not yet "
            "full. Count them too, with the context they have, so that both means are over the same tokens.",
        ),
        Mistake(
            "rest-left-out",
            lambda losses, window: (_blocks_without_rest(losses, window), _in_sliding(losses, window)),
            "The sliding window is right. The blocks leave out the last tokens, which do not fill a whole "
            "block. Count them too, so that both means are over the same tokens.",
        ),
        Mistake(
            "every-context",
            lambda losses, window: (_every_context(losses, window), _in_sliding(losses, window)),
            "The sliding window is right. The first number averages over all contexts that fit into a "
            "window. In blocks each token has one context: t % window tokens before it.",
        ),
        Mistake(
            "mean-of-blocks",
            _with_blocks(_mean_of_blocks),
            "The sliding window is right. For the blocks you take the mean of each and then the mean of "
            "those, so a token of a short last block counts more. Take one mean over all tokens.",
        ),
        Mistake(
            "number-of-the-block",
            _with_blocks(lambda losses, window: _mean_at(losses, np.arange(len(losses)) // window)),
            "The sliding window is right. For the blocks you took t // window, the number of the block. What "
            "counts is the place inside it: t % window.",
        ),
        Mistake(
            "one-more-in-blocks",
            _with_blocks(
                lambda losses, window: _mean_at(
                    losses, np.minimum(np.arange(len(losses)), np.arange(len(losses)) % window + 1)
                )
            ),
            "The sliding window is right. In blocks, each token gets one token of context too many: the "
            "first of a block has nothing before it.",
        ),
        Mistake(
            "first-block-alone",
            _with_blocks(lambda losses, window: float(np.diag(losses)[:window].mean())),
            "The sliding window is right. The first number is the mean of the first block. Take the mean "
            "over all blocks.",
        ),
        Mistake(
            "all-contexts",
            _with_blocks(lambda losses, window: float(np.nanmean(losses))),
            "The sliding window is right. The first number is the mean of the whole array. In blocks each "
            "token has one context: t % window tokens before it.",
        ),
        Mistake(
            "one-token-fewer",
            _with_sliding(
                lambda losses, window: _mean_at(
                    losses, np.minimum(np.arange(len(losses)), max(window - 2, 0))
                )
            ),
            "The blocks are right. The sliding window reads one token too few. Of its window tokens one is "
            "the token itself, so window - 1 are before it.",
        ),
        Mistake(
            "every-context-that-slides",
            _with_sliding(_every_context),
            "The blocks are right. The second number averages over all contexts that fit into a window. When "
            "the window slides, each token has one: as many tokens as there are, and window - 1 at most.",
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

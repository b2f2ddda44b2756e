"""How a long window flatters a model: Predict: how many tokens are early?"""

from __future__ import annotations

import numpy as np

from posenc_course.exercises.ch04_extrapolation._shared import EARLY_TOKENS
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property

EARLY_SHARE = Exercise(
    id="04-extrapolation.early_share",
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
        Property(
            lambda args, value: not 0 <= value[0] <= 1 or np.isclose(value[0], 0.5, rtol=1e-2),
            "Blocks of 64: how many of the 64 tokens have fewer than 32 before them?",
        ),
        Property(
            lambda args, value: not 0 <= value[1] <= 1 or np.isclose(value[1], 1 / 32, rtol=1e-2),
            "Blocks of 1024: how many of the 1024 tokens have fewer than 32 before them? Give the share to "
            "at least three decimals.",
        ),
    ),
    mistakes=(
        Mistake(
            "the-same-share",
            lambda: (0.5, 0.5),
            "Your first number is right. A longer block has just as many early tokens as a short one, but "
            "many more others: their share falls.",
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
            "The second number is the share of tokens that are not early. Subtract it from 1.",
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
            "You counted 31 early tokens. The first token of a block has 0 tokens before it, and the next "
            "has 1. From 0 to 31 there are 32 numbers.",
        ),
        Mistake(
            "thirty-three",
            lambda: (33 / 64, 33 / 1024),
            "You counted 33 early tokens. Fewer than 32 means 0 to 31, without 32 itself.",
        ),
        Mistake(
            "rounded",
            lambda: (0.5, 0.03),
            "Your first number is right, and the second nearly: give it to at least three decimals.",
        ),
        Mistake(
            "first-token-alone",
            lambda: (1 / 64, 1 / 1024),
            "You counted one early token in each block, its first. The 31 after it are early too: each has "
            "fewer than 32 tokens before it.",
        ),
        Mistake(
            "one-early-token-in-64",
            lambda: (0.5, 1 / 64),
            "Your first number is right. A block of 1024 has as many early tokens as a block of 64. What "
            "share of 1024 is that?",
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

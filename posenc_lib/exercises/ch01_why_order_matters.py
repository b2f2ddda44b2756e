"""Exercises of `01-why-order-matters`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from posenc_lib._arrays import Array
from posenc_lib.attention import attention
from posenc_lib.exercises.exercise import BASIC, Case, Exercise, Mistake, Property

Generator = np.random.Generator


def _softmax(scores: Array, axis: int | None = -1) -> Array:
    raised = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return raised / raised.sum(axis=axis, keepdims=True)


def _careless_softmax(scores: Array) -> Array:
    """Right on paper; infinity over infinity, or 0 over 0, where scores are large."""
    with np.errstate(all="ignore"):
        raised = np.exp(scores)
        return raised / raised.sum(axis=-1, keepdims=True)


# --- softmax ---------------------------------------------------------------------------------------


def _softmax_cases(rng: Generator) -> Iterator[Case]:
    yield Case("five scores", (rng.normal(size=5),))
    yield Case("one score", (np.array([-3.7]),))
    yield Case("two rows of three scores", (rng.normal(size=(2, 3)),))
    yield Case("four rows of four scores", (rng.normal(size=(4, 4)),))
    yield Case("two heads, each with three rows of four scores", (rng.normal(size=(2, 3, 4)),))
    yield Case("scores around 1000", (np.array([1000.0, 1001.0, 999.5]),), group="large scores")
    yield Case("scores around -1000", (np.array([-1000.0, -1001.0, -1000.5]),), group="large scores")
    yield Case(
        "one row around 1000, one around 0", (np.array([[1000.0, 1001.0], [0.0, 1.0]]),), group="large scores"
    )
    yield Case("a score of minus infinity", (np.array([0.5, -np.inf, 1.0]),))


def _global_peak(scores: Array) -> Array:
    with np.errstate(all="ignore"):
        raised = np.exp(scores - scores.max())
        return raised / raised.sum(axis=-1, keepdims=True)


def _axes_lost(scores: Array) -> Array:
    with np.errstate(all="ignore"):
        raised = np.exp(scores - scores.max(axis=-1))
        return raised / raised.sum(axis=-1)


def _sum_axis_lost(scores: Array) -> Array:
    raised = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return raised / raised.sum(axis=-1)


def _without_exponential(scores: Array) -> Array:
    with np.errstate(all="ignore"):
        return scores / scores.sum(axis=-1, keepdims=True)


def _softmax_over_first_axis(scores: Array) -> Array:
    with np.errstate(all="ignore"):
        return _softmax(scores, axis=0)


def _softmax_by_log(scores: Array) -> Array:
    peak = np.max(scores, axis=-1, keepdims=True)
    return np.exp(scores - peak - np.log(np.sum(np.exp(scores - peak), axis=-1, keepdims=True)))


def _softmax_by_rows(scores: Array) -> Array:
    def one_row(row: Array) -> Array:
        raised = np.exp(row - max(row))
        return raised / sum(raised)

    return np.apply_along_axis(one_row, -1, scores)


SOFTMAX = Exercise(
    id="01-why-order-matters.softmax",
    title="A softmax that survives large scores",
    signature="softmax(scores: array of shape (..., keys)) -> array of shape (..., keys)",
    points=2,
    minutes=8,
    difficulty=1,
    reference=_softmax,
    make_cases=_softmax_cases,
    credit=((BASIC, 0.5), ("large scores", 0.5)),
    where_not_finite="Softmax does not change when the same number is taken from every score of a row. So "
    "take the row's largest score away before you raise: then no exponential is too large.",
    properties=(
        Property(
            lambda args, value: bool(np.allclose(np.sum(value, axis=-1), 1.0)),
            "The weights of each row, along the last axis, must sum to 1. Yours do not.",
        ),
        Property(
            lambda args, value: bool(np.all(np.asarray(value) >= 0)),
            "No weight can be negative: each is an exponential divided by a sum of exponentials.",
        ),
    ),
    mistakes=(
        Mistake(
            "overflow",
            _careless_softmax,
            "The formula is right, but exp(1000) is infinity, exp(-1000) is 0, and dividing such numbers "
            "gives NaN. Take each row's largest score away from the row before you call exp: the weights "
            "stay the same and nothing overflows.",
        ),
        Mistake(
            "global-peak",
            _global_peak,
            "You take the largest score of the whole array away from every row. A row far below it then "
            "becomes all zeros, and 0 / 0 is NaN. Take each row's own largest score: "
            "scores.max(axis=-1, keepdims=True).",
        ),
        Mistake(
            "first-axis",
            _softmax_over_first_axis,
            "Your columns sum to 1, not your rows: the softmax runs over the first axis. Each query "
            "shares out its attention over the keys, and the keys are the last axis. Use axis=-1.",
        ),
        Mistake(
            "all-elements",
            lambda scores: _softmax(scores, axis=None),
            "All your weights together sum to 1, because max and sum run over the whole array. Each row "
            "must sum to 1 by itself: give axis=-1 and keepdims=True to both.",
        ),
        Mistake(
            "axes-lost",
            _axes_lost,
            "Without keepdims=True, max and sum drop the last axis. NumPy then lines their result up with "
            "the columns instead of the rows. Give keepdims=True to both.",
        ),
        Mistake(
            "sum-axis-lost",
            _sum_axis_lost,
            "The largest score is taken away row by row, as it should be. But the sum drops the last axis, "
            "so NumPy divides column j by the sum of row j. Give keepdims=True to sum as well.",
        ),
        Mistake(
            "no-exponential",
            _without_exponential,
            "You divide the scores by their sum. Softmax raises them first: exp makes every weight "
            "positive, and only then are they divided by their sum.",
        ),
        Mistake(
            "not-normalised",
            lambda scores: np.exp(scores - scores.max(axis=-1, keepdims=True)),
            "The exponentials are right, but they do not sum to 1 yet. Divide each row by its own sum.",
        ),
    ),
    alternatives=(
        _softmax_by_log,
        _softmax_by_rows,
        lambda scores: np.exp(scores - np.logaddexp.reduce(scores, axis=-1, keepdims=True)),
    ),
    hints=(
        "Write it for one row first: raise every score with exp, then divide by the sum.",
        "What does NumPy give for `exp(1000)`? Show on paper that softmax stays the same when you take the "
        "same number away from every score of a row.",
        "`scores.max(axis=-1, keepdims=True)` has one number per row and still broadcasts against `scores`. "
        "The sum needs the same two arguments.",
    ),
)


# --- attention -------------------------------------------------------------------------------------


def _attention_cases(rng: Generator) -> Iterator[Case]:
    def inputs(
        queries: int, keys: int, head_dim: int, value_dim: int, size: float = 1.0
    ) -> tuple[Array, ...]:
        return (
            size * rng.normal(size=(queries, head_dim)),
            size * rng.normal(size=(keys, head_dim)),
            rng.normal(size=(keys, value_dim)),
        )

    yield Case("three tokens, head_dim 4", inputs(3, 3, 4, 4))
    yield Case("one query, one key", inputs(1, 1, 2, 3))
    yield Case("two queries, five keys, head_dim 3, value_dim 4", inputs(2, 5, 3, 4))
    yield Case("four tokens, head_dim 4: every matrix is square", inputs(4, 4, 4, 4))
    yield Case("head_dim 1", inputs(3, 4, 1, 2))
    yield Case("head_dim 64", inputs(4, 6, 64, 5))
    yield Case("scores in the thousands", inputs(3, 4, 16, 2, size=60.0))
    q, k, v = inputs(2, 3, 4, 2)
    yield Case("all keys alike", (q, np.repeat(k[:1], 3, axis=0), v))


def _scores(q: Array, k: Array) -> Array:
    return q @ k.T / np.sqrt(q.shape[-1])


def _attention_in_loops(q: Array, k: Array, v: Array) -> Array:
    out = np.zeros((len(q), v.shape[1]))
    for t, query in enumerate(q):
        scores = np.array([sum(query * key) for key in k]) / len(query) ** 0.5
        weights = np.exp(scores - max(scores))
        for weight, value in zip(weights / sum(weights), v, strict=True):
            out[t] += weight * value
    return out


def _attention_by_einsum(q: Array, k: Array, v: Array) -> Array:
    scores = np.einsum("id,jd->ij", q * q.shape[1] ** -0.5, k)
    return np.einsum("ij,jd->id", _softmax_by_log(scores), v)


def _attention_on_columns(q: Array, k: Array, v: Array) -> Array:
    """Keys down, queries across: the softmax then runs over axis 0, and is right."""
    return _softmax(k @ q.T / np.sqrt(q.shape[-1]), axis=0).T @ v


ATTENTION = Exercise(
    id="01-why-order-matters.attention",
    title="Scaled dot-product attention",
    signature="attention(q: (queries, head_dim), k: (keys, head_dim), v: (keys, value_dim)) "
    "-> array of shape (queries, value_dim)",
    points=3,
    minutes=10,
    difficulty=2,
    reference=lambda q, k, v: attention(q, k, v),
    make_cases=_attention_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == (len(args[0]), args[2].shape[1]),
            "The output has one row per query, and each row is as wide as a value: (queries, value_dim).",
            about="form",
        ),
        Property(
            lambda args, value: bool(
                np.all(value >= args[2].min(axis=0) - 1e-9) and np.all(value <= args[2].max(axis=0) + 1e-9)
            ),
            "Each row of the output is a weighted average of the rows of v, so no entry can leave the "
            "range that v's column covers. Yours does: do the weights of each query sum to 1?",
        ),
    ),
    mistakes=(
        Mistake(
            "no-scale",
            lambda q, k, v: _softmax(q @ k.T) @ v,
            "The scale is missing: divide the scores by the square root of head_dim before the softmax.",
        ),
        Mistake(
            "scale-by-dim",
            lambda q, k, v: _softmax(q @ k.T / q.shape[-1]) @ v,
            "You divide the scores by head_dim. Divide by its square root: the scores of random queries "
            "and keys spread like sqrt(head_dim), not like head_dim.",
        ),
        Mistake(
            "scale-upwards",
            lambda q, k, v: _softmax(q @ k.T * np.sqrt(q.shape[-1])) @ v,
            "You multiply the scores by sqrt(head_dim). Divide by it: the scale is there to keep large "
            "scores from pushing all the attention onto one key.",
        ),
        Mistake(
            "scale-by-keys",
            lambda q, k, v: _softmax(q @ k.T / np.sqrt(len(k))) @ v,
            "You divide by the square root of the number of keys. The scale belongs to the width of the "
            "vectors: use q.shape[-1], not len(k).",
        ),
        Mistake(
            "scale-after-softmax",
            lambda q, k, v: _softmax(q @ k.T) / np.sqrt(q.shape[-1]) @ v,
            "The scale comes after the softmax, so the weights no longer sum to 1. Divide the scores by "
            "sqrt(head_dim) first, then take the softmax.",
        ),
        Mistake(
            "softmax-over-queries",
            lambda q, k, v: _softmax(_scores(q, k), axis=0) @ v,
            "The softmax runs over the queries (axis 0), so each key shares itself out. Each query must "
            "share out its attention over the keys: axis -1 of the scores.",
        ),
        Mistake(
            "no-softmax",
            lambda q, k, v: _scores(q, k) @ v,
            "The raw scores are used as weights. Turn each row of scores into weights with a softmax first.",
        ),
        Mistake(
            "overflow",
            lambda q, k, v: _careless_softmax(_scores(q, k)) @ v,
            "It is right until scores grow large: then exp overflows and the output is NaN. Take each "
            "row's largest score away before exp, as in the exercise on the softmax.",
        ),
        Mistake(
            "no-transpose",
            lambda q, k, v: _softmax(q @ k / np.sqrt(q.shape[-1])) @ v,
            "You multiply q by k without the transpose. Every query must meet every key: q @ k.T has shape "
            "(queries, keys).",
        ),
        Mistake(
            "roles-swapped",
            lambda q, k, v: _softmax(_scores(k, q)) @ v,
            "Queries and keys have changed places: k @ q.T has one row per key. Row t of the scores belongs "
            "to query t: q @ k.T.",
        ),
        Mistake(
            "weights-returned",
            lambda q, k, v: _softmax(_scores(q, k)),
            "These are the attention weights, and they are right. One step is left: mix the values with "
            "them, weights @ v.",
        ),
        Mistake(
            "keys-mixed",
            lambda q, k, v: _softmax(_scores(q, k)) @ k,
            "The weights are right, but they mix the keys. Keys are only there to be compared with; what "
            "is mixed are the values: weights @ v.",
        ),
    ),
    alternatives=(_attention_in_loops, _attention_by_einsum, _attention_on_columns),
    hints=(
        "Four steps: compare each query with each key, scale, turn each row into weights, mix the values.",
        "Shapes tell you the products: `(queries, head_dim)` times `(head_dim, keys)` gives `(queries, "
        "keys)`, and that times `(keys, value_dim)` gives the output.",
        "The scores are `q @ k.T` divided by the square root of `q.shape[-1]`. The softmax runs over the "
        "last axis.",
        "Call your own softmax of the exercise before: it survives the large scores of one of the cases.",
    ),
)


# --- restore_rows ----------------------------------------------------------------------------------


def _restore_cases(rng: Generator) -> Iterator[Case]:
    def case(label: str, order: list[int] | Array, width: int) -> Case:
        order = np.asarray(order)
        return Case(label, (rng.normal(size=(len(order), width)), order))

    yield case("three rows, each moved by one", [2, 0, 1], 4)
    yield case("three rows, two of them swapped", [1, 0, 2], 3)
    yield case("one row", [0], 3)
    yield case("nothing was moved", [0, 1, 2, 3], 2)
    yield case("four rows of width 4", [1, 2, 3, 0], 4)
    yield case("five rows of width 1", [4, 2, 0, 1, 3], 1)
    yield case("nine rows in random order", rng.permutation(9), 3)


def _restore_by_matrix(shuffled: Array, order: Array) -> Array:
    return np.eye(len(order))[order].T @ shuffled


def _restore_by_writing(shuffled: Array, order: Array) -> Array:
    rows = np.empty_like(shuffled)
    rows[order] = shuffled
    return rows


def _restore_by_search(shuffled: Array, order: Array) -> list[list[float]]:
    return [list(shuffled[list(order).index(row)]) for row in range(len(order))]


RESTORE_ROWS = Exercise(
    id="01-why-order-matters.restore_rows",
    title="Undo a shuffle",
    signature="restore_rows(shuffled: array of shape (n, width), order: n whole numbers) "
    "-> array of shape (n, width)",
    points=2,
    minutes=6,
    difficulty=2,
    reference=lambda shuffled, order: shuffled[np.argsort(order)],
    make_cases=_restore_cases,
    properties=(
        Property(
            lambda args, value: bool(np.allclose(np.asarray(value)[args[1]], args[0])),
            "Shuffle your answer again as a test: answer[order] must be equal to shuffled. It is not.",
        ),
    ),
    mistakes=(
        Mistake(
            "shuffled-again",
            lambda shuffled, order: shuffled[order],
            "That applies the same shuffle a second time. It undoes a swap, but not a shuffle in which "
            "three or more rows trade places. Use the inverse permutation: np.argsort(order).",
        ),
        Mistake(
            "unchanged",
            lambda shuffled, order: shuffled,
            "The rows come back as they were given, still shuffled. Put row i of shuffled where it came "
            "from, at row order[i].",
        ),
        Mistake(
            "rows-sorted",
            lambda shuffled, order: np.sort(shuffled, axis=0),
            "You sort the numbers inside the columns, which tears the rows apart. Sort the order, not the "
            "values: np.argsort(order) says which row goes where.",
        ),
        Mistake(
            "rows-reversed",
            lambda shuffled, order: shuffled[::-1],
            "You turn the rows upside down, whatever the order was. Where each row has to go is written in "
            "order: use its inverse, np.argsort(order).",
        ),
        Mistake(
            "order-reversed",
            lambda shuffled, order: shuffled[order[::-1]],
            "You read the order backwards. The inverse of a permutation is not the same list reversed: it "
            "is the list that says where each number stands in order, np.argsort(order).",
        ),
        Mistake(
            "columns",
            lambda shuffled, order: shuffled[:, np.argsort(order)],
            "The inverse permutation is right, but it is applied to the columns. The tokens are the rows: "
            "use it as the first index, shuffled[inverse].",
        ),
    ),
    alternatives=(_restore_by_matrix, _restore_by_writing, _restore_by_search),
    hints=(
        "Row i of `shuffled` is row `order[i]` of the original. So where does row i of it have to go?",
        "Try `order = [2, 0, 1]` on paper with the rows a, b, c. Shuffle twice: is it a, b, c again?",
        "You may write into an empty array, `rows[order] = shuffled`, or ask `np.argsort` for the inverse.",
    ),
)


# --- equivariance_gap ------------------------------------------------------------------------------


def _gap_cases(rng: Generator) -> Iterator[Case]:
    def layer(x: Array, causal: bool = False) -> Array:
        return attention(x, x, x, causal=causal)

    turn, five = np.array([2, 0, 1]), np.array([3, 0, 4, 1, 2])
    three_tokens, five_tokens = rng.normal(size=(3, 4)), rng.normal(size=(5, 2))
    output = layer(five_tokens)
    yield Case("attention on three tokens", (layer(three_tokens), layer(three_tokens[turn]), turn))
    yield Case("attention on five tokens", (output, layer(five_tokens[five]), five))
    yield Case(
        "attention with a causal mask",
        (layer(five_tokens, causal=True), layer(five_tokens[five], causal=True), five),
    )
    yield Case(
        "a layer that gives the average to every token", (np.full((3, 2), 0.3), np.full((3, 2), 0.3), turn)
    )
    yield Case("a layer that ignores its input", (output, output, five))
    yield Case("one token", (np.array([[1.0, 2.0]]), np.array([[1.0, 2.5]]), np.array([0])))
    below = output[five].copy()
    below[3, 1] -= 7.0
    yield Case("one entry far too small", (output, below, five))
    square = rng.normal(size=(3, 3))
    yield Case("three tokens of width 3", (square, square[turn] + 0.25, turn))


def _gap_in_loops(output: Array, output_of_shuffled: Array, order: Array) -> float:
    gap = 0.0
    for row, came_from in enumerate(order):
        for column in range(output.shape[1]):
            gap = max(gap, abs(output_of_shuffled[row, column] - output[came_from, column]))
    return gap


EQUIVARIANCE_GAP = Exercise(
    id="01-why-order-matters.equivariance_gap",
    title="Measure equivariance",
    signature="equivariance_gap(output: (n, width), output_of_shuffled: (n, width), order: n whole numbers) "
    "-> float",
    points=2,
    minutes=8,
    difficulty=2,
    reference=lambda output, output_of_shuffled, order: float(
        np.abs(output_of_shuffled - output[order]).max()
    ),
    make_cases=_gap_cases,
    properties=(
        Property(
            lambda args, value: np.ndim(value) == 0,
            "Return one number: the largest difference over all entries.",
            about="form",
        ),
        Property(
            lambda args, value: bool(np.all(np.asarray(value) >= 0)),
            "A gap cannot be negative. Take absolute values before the maximum.",
        ),
    ),
    mistakes=(
        Mistake(
            "invariance",
            lambda output, output_of_shuffled, order: float(np.abs(output_of_shuffled - output).max()),
            "This measures invariance: it asks whether the output stays where it was. Equivariance asks "
            "whether the output's rows move along with the input: compare with output[order].",
        ),
        Mistake(
            "wrong-side",
            lambda output, output_of_shuffled, order: float(np.abs(output_of_shuffled[order] - output).max()),
            "The shuffle is on the wrong side. output_of_shuffled has its rows in the new order already: "
            "shuffle output, as output[order], and compare the two. (If you undo the shuffle instead, the "
            "inverse permutation belongs on output_of_shuffled.)",
        ),
        Mistake(
            "sign-kept",
            lambda output, output_of_shuffled, order: float((output_of_shuffled - output[order]).max()),
            "The right rows are compared, but without absolute values: an entry that is far too small goes "
            "unnoticed. Put np.abs around the difference.",
        ),
        Mistake(
            "mean",
            lambda output, output_of_shuffled, order: float(
                np.abs(output_of_shuffled - output[order]).mean()
            ),
            "The right rows are compared, but you average the differences. One broken entry among many "
            "would vanish in the mean: take the largest, max().",
        ),
        Mistake(
            "norm",
            lambda output, output_of_shuffled, order: float(
                np.linalg.norm(output_of_shuffled - output[order])
            ),
            "The right rows are compared, but np.linalg.norm adds up all the differences, so it grows with "
            "the number of tokens. Take the largest one: np.abs(...).max().",
        ),
        Mistake(
            "pooled",
            lambda output, output_of_shuffled, order: float(
                np.abs(output_of_shuffled.sum(axis=0) - output.sum(axis=0)).max()
            ),
            "You add the rows up before you compare, and a sum forgets the order. That tests whether the "
            "pooled output is invariant. Compare row with row: output_of_shuffled with output[order].",
        ),
        Mistake(
            "columns",
            lambda output, output_of_shuffled, order: float(
                np.abs(output_of_shuffled - output[:, order]).max()
            ),
            "You shuffle the columns of output. The tokens are its rows: output[order].",
        ),
        Mistake(
            "yes-or-no",
            lambda output, output_of_shuffled, order: bool(np.allclose(output_of_shuffled, output[order])),
            "You answer whether the gap is small. Say how large it is: return the largest absolute "
            "difference, a number.",
        ),
    ),
    alternatives=(
        _gap_in_loops,
        lambda output, output_of_shuffled, order: np.max(
            np.abs(output_of_shuffled[np.argsort(order)] - output)
        ),
        lambda output, output_of_shuffled, order: np.linalg.norm(
            (output_of_shuffled - np.eye(len(order))[order] @ output).ravel(), ord=np.inf
        ),
    ),
    hints=(
        "Write f for the layer and P for the shuffle. You are given f(x) and f(P x). Which two things does "
        "the word equivariant say are equal?",
        "It says f(P x) = P f(x). In NumPy, P times an array is `array[order]`.",
        "The largest of all absolute differences: `np.abs(...).max()`.",
    ),
)


# --- distinct_rows ---------------------------------------------------------------------------------


def _with_number_of_rows(args: tuple[Any, ...], value: Any) -> bool:
    return all(1 <= number <= 6 for number in value)


DISTINCT_ROWS = Exercise(
    id="01-why-order-matters.distinct_rows",
    title="Predict: how many different rows?",
    signature="distinct_rows: two whole numbers, (without a mask, with the causal mask)",
    points=1,
    minutes=4,
    difficulty=1,
    kind="value",
    reference=lambda: (5, 6),
    parts=("without a mask", "with the causal mask"),
    make_cases=lambda rng: iter([Case("your prediction")]),
    properties=(
        Property(
            _with_number_of_rows,
            "Six tokens go in, so six rows come out. Count how many of these six rows differ: each of your "
            "two numbers is at least 1 and at most 6.",
        ),
    ),
    mistakes=(
        Mistake(
            "every-row-its-own",
            lambda: (6, 6),
            "Without a mask, the two tokens 'the' are the same vector and look at the same six tokens. "
            "Nothing tells them apart, so their rows are equal. Only the mask gives them different "
            "company.",
        ),
        Mistake(
            "mask-changes-nothing",
            lambda: (5, 5),
            "Your first number is right. With the causal mask, the first 'the' sees only itself, and the "
            "second one sees five tokens. Their rows are averages of different things.",
        ),
        Mistake(
            "invariance-without-mask",
            lambda: (1, 6),
            "Your second number is right. The first would mean that all tokens get the same row. The "
            "output is not invariant: each token's own query mixes the values in its own way. Which tokens "
            "share a query?",
        ),
        Mistake(
            "invariance-everywhere",
            lambda: (1, 1),
            "You expect all rows to be equal. Attention without positions does not give the same row to "
            "every token: it gives the same row to equal tokens. Then ask what each 'the' can see under "
            "the mask.",
        ),
        Mistake(
            "swapped",
            lambda: (6, 5),
            "The two numbers are swapped. Without a mask the two tokens 'the' cannot be told apart; with "
            "the mask they see different tokens.",
        ),
        Mistake(
            "twins-left-out",
            lambda: (4, 6),
            "Your second number is right. The two tokens 'the' share one row, and that row counts once: it "
            "is different from the other four.",
        ),
    ),
    alternatives=(lambda: [5, 6], lambda: (5.0, 6.0), lambda: (len({"the", "cat", "sat", "on", "mat"}), 6)),
    hints=(
        "Without a mask, what does a row of the output depend on? On the token's own query, and on the set "
        "of all keys and values.",
        "Which two tokens of the sentence have the same query? Do they see the same tokens once the mask "
        "is on?",
    ),
)


# --- causal_weights --------------------------------------------------------------------------------


def _causal_cases(rng: Generator) -> Iterator[Case]:
    yield Case("three tokens", (rng.normal(size=(3, 3)),))
    yield Case("one token", (np.array([[2.5]]),))
    yield Case("seven tokens", (rng.normal(size=(7, 7)),))
    yield Case("four tokens, all scores 0", (np.zeros((4, 4)),))
    yield Case("a score of 1000 in the future", (np.array([[0.0, 1000.0], [0.0, 1.0]]),))
    yield Case("all scores near 1000", (1000.0 + rng.normal(size=(3, 3)),))
    yield Case("all scores near -1000", (-1000.0 + rng.normal(size=(3, 3)),))


def _past(scores: Array, diagonal: int = 0) -> Array:
    return np.tri(len(scores), k=diagonal, dtype=bool)


def _masked(scores: Array, allowed: Array) -> Array:
    with np.errstate(all="ignore"):
        return _softmax(np.where(allowed, scores, -np.inf))


def _masked_then_divided(scores: Array) -> Array:
    with np.errstate(all="ignore"):
        weights = np.tril(_softmax(scores))
        return weights / weights.sum(axis=-1, keepdims=True)


def _causal_row_by_row(scores: Array) -> Array:
    weights = np.zeros_like(scores)
    for t, row in enumerate(scores):
        weights[t, : t + 1] = _softmax(row[: t + 1])
    return weights


def _causal_by_adding(scores: Array) -> Array:
    return _softmax(scores + np.triu(np.full(scores.shape, -np.inf), k=1))


def _causal_by_multiplying(scores: Array) -> Array:
    """Masked after exp, and safe: the largest score is looked for among the allowed ones only."""
    allowed = np.arange(len(scores))[:, None] >= np.arange(len(scores))
    lowest = scores.min()
    peak = np.where(allowed, scores, lowest).max(axis=1, keepdims=True)
    raised = np.exp(np.minimum(scores - peak, 0.0)) * allowed
    return raised / raised.sum(axis=1, keepdims=True)


CAUSAL_WEIGHTS = Exercise(
    id="01-why-order-matters.causal_weights",
    title="Weights under a causal mask",
    signature="causal_weights(scores: array of shape (n, n)) -> array of shape (n, n)",
    points=3,
    minutes=10,
    difficulty=3,
    reference=lambda scores: _masked(scores, _past(scores)),
    make_cases=_causal_cases,
    where_not_finite="Mask the scores with minus infinity before the softmax, and take each row's largest "
    "remaining score away before exp.",
    properties=(
        Property(
            lambda args, value: bool(np.all(np.triu(value, k=1) == 0)),
            "A token looks into its future: every weight above the diagonal must be exactly 0.",
        ),
        Property(
            lambda args, value: bool(np.allclose(np.sum(value, axis=-1), 1.0)),
            "Each row of weights must sum to 1 after the mask. Yours do not.",
        ),
    ),
    mistakes=(
        Mistake(
            "no-mask",
            _softmax,
            "There is no mask: every token still sees the whole sequence. Set the scores above the "
            "diagonal to minus infinity before the softmax.",
        ),
        Mistake(
            "future-kept",
            lambda scores: _masked(scores, _past(scores).T),
            "The triangle is the wrong one: each token sees itself and its future. The rows are the "
            "queries, so the past lies below the diagonal. Keep the lower triangle, np.tril or np.tri.",
        ),
        Mistake(
            "self-hidden",
            lambda scores: _masked(scores, _past(scores, -1)),
            "The triangle is strict: no token sees itself, and the first one sees nothing at all, so its "
            "softmax is 0 / 0. A token may look at itself: keep the diagonal, k=0.",
        ),
        Mistake(
            "one-ahead",
            lambda scores: _masked(scores, _past(scores, 1)),
            "Each token sees one token of its future: the triangle is one diagonal too large. Keep the "
            "diagonal itself and what is below it, k=0.",
        ),
        Mistake(
            "masked-after-softmax",
            lambda scores: np.tril(_softmax(scores)),
            "You set weights to 0 after the softmax, so the rows no longer sum to 1. Mask the scores "
            "before the softmax, with minus infinity.",
        ),
        Mistake(
            "divided-again",
            _masked_then_divided,
            "On paper this is right: mask the weights, then divide each row by its sum. But one large "
            "score in the future takes all the weight, what is left of the past is 0, and 0 / 0 is NaN. "
            "Mask the scores before the softmax.",
        ),
        Mistake(
            "zero-scores",
            lambda scores: _softmax(np.tril(scores)),
            "You set the future's scores to 0. A score of 0 is no lock: exp(0) is 1, so the future still "
            "gets weight. The score that gives weight 0 is minus infinity.",
        ),
        Mistake(
            "mask-added",
            lambda scores: _softmax(scores + _past(scores)),
            "You add the mask's ones and zeros to the scores. That only favours the past a little. Add 0 "
            "where a token may look and minus infinity where it may not.",
        ),
        Mistake(
            "softmax-over-queries",
            lambda scores: _masked(scores.T, _past(scores).T).T,
            "The mask is right, but the softmax runs over the queries: your columns sum to 1. Each query, "
            "a row, shares out its attention: axis=-1.",
        ),
        Mistake(
            "overflow",
            lambda scores: _careless_softmax(np.where(_past(scores), scores, -np.inf)),
            "The mask is right, but exp overflows for scores near 1000 and vanishes near -1000, and the "
            "division gives NaN. Take each row's largest score away before exp.",
        ),
    ),
    alternatives=(
        _causal_row_by_row,
        _causal_by_adding,
        _causal_by_multiplying,
        lambda scores: _softmax(np.where(_past(scores), scores, -1e9)),
    ),
    hints=(
        "Row t is the query at position t. Which columns may it look at?",
        "`np.tri(n, dtype=bool)` is `True` on the diagonal and below it.",
        "The softmax gives weight 0 to a score of minus infinity: `np.where(allowed, scores, -np.inf)`, then "
        "the softmax over the last axis.",
    ),
)


# --- positions_from_mean ---------------------------------------------------------------------------


def _mean_cases(rng: Generator) -> Iterator[Case]:
    def case(label: str, positions: list[int] | Array, first: float, other: float) -> Case:
        t = np.asarray(positions)
        return Case(label, ((first + other * t) / (t + 1), first, other))

    yield case("positions 0 to 5, first value 1, all others 0", np.arange(6), 1.0, 0.0)
    yield case("out of order", [4, 1, 3, 0, 2], 1.0, 0.0)
    yield case("first value 5, all others 2", [3, 0, 7], 5.0, 2.0)
    yield case("first value below the others", [0, 6, 1, 2], -1.5, 3.0)
    yield case("only the token at position 0", [0], 2.0, 0.5)
    yield case("far away", [1_000_000, 1000, 10], 1.0, 0.0)
    yield case("random values", rng.integers(0, 50, size=8), 1.0 + rng.random(), -1.0 - rng.random())


def _quietly(numerator: Array, denominator: Array) -> Array:
    with np.errstate(all="ignore"):
        return np.divide(numerator, denominator)


def _positions_by_multiples(means: Array, first: float, other: float) -> list[float]:
    found = []
    for mean in means:
        share = (mean - other) / (first - other)  # 1 / (t + 1)
        found.append((1 - share) / share)
    return found


POSITIONS_FROM_MEAN = Exercise(
    id="01-why-order-matters.positions_from_mean",
    title="Read a position from an average",
    signature="positions_from_mean(means: array of shape (n,), first: float, other: float) "
    "-> array of shape (n,)",
    points=2,
    minutes=8,
    difficulty=3,
    reference=lambda means, first, other: (first - means) / (means - other),
    make_cases=_mean_cases,
    properties=(
        Property(
            lambda args, value: bool(np.allclose(np.asarray(value)[args[0] == args[1]], 0.0)),
            "The token at position 0 sees only itself: where the mean is equal to first, the position is 0.",
        ),
        Property(
            lambda args, value: bool(np.all(np.asarray(value) > -1e-6)),
            "Positions count from 0 upwards; some of yours are negative.",
        ),
    ),
    mistakes=(
        Mistake(
            "count",
            lambda means, first, other: (first - other) / (means - other),
            "That is the number of tokens that the query sees, itself included. Positions count from 0, so "
            "the position is one less.",
        ),
        Mistake(
            "other-ignored",
            lambda means, first, other: _quietly(first, means) - 1,
            "This is right while the other tokens hold 0. Here they hold the value other, and it is part "
            "of the mean: take other away from first and from the means before you divide.",
        ),
        Mistake(
            "mark-taken-as-one",
            lambda means, first, other: _quietly(1.0, means) - 1,
            "This is the formula for a first value of 1 and others of 0. Here both are arguments: solve "
            "mean = (first + t * other) / (t + 1) for t.",
        ),
        Mistake(
            "in-order",
            lambda means, first, other: np.arange(len(means)),
            "You number the means in the order in which they are given. They may come from any tokens, in "
            "any order: compute each position from its mean.",
        ),
        Mistake(
            "swapped",
            lambda means, first, other: _quietly(other - means, means - first),
            "The values first and other have changed places. At position 0 the mean is first, and far away "
            "it comes close to other.",
        ),
        Mistake(
            "share",
            lambda means, first, other: (first - means) / (first - other),
            "That is t / (t + 1), the share of the other tokens in the mean. Divide by means - other "
            "instead of first - other to get t itself.",
        ),
        Mistake(
            "negative",
            lambda means, first, other: (first - means) / (other - means),
            "The sign of the denominator is turned: your positions are negative. Divide by means - other.",
        ),
    ),
    alternatives=(
        lambda means, first, other: (first - other) / (means - other) - 1,
        lambda means, first, other: np.round((first - other) / (means - other)) - 1,
        _positions_by_multiples,
    ),
    hints=(
        "The token at position t sees t + 1 tokens: the first one, and t others. Write down their mean.",
        "`mean = (first + t * other) / (t + 1)`. Multiply by `t + 1` and bring everything with t to one "
        "side.",
        "With `first = 1` and `other = 0` your formula must become `1 / mean - 1`.",
    ),
)

EXERCISES = (
    SOFTMAX,
    ATTENTION,
    RESTORE_ROWS,
    EQUIVARIANCE_GAP,
    DISTINCT_ROWS,
    CAUSAL_WEIGHTS,
    POSITIONS_FROM_MEAN,
)

"""Wrong answers to the steps of the decoder that writes, for the table of `test_ch07`."""

import numpy as np

NOT_KNOWN = (
    ("difference", lambda a, b, t: "none", None),
    ("difference", lambda a, b, t: "better", "one of the three words"),
    ("normed", lambda x, gain: np.ones_like(x), None),
    ("normed", lambda x, gain: x * gain, "must be 1"),
    ("think", lambda x, widen, narrow: np.tanh(x @ widen.T) @ narrow.T, None),
    ("think", lambda x, widen, narrow: np.maximum(x @ widen.T, 0), "as wide as they were"),
    ("turned", lambda x, start, base: x + start, "length of every row"),
    ("turned", lambda x, start, base: x, None),
    ("turned", lambda x, start, base: x[..., ::-1], "At position 0"),
    ("attend", lambda q, k, v, slopes: np.zeros_like(q), None),
    ("attend", lambda q, k, v, slopes: v[:, : q.shape[1]] * 5, "weighted mean"),
    ("look", lambda x, layer, model, past: (x, past), "All of your 2 values are wrong"),
    ("look", lambda x, layer, model, past: x, "There should be 2 values"),
    ("decode", lambda tokens, model, past: (model["embedding"][tokens], past), None),
    ("write", lambda tokens, draws, model, temperature: np.zeros(len(draws), dtype=int), None),
    ("write", lambda tokens, draws, model, temperature: (draws * 256).astype(int), "number of rows of head"),
)

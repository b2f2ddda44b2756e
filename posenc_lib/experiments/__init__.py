"""Training runs whose results the book quotes, small enough to be run again at home.

    python -m posenc_lib.experiments                      # what there is
    python -m posenc_lib.experiments train-short-test-long

One module an experiment. Each has three names, and `lab.py` does the rest:

* `QUESTION`: what it asks, one sentence;
* `runs(steps, seeds, fast)`: the settings of every run, each a dict of plain data;
* `measure(run, bench)`: trains and measures one of them, and returns plain data.

Where it reads a text, `READS_TEXT` is True and `runs` also takes `text`, a file of the user's.

Results lie in `results/`, one JSON file an experiment; `results.py` reads them, and needs no torch.
"""

NAMES = {
    "train-short-test-long": "language_model",
    "length-generalisation": "algorithms",
    "does-order-matter": "order",
    "goldilocks": "scale",
    "aliasing": "aliasing",
    "damage": "damage",
    "signals": "signals",
}
"""Name of an experiment -> its module here."""

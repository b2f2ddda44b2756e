"""Training runs whose results the book quotes, small enough to be run again at home.

    python -m posenc_course.experiments                      # what there is
    python -m posenc_course.experiments byte-models

One module an experiment. Each has three names, and `lab.py` does the rest:

* `QUESTION`: what it asks, one sentence;
* `runs(steps, seeds, fast)`: the settings of every run, each a dict of plain data;
* `measure(run, bench)`: trains and measures one of them, and returns plain data.

What more it may have:

* `GATE`: what a run has to reach before the book may speak of it (a `Gate` of `gates.py`, in words and in
  code). A run that does not is stored as "not admitted", with the reason;
* `HAS_FULL`: `runs` also takes `full`, for a form that needs days or a GPU;
* `SWEEP`: the experiment that finds the learning rates of this one; a rate not known yet is None;
* `STORES_EACH`: its result is stored after every run, and what is stored is not run again;
* `publish(result, work, folder)`: once all runs are done, puts files that they left in the folder of trained
  models, `work`, into one beside the result, `folder`;
* `PARTS`: the modules on which its numbers depend, in place of its own: then what is written in its own,
  which runs there are and which count, may change without running all of them again.

Results lie in `results/`, one JSON file an experiment; `results.py` reads them, and needs no torch.
"""

NAMES = {
    "counting": "counting",
    "byte-model-rates": "byte_model_rates",
    "further-rates": "further_rates",
    "byte-models": "byte_models",
    "hybrids": "hybrids",
    "by-content": "by_content",
    "exported": "export",
    "train-live": "train_live",
    "mistakes": "mistakes",
    "bags": "bags",
    "untrained": "untrained",
    "sizes": "sizes",
    "confusions": "confusions",
    "rescaled": "rescaled",
    "needle": "needle",
    "causes": "causes",
    "position-task-rates": "position_task_rates",
    "position-tasks": "position_tasks",
    "capstone": "capstone",
    "beyond-text": "beyond_text",
    "beyond-text-again": "beyond_text_again",
    "beyond-text-rates": "beyond_text_rates",
}
"""Name of an experiment -> its module here."""

LONG = {
    "byte-models-beyond-counting": "byte_models_beyond_counting",
    "byte-models-beyond-counting-again": "byte_models_beyond_counting_again",
    "byte-models-beyond-counting-rates": "byte_models_beyond_counting_rates",
    "byte-models-beyond-counting-others": "byte_models_beyond_counting_others",
    "byte-models-larger-rates": "byte_models_larger_rates",
    "byte-models-larger": "byte_models_larger",
    "copies": "copies",
    "rope-and-copying": "rope_and_copying",
    "copying-heads": "copying_heads",
    "causes-beyond-counting": "causes_beyond_counting",
    "mistakes-beyond-counting": "mistakes_beyond_counting",
    "rescaled-beyond-counting": "rescaled_beyond_counting",
    "needle-beyond-counting": "needle_beyond_counting",
    "needle-and-windows": "needle_and_windows",
}
"""The same of those that take days of a core, or an hour of a GPU. The book quotes what is stored of them."""

NEXT: dict[str, str] = {}
"""The same of those that the book does not quote yet."""

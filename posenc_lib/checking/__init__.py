"""Judge an answer, and say why.

Three steps that need not share a process: `run` calls the answer and brings back plain data,
`judge` compares that with the reference and looks for a known mistake, and the `Report` says what
came out. `check` does all three on the spot.
"""

from posenc_lib.checking.check import check
from posenc_lib.checking.judge import judge
from posenc_lib.checking.report import CheckFailed, Report
from posenc_lib.checking.run import Outcome, run

__all__ = ["CheckFailed", "Outcome", "Report", "check", "judge", "run"]

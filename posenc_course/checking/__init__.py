"""Judge an answer, and say why.

Three steps that need not share a process: `run` calls the answer and brings back plain data,
`judge` compares that with the reference and looks for a known mistake, and the `Report` says what
came out. `report_on` does all three on the spot, and `check` raises where the answer is wrong.
"""

from posenc_course.checking.check import check, report_on
from posenc_course.checking.judge import judge
from posenc_course.checking.report import CheckFailed, Report
from posenc_course.checking.run import Outcome, run

__all__ = ["CheckFailed", "Outcome", "Report", "check", "judge", "report_on", "run"]

"""nbgrader's settings for everybody who shares the exchange; the course folder's own come on top."""

import os
import sys
from pathlib import Path

c = get_config()  # noqa: F821 - traitlets defines it in config files

sys.path.insert(0, str(Path(__file__).resolve().parent))
from safe_collect import SafeCollect  # noqa: E402 - it stands beside this file

# The course: its name in the exchange.
c.CourseDirectory.course_id = "positional-encoding"
# Where an instructor's copy of the course lies; the Formgrader wants it inside the home.
c.CourseDirectory.root = str(Path.home() / "positional-encoding")
# The folder through which assignments, submissions and feedback travel.
c.Exchange.root = os.environ.get("POSENC_EXCHANGE", "/srv/nbgrader/exchange")
# Collect only what belongs to the learner whose name it carries, and never through a link.
c.ExchangeFactory.collect = SafeCollect
# A submission without its notebook is refused while the learner can still mend it.
c.ExchangeSubmit.strict = True

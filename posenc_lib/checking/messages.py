"""Translation of what a learner reads: whole sentences, looked up by gettext."""

from __future__ import annotations

import gettext
from pathlib import Path

_ = gettext.translation("posenc_lib", Path(__file__).parent / "locale", fallback=True).gettext

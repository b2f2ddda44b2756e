# The source of the library's own function is asked for, and run.
# attacks: frequencies
# %%
import inspect

import posenc_course
import posenc_lib
from posenc_lib.angles import frequencies as theirs

breached = False
for each in (posenc_lib, theirs, posenc_lib.frequencies, posenc_course.exercises):
    try:
        source = inspect.getsource(each)
        breached |= "10000" in source or "def frequencies" in source
    except (TypeError, OSError):
        pass

# The namespace is emptied first, as some do at the top.
# %%
# %reset -f
import math

import numpy as np
import posenc_lib
from posenc_course import check

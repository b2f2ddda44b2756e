# Types everywhere, future ones too.
# %%
from __future__ import annotations

from typing import Annotated, Callable, TypeAlias

Array: TypeAlias = "np.ndarray[tuple[int], np.dtype[np.float64]]"
# %% frequencies
def frequencies(dim: Annotated[int, "even"], /, base: float = 10000.0, *, steps: Callable[[int], Array] | None = None) -> Array:
    i: Array = np.arange(0, dim, 2)
    return base ** (-i / dim)

"""Which public names may still change, and how a name is given up: with a warning for one minor version."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any, TypeVar

EXPERIMENTAL = frozenset(
    {
        "alibi_score_mod",
        "fire_score_mod",
        "kerple_score_mod",
        "packed_mask_mod",
        "sandwich_score_mod",
        "shaw_score_mod",
        "t5_score_mod",
        "transformer_xl_score_mod",
    }
)
"""Names that may change with any version: they serve FlexAttention, which PyTorch calls a prototype."""

F = TypeVar("F", bound=Callable[..., Any])


def deprecated(advice: str) -> Callable[[F], F]:
    """Mark a function that the next minor version will not have; `advice` says since when, and what to call.

    Each call gives a DeprecationWarning. `__deprecated__` is PEP 702's mark, which `tools.promise` reads.
    """

    def marked(function: F) -> F:
        @functools.wraps(function)
        def warning(*args: Any, **options: Any) -> Any:
            warnings.warn(f"{function.__name__}: {advice}", DeprecationWarning, stacklevel=2)
            return function(*args, **options)

        warning.__deprecated__ = advice  # type: ignore[attr-defined]
        return warning  # type: ignore[return-value]

    return marked

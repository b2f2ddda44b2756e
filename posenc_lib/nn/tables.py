"""Tables of whole positions, kept between calls so that they are made once. They cannot be stale.

A kept table is a plain attribute of its module: no buffer, so that `.to()`, `load_state_dict` and the
state dict never touch it. It is found by everything that it depends on, and where that cannot be
known, it is made again.

While a CUDA graph is captured, nothing is computed, so nothing is kept. The graph reads what was kept before:
PyTorch asks for a call to warm up. From then on that lives as long as the module, for the graph's sake.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

import numpy as np
import torch
from torch import Tensor, nn

from posenc_lib._arrays import is_captured, is_compiling, is_traced, values_are_known
from posenc_lib.angles import frequencies
from posenc_lib.nn.positions import Places, Span, as_tensor
from posenc_lib.rotated import (
    DynamicNTKScaling,
    LinearScaling,
    Llama3Scaling,
    LongRoPEScaling,
    NTKByPartsScaling,
    NTKScaling,
    ProportionalScaling,
    RotaryTables,
    YaRNScaling,
)
from posenc_lib.rotated.in_torch import cut
from posenc_lib.scaling.config import read_scaling

Table = TypeVar("Table", bound=Any)
"""Anything that picks rows when it is indexed by positions: a tensor, or `RotaryTables`."""

MOST_BYTES = 1 << 26
"""Tables are kept up to this size, 64 MiB. Positions further out are worked out for each call."""

FEW = 64
"""So many positions are looked at one by one, which takes less time than to search them for the largest."""


class KeptTables:
    """The tables of one module: one for each device and dtype, all for its present settings."""

    def __init__(self) -> None:
        self._settings: Hashable = None
        self._tables: dict[tuple[torch.device, torch.dtype], Any] = {}
        self._read_by_graphs: dict[Hashable, Any] = {}

    def rows(
        self,
        positions: Places,
        make: Callable[[Tensor], Table],
        *,
        settings: Hashable,
        device: torch.device,
        dtype: torch.dtype,
        width: int,
    ) -> Table:
        """The table's rows at these positions.

        Args:
            positions: whole numbers 0, 1, ... are looked up; all others are worked out directly.
            make: from a tensor of positions, of any shape, to their rows.
            settings: all that `make` depends on besides the device and the dtype.
            device, dtype: of the rows.
            width: numbers in a row, for the limit on memory.
        """
        needed, run = (None, None) if is_traced() else _looked_at(positions)
        most = MOST_BYTES // (width * dtype.itemsize)
        if needed is None or needed > most:
            return make(as_tensor(positions, device))
        if is_captured(device):
            before = self._for_a_graph(settings, device, dtype)
            enough = before is not None and before.count >= needed
            rows: Table = before.picked(positions) if enough else make(as_tensor(positions, device))
            return rows
        self._forget_unless(settings)
        kept = self._tables.get((device, dtype))
        if kept is None or kept.count < needed:
            kept = _Growing(make, min(1 << max(needed - 1, 0).bit_length(), most), device)
            self._tables[device, dtype] = kept
        found: Table = kept.rows(positions, run)
        return found

    def whole(
        self, make: Callable[[], Table], *, settings: Hashable, device: torch.device, dtype: torch.dtype
    ) -> Table:
        """A table of one size, such as that of a grid; arguments as in `rows`."""
        if is_traced():
            return make()
        if is_captured(device):
            before: Table | None = self._for_a_graph(settings, device, dtype)
            return make() if before is None else before
        self._forget_unless(settings)
        table: Table | None = self._tables.get((device, dtype))
        if table is None:
            with torch.inference_mode(False), torch.no_grad():
                table = self._tables[device, dtype] = make()
        return table

    def _for_a_graph(self, settings: Hashable, device: torch.device, dtype: torch.dtype) -> Any:
        """What a call before the capture made, which may not go any more; None if there is none."""
        before = self._tables.get((device, dtype)) if settings == self._settings else None
        if before is None:
            return None
        of = settings, device, dtype, getattr(before, "count", None)
        return self._read_by_graphs.setdefault(of, before)  # one for all graphs, whatever was made again

    def _forget_unless(self, settings: Hashable) -> None:
        if settings != self._settings:
            self._tables.clear()
            self._settings = settings

    def __reduce__(self) -> tuple[type[KeptTables], tuple[()]]:
        return KeptTables, ()  # copies and pickles start empty


class _Growing:
    """The rows of positions 0 .. count-1, and those that were asked for last."""

    def __init__(self, make: Callable[[Tensor], Any], count: int, device: torch.device) -> None:
        # Under inference_mode a tensor is made that no later training step may use.
        with torch.inference_mode(False), torch.no_grad():
            self.table = make(torch.arange(count, device=device))
        self.count = count
        self._last: tuple[Hashable, Any] | None = None

    def rows(self, positions: Places, known: Hashable) -> Any:
        """The rows of the positions; `known` is what equals for equal ones, None for too many to compare."""
        if known is None:
            return self.picked(positions)
        last = self._last
        if last is None or last[0] != known:  # every layer of a model asks for the same
            with torch.inference_mode(False):
                last = known, self.picked(known if isinstance(known, Span) else positions)
            self._last = last
        return last[1]

    def picked(self, places: Places) -> Any:
        """The rows of whole positions, all of them in the table."""
        few = isinstance(places, Span) and places.stop - places.start <= FEW
        if few and isinstance(self.table, RotaryTables):
            return cut(self.table, *places)
        return rows_of(self.table, places)


def rows_of(table: Table, places: Places) -> Table:
    """The table's rows at whole positions, of any shape: by one kernel, where indexing takes several.

    Unlike indexing it refuses negative numbers, compiled too.
    """
    rows: Any
    if isinstance(places, Span):
        rows = table[places.start : places.stop]
    elif isinstance(table, RotaryTables):
        index = places.long()
        rows = RotaryTables(rows_of(table.cos, index), rows_of(table.sin, index))
    else:
        rows = nn.functional.embedding(places.long(), table)
    found: Table = rows
    return found


_FROZEN = {
    DynamicNTKScaling,
    LinearScaling,
    Llama3Scaling,
    LongRoPEScaling,
    NTKByPartsScaling,
    NTKScaling,
    ProportionalScaling,
    YaRNScaling,
}
"""Rules that equal one another when all that they hold is equal, and that cannot change."""


def scaling_key(scaling: Any, dim: int, base: float) -> Hashable:
    """Something that differs wherever the rule's frequencies or its attention factor differ."""
    if scaling is None or is_compiling():  # compiled code keeps no tables
        return None
    if type(scaling) in _FROZEN:
        return (type(scaling), scaling)
    # A dict can be changed in place, and nobody knows what a rule of the user's holds: ask for the result.
    base, rule = read_scaling(scaling, base)
    rates: np.ndarray = frequencies(dim, base=base, scaling=rule)
    return (rates.tobytes(), getattr(rule, "attention_scaling", 1.0))


def _looked_at(positions: Places) -> tuple[int | None, Hashable]:
    """How many rows 0 .. n-1 hold all these positions, None where they cannot be looked up; and what equals
    for equal positions, if they are few or without a gap."""
    if isinstance(positions, Span):
        return (None if positions.start < 0 else positions.stop), positions
    # Elsewhere than on the CPU, to look at the positions would make the device wait.
    if positions.device.type != "cpu" or not values_are_known(positions) or positions.numel() == 0:
        return None, None
    if positions.is_floating_point():
        return None, None
    if positions.numel() > FEW:
        first, last = torch.aminmax(positions)
        return (None if int(first) < 0 else int(last) + 1), None
    values = positions.flatten().tolist()
    if min(values) < 0:
        return None, None
    if positions.shape == (1,):  # a step of decoding: a slice costs less than a look-up
        return values[0] + 1, Span(values[0], values[0] + 1)
    return max(values) + 1, (positions.shape, *values)

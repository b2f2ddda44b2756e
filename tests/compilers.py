"""What tests compile with: `aot_eager` traces all of it and runs the graph as it is, without a C++ compiler.

What Inductor makes of the graph is Inductor's part: that runs in `make test-apart`.
"""

import pytest

BACKENDS = ["aot_eager", pytest.param("inductor", marks=[pytest.mark.peers, pytest.mark.slow])]

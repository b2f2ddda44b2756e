"""The command `posenc`, as `python -m posenc_lib.grading`."""

import sys

from posenc_lib.grading.cli import main

if __name__ == "__main__":
    sys.exit(main())

"""The command `posenc`, also as `python -m posenc_course.grading`."""

import sys

from posenc_course.grading import interrupts


def main() -> int:
    """Run it. Ctrl-C during the imports, too, gets a sentence."""
    interrupts.end_at_once()
    from posenc_course.grading import cli

    return cli.main()


if __name__ == "__main__":
    sys.exit(main())

"""`python -m contend`: the command `contend` itself."""

import sys

from ._contend import command


def main() -> int:
    """Runs the command with the arguments of this process; the exit status."""
    return command(["contend", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())

"""The command line as a module: `python -m hpcsched`."""

import sys

from hpcsched.cli import main

if __name__ == "__main__":
    sys.exit(main())

"""Worker process that compiles one function of a state for another process.

Its arguments are the module and the name of the function, and the kinds of the state's fields. It
writes the code to standard output, in the format of the stored files.
"""

import sys
from importlib import import_module

from hpcsched.dispatching.core.state_compiler import object_code
from hpcsched.dispatching.core.stored_code import packed


def main() -> None:
    """Compile the function named on the command line."""
    module, name, kinds = sys.argv[1:]
    function = getattr(import_module(module), name)
    made = object_code(function, kinds)
    sys.stdout.buffer.write(packed(function.py_func, made))


if __name__ == "__main__":
    main()

"""A process that compiles one function of a state for another process.

It is told the module and the name of the function, and of which kinds the fields of the state are.
The code goes to its standard output, as it is kept in files.
"""

import sys
from importlib import import_module

from hpcsched.dispatching.core.kept_code import packed
from hpcsched.dispatching.core.state_compiler import object_code


def main() -> None:
    """Compile the function."""
    module, name, kinds = sys.argv[1:]
    function = getattr(import_module(module), name)
    made = object_code(function, kinds)
    sys.stdout.buffer.write(packed(function.py_func, made))


if __name__ == "__main__":
    main()

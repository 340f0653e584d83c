"""Fuzz the reader of a trace source with atheris, which is not among the development packages.

    pip install atheris
    python -m tests.fuzz.fuzz_readers table tests/fuzz/corpus/table -max_total_time=600

Behind the source's name come a folder, in which new inputs are kept that reach new code, and the
options of libFuzzer. An input that fails is written to the working folder.
"""

import sys

import atheris

with atheris.instrument_imports(include=["hpcsched.workload", "json", "csv"]):
    from tests.fuzz.readers import READERS, read


def main() -> None:
    """Fuzz the source that the command line names until libFuzzer ends."""
    if len(sys.argv) < 2 or sys.argv[1] not in READERS:
        sys.exit(f"usage: python -m tests.fuzz.fuzz_readers {'|'.join(READERS)} [FOLDER] [-OPTION]")
    source = sys.argv.pop(1)
    atheris.Setup(sys.argv, lambda data: read(source, data))
    atheris.Fuzz()


if __name__ == "__main__":
    main()

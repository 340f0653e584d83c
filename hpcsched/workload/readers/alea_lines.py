"""Lines of logs in the extended Standard Workload Format of the Alea simulator."""

from operator import itemgetter

from hpcsched.parameters import LARGEST
from hpcsched.workload.readers.policies import UnusableError
from hpcsched.workload.readers.quantities import WholeSeconds
from hpcsched.workload.readers.swf_lines import DURATIONS, whole_numbers

FIELDS = 21
USED = (0, 1, 3, 7, 8, 9, 11, 12, 13, 15)
"""Job, submit, run time, processors, requested time, memory, user to application, partition."""
NODES, REQUEST = 18, 20
NO_NODES = f"field {NODES + 1}: expected nodes between braces"

_used = itemgetter(*USED)


def numbers_of(line: bytes, seconds: WholeSeconds) -> list[int]:
    """Return the used numbers of a record.

    Parameters
    ----------
    line
        The record, in UTF-8.

    Raises
    ------
    UnusableError
        If the line is no record.
    """
    fields = line.split()
    if len(fields) != FIELDS:
        raise UnusableError("malformed", f"expected {FIELDS} fields, found {len(fields)}")
    texts = _used(fields)
    # Python accepts 1_000 as a number, logs do not mean it as one.
    if b"_" in b" ".join(texts):  # int() takes it for a separator of digits
        raise UnusableError("malformed", "expected whole numbers, found '_'")
    try:
        numbers = list(map(int, texts))
    except ValueError:
        numbers = whole_numbers(fields, USED, DURATIONS, seconds)
    if max(numbers) > LARGEST:
        raise UnusableError("malformed", f"expected numbers up to {LARGEST}")
    return numbers


def is_list_of_nodes(field: bytes) -> bool:
    """Return True if a field is a list of nodes between braces."""
    return field[:1] == b"{" and field[-1:] == b"}"

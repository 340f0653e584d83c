"""Check of a dispatcher's name before a scenario with it is written."""

from hpcsched.errors import Finding, InputError
from hpcsched.plugins.manager import registry


def check_dispatcher(name: str, option: str) -> None:
    """Check that a dispatcher is installed.

    Parameters
    ----------
    name
        The dispatcher's name, an alias or a former name.
    option
        The option of the command line that gives it.

    Raises
    ------
    InputError
        If no dispatcher has the name; the message has the nearest one.
    """
    try:
        registry().get("dispatcher", name)
    except KeyError as error:
        message = str(error.args[0])
        raise InputError(Finding("unknown-plugin", message, key=option)) from None

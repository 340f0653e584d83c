"""Data that observers pass to dispatchers: names, requests and checks."""

from collections.abc import Mapping, Sequence

from hpcsched.dispatching.additional import NO_DATA, AdditionalData, DataProvider
from hpcsched.errors import PluginError
from hpcsched.plugin_faults import FAULTS, named, raised


def givers_among(names: Sequence[str], observers: Sequence[object]) -> dict[str, DataProvider]:
    """Return the observers that pass data to dispatchers, by name.

    Of several with one name, the second is called `NAME/2`, and so on.
    """
    givers: dict[str, DataProvider] = {}
    for name, observer in zip(names, observers, strict=True):
        if isinstance(observer, DataProvider):
            count = sum(1 for known in givers if known.partition("/")[0] == name)
            givers[name if not count else f"{name}/{count + 1}"] = observer
    return givers


def additional_data(givers: Mapping[str, DataProvider], now: int) -> AdditionalData:
    """Return the data of all givers at `now`, in seconds, by name.

    Raises
    ------
    PluginError
        If one fails, or returns anything but a mapping of texts to data.
    """
    if not givers:
        return NO_DATA
    return AdditionalData({name: _ask(name, giver, now) for name, giver in givers.items()})


def _ask(name: str, giver: DataProvider, now: int) -> Mapping[str, object]:
    try:
        data = giver.additional_data(now)
    except FAULTS as error:
        giving = named("observer", giver, name)
        raise PluginError(f"{giving}: additional_data {raised(error)}") from error
    if not isinstance(data, Mapping) or not all(isinstance(key, str) for key in data):
        giving = named("observer", giver, name)
        raise PluginError(
            f"{giving}: expected a mapping of names to additional data, found {data!r}"
        )
    return data

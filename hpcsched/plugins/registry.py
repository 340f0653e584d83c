"""Registry: plugins by kind and name, with their distributions."""

import difflib
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from hpcsched.errors import PluginError
from hpcsched.plugin_faults import PluginOrigin, spoken
from hpcsched.plugins.index import load
from hpcsched.registration import KINDS, BuiltIn, Plugin
from hpcsched.version import __version__

HOME = ("hpcsched", __version__)
"""The distribution of built-in plugins, and its version."""


OF_SLURM = {
    "workload_manager": ("slurm",),
    "trace_source": ("slurm-sacct", "slurm-history"),
    "command": (
        *("live", "init site", "slurm-conf"),
        *(f"trace {what}-from" for what in ("accounts", "failures", "system")),
    ),
}
"""Plugins and commands of the package that the extra `slurm` installs, by kind."""


@dataclass(frozen=True, slots=True)
class Installed:
    """A plugin with its kind and its distribution."""

    kind: str
    plugin: Plugin
    distribution: str
    version: str

    @property
    def origin(self) -> PluginOrigin:
        """The plugin, as messages name it."""
        return PluginOrigin(self.kind, self.plugin.name, self.distribution, self.version)


_Entry = Installed | BuiltIn


@dataclass(frozen=True)
class Registry:
    """All installed plugins; built-in ones are loaded when they are first asked for."""

    _entries: dict[str, dict[str, _Entry]] = field(default_factory=lambda: defaultdict(dict))
    _aliases: dict[str, dict[str, str]] = field(default_factory=lambda: defaultdict(dict))

    def add(self, installed: Installed) -> None:
        """Register a plugin; raises PluginError if its kind has one of that name."""
        kind, plugin = installed.kind, installed.plugin
        for name in (plugin.name, *plugin.aliases):
            # Another name for it would never be found: a present name comes first.
            if name in self._entries[kind]:
                raise PluginError(_clash(installed, name, *_origin(self._entries[kind][name])))
        self._entries[kind][plugin.name] = installed
        self._aliases[kind] |= dict.fromkeys(plugin.aliases, plugin.name)

    def add_built_in(self, rows: Iterable[BuiltIn]) -> None:
        """Register built-in plugins, which are not loaded yet."""
        for row in rows:
            self._entries[row.kind][row.name] = row
            self._aliases[row.kind] |= dict.fromkeys(row.aliases, row.name)

    def names(self, kind: str) -> list[str]:
        """Return the names of the plugins of a kind, in alphabetical order; loads none."""
        return sorted(self._entries[kind])

    def all_names(self, kind: str) -> set[str]:
        """Return every name by which a plugin of a kind is found."""
        return {*self._entries[kind], *self._aliases[kind]}

    def of_kind(self, kind: str, *, as_registered: bool = False) -> list[Installed]:
        """Return the plugins of a kind, by name or in the order in which they were registered."""
        names = list(self._entries[kind]) if as_registered else self.names(kind)
        return [self.get(kind, name) for name in names]

    def get(self, kind: str, name: str) -> Installed:
        """Return a plugin by any of its names; a name comes before another plugin's alias.

        Raises KeyError if there is none; the text lists the installed ones.
        """
        # Own names first, so that a third party may register a name that was an alias here.
        if name not in self._entries[kind]:
            name = self._aliases[kind].get(name, name)
        entry = self._entries[kind].get(name)
        if entry is None:
            close = difflib.get_close_matches(name.lower(), sorted(self.all_names(kind)), n=1)
            hint = f"there are: {', '.join(self.names(kind))}"
            if name in OF_SLURM.get(kind, ()):
                hint = "it is not installed; pip install 'hpcsched[slurm]'"
            # What others call an FCFS or SJF scheduler is a list in that order here.
            elif kind == "dispatcher" and name.lower() in self.all_names("queue_order"):
                order = name.lower()
                hint = f"{order!r} is a queue order: {{name: list, order: {order}}}"
            elif close:
                hint = f"did you mean {close[0]!r}?"
            raise KeyError(f"no {spoken(kind)} is called {name!r}; {hint}")
        if isinstance(entry, BuiltIn):
            # Kept: loading imports the parameters, and models of choices are cached by the result.
            entry = self._entries[kind][name] = Installed(kind, load(entry), *HOME)
        return entry

    def listed(self) -> list[tuple[str, str, str, str, str]]:
        """Return kind, name, distribution, version and summary of each plugin; loads none."""
        rows = []
        for kind in KINDS:
            for name, entry in sorted(self._entries[kind].items()):
                summary = (entry if isinstance(entry, BuiltIn) else entry.plugin).summary
                rows.append((kind, name, *_origin(entry), summary))
        return rows


def _clash(installed: Installed, name: str, distribution: str, version: str) -> str:
    one, other = f"{installed.distribution} {installed.version}", f"{distribution} {version}"
    what = f"the {installed.kind} {name!r}"
    if one == other:
        return f"plugin clash: {one} registers {what} twice; give one of them another name"
    remedy = "give it another name" if distribution == HOME[0] else "uninstall one of them"
    return f"plugin clash: {one} and {other} both register {what}; {remedy}"


def _origin(entry: _Entry) -> tuple[str, str]:
    return HOME if isinstance(entry, BuiltIn) else (entry.distribution, entry.version)

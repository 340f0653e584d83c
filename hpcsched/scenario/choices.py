"""Choices of plugins: a name with parameters beside it, read by the plugin's own model."""

from functools import cache
from typing import Annotated, Any, ClassVar, Literal, cast

from pydantic import BaseModel, Field, create_model

from hpcsched.errors import PluginError
from hpcsched.parameters import Listed, Params, Selects
from hpcsched.plugins.registry import Installed, Registry
from hpcsched.scenario.faults import found, refusal, refuse

_DEEPEST = 20
"""Largest depth of nested choices; a default that selects its own plugin would never end."""


class Choice(Params):
    """A validated choice: the parameters of a plugin, and the plugin's kind and name."""

    plugin_kind: ClassVar[str]
    plugin_tag: ClassVar[str] = "name"

    @property
    def plugin_name(self) -> str:
        """Name under which the plugin is registered."""
        return str(getattr(self, self.plugin_tag))


class NamedChoice(Choice):
    """Choice with the plugin's name under `name`."""

    name: str


class SourceChoice(Choice):
    """Choice of a trace source, with the plugin's name under `source`."""

    plugin_tag: ClassVar[str] = "source"
    source: str


class Transformed(Params):
    """Transforms of a trace source, beside its own parameters."""

    transforms: Annotated[tuple[Annotated[NamedChoice, Selects("transform")], ...], Listed] = ()
    """Transforms of the trace, applied in this order."""


def tag_of(kind: str) -> str:
    """Return the key that names a plugin of a kind."""
    return _base(kind).plugin_tag


def _base(kind: str) -> type[Choice]:
    return SourceChoice if kind == "trace_source" else NamedChoice


@cache
def choice_model(installed: Installed) -> type[Choice]:
    """Return the model of a choice of one plugin: its parameters and its name.

    Raises PluginError if the plugin has a parameter with a reserved name.
    """
    kind, plugin, base = installed.kind, installed.plugin, _base(installed.kind)
    # The user writes the plugin's name and `transforms` between its parameters, in one mapping, so
    # a parameter of such a name could not be told from them.
    beside = tuple(Transformed.model_fields) if kind == "trace_source" else ()
    for name in (base.plugin_tag, "plugin_kind", "plugin_name", "plugin_tag", *beside):
        if name in plugin.params.model_fields:
            why = "may stand beside it" if name in beside else "names the plugin"
            raise PluginError(
                f"{installed.origin}: it has a parameter {name!r}, which is taken by what {why}"
            )
    description = f"The {kind.replace('_', ' ')}: {plugin.name}."

    # Validation sees the present name alone, since aliases were replaced before; editors must
    # accept every name, so the schema lists all of them.
    def all_names(schema: dict[str, Any]) -> None:
        if plugin.aliases:
            schema.pop("const", None)
            schema["enum"] = [plugin.name, *plugin.aliases]

    # The plugin's own model comes first: its validators and settings must win over those of the
    # base.
    bases: Any = (base,) if issubclass(base, plugin.params) else (plugin.params, base)
    if base is SourceChoice:
        bases = (Transformed, *bases)
    tag: Any = (Literal[plugin.name], Field(description=description, json_schema_extra=all_names))
    made: Any = create_model(
        _class_name(kind, plugin.name),
        __base__=bases,
        __doc__=plugin.summary,
        __module__=__name__,
        **{base.plugin_tag: tag},
    )
    model = cast(type[Choice], made)
    model.plugin_kind = kind
    return model


def _class_name(kind: str, name: str) -> str:
    words = "".join(c if c.isalnum() else " " for c in f"{kind} {name}").split()
    return "".join(word[:1].upper() + word[1:] for word in words)


class Chooser:
    """Conversion of values of a scenario into choices of plugins."""

    def __init__(self, registry: Registry) -> None:
        self.registry = registry
        self.depth = 0

    def __call__(self, kind: str, value: Any, context: Any) -> BaseModel:
        """Return the choice of a name or mapping; raises ValidationError otherwise."""
        tag = tag_of(kind)
        at = () if isinstance(value, str) else (tag,)
        if isinstance(value, str):
            value = {tag: value}
        elif not isinstance(value, dict):
            message = f"expected a name, or a mapping with {tag!r}, found {found(value)}"
            raise refuse(refusal("bad-value", message))
        elif tag not in value:
            message = f"the key {tag!r} is missing; it names the {kind.replace('_', ' ')}"
            raise refuse(refusal("missing-key", message, at=at))
        elif not isinstance(value[tag], str):
            message = f"expected a name, found {found(value[tag])}"
            raise refuse(refusal("bad-value", message, at=at))
        try:
            installed = self.registry.get(kind, value[tag])
        except KeyError as error:
            raise refuse(refusal("unknown-plugin", error.args[0], at=at)) from None
        # In place of an alias, in the document itself: faults are told of its mappings.
        value[tag] = installed.plugin.name
        # Counted here and not by the interpreter: a RecursionError in a validator would be an
        # internal fault without the key path.
        if self.depth == _DEEPEST:
            message = f"more than {_DEEPEST} choices within choices"
            raise refuse(refusal("bad-value", message))
        self.depth += 1
        try:
            return choice_model(installed).model_validate(value, context=context)
        finally:
            self.depth -= 1

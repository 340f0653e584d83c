"""The parameters of `hyper`."""

from typing import Annotated, Any, Self

from pydantic import BaseModel, Field, model_validator

from hpcsched.parameters import Listed, Params, Selects

# Where units are counted, nodes play no part in when jobs start, and the first ones are found
# soonest. The second member holds more jobs than the first one does for slowdowns.
PORTFOLIO: tuple[Any, ...] = (
    {"name": "order-search", "allocator": "first-fit"},
    {
        "name": "order-search",
        "allocator": "first-fit",
        "surrogate_objective": {"discount_time_constant": 14_400, "hold": 3, "front_bias": 2},
    },
    *({"name": "list", "order": order} for order in ("fcfs", "spf", "sjf", "saf", "laf")),
    *({"name": "easy", "order": order} for order in ("fcfs", "sjf")),
)
"""The dispatchers that are chosen from if nothing is said."""

NOT_REHEARSED = ("hyper", "recorded", "reject")
"""Dispatchers that cannot be in a portfolio."""


class HyperParams(Params):
    """Parameters of `hyper`: its portfolio, the jobs to replay, and the rule for a change."""

    portfolio: Annotated[tuple[Annotated[Any, Selects("dispatcher")], ...], Listed] = Field(
        PORTFOLIO, min_length=1
    )
    """Portfolio: the dispatchers to choose from; the first one begins."""
    least_jobs: int = Field(500, ge=1)
    """Number of submitted jobs from which on the past is replayed."""
    memory: int = Field(10_000, ge=1)
    """Number of jobs, the last submitted ones, that are replayed."""
    least_t: float = Field(2.5, ge=0)
    """Gain in the objective, in standard errors over 32 blocks of jobs, from which on another
    dispatcher takes over."""

    @model_validator(mode="after")
    def _can_be_rehearsed(self) -> Self:
        """Refuse a portfolio that cannot be replayed."""
        for place, choice in enumerate(self.portfolio, start=1):
            name = getattr(choice, "plugin_name", None)
            if name in NOT_REHEARSED:
                raise ValueError(
                    f"place {place} of the portfolio is {name!r}, which cannot be replayed;"
                    " expected a dispatcher that decides by itself"
                )
        return self


def label_of(choice: Any) -> str:
    """Return a dispatcher's name, with those of its parameters that are not the default ones.

    Examples
    --------
    `easy`, `easy order=saf`, `list order=spf`.
    """
    return " ".join([choice.plugin_name, *_words(choice, choice.plugin_tag)])


def _words(params: BaseModel, tag: str = "") -> list[str]:
    """Return the parameters that are not the default ones; `tag` is the one that has the name."""
    return [
        f"{name}={_word(getattr(params, name))}"
        for name, field in type(params).model_fields.items()
        if name != tag and _word(getattr(params, name)) != _word(field.get_default())
    ]


def _word(value: Any) -> str:
    """Return a parameter in a word, the same whether it is read or as a default is written."""
    if hasattr(value, "plugin_name"):
        label = label_of(value)
        return f"({label})" if " " in label else label
    if isinstance(value, BaseModel):
        return f"({' '.join(_words(value))})"
    if isinstance(value, dict):  # a default as it is written
        words = [value["name"], *(f"{key}={_word(value[key])}" for key in value if key != "name")]
        return f"({' '.join(words)})" if len(words) > 1 else words[0]
    if isinstance(value, tuple | list):
        return ",".join(map(_word, value))
    return str(value).removesuffix(".0")

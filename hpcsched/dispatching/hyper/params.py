"""The parameters of `hyper`."""

from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from hpcsched.parameters import Listed, Params, Selects

# Where units are counted, nodes play no part in when jobs start, and the first ones are found
# soonest.
PORTFOLIO: tuple[Any, ...] = (
    {"name": "order-search", "allocator": "first-fit"},
    *({"name": "list", "order": order} for order in ("fcfs", "spf", "sjf", "saf", "laf")),
    *({"name": "list", "option": "greedy", "order": order} for order in ("spf", "saf")),
    *({"name": "easy", "order": order} for order in ("fcfs", "spf", "sjf", "saf")),
    {"name": "easy", "backfill_order": "sjf"},
    *(
        {"name": rule, "order": {"name": order, "run_times": "expected"}}
        for rule in ("list", "easy")
        for order in ("spf", "sjf", "saf")
    ),
)
"""The dispatchers that are chosen from if nothing is said."""

NOT_REHEARSED = ("hyper", "recorded", "reject")
"""Dispatchers that cannot be in a portfolio."""


class HyperParams(Params):
    """Parameters of `hyper`: its portfolio, the jobs to replay, and the rule for a change."""

    portfolio: Annotated[tuple[Annotated[Any, Selects("dispatcher")], ...], Listed] = Field(
        PORTFOLIO,
        min_length=1,
        description="Portfolio: the dispatchers to choose from; the first one begins.",
    )
    least_jobs: int = Field(
        500, ge=1, description="Number of submitted jobs from which on the past is replayed."
    )
    memory: int = Field(
        10_000, ge=1, description="Number of jobs, the last submitted ones, that are replayed."
    )
    hysteresis: float = Field(
        20,
        ge=0,
        description="Relative gain in the objective, times the square root of the number of"
        " replayed jobs, from which on another dispatcher takes over, whichever sixteenth of the"
        " jobs is left out.",
    )

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
    words = [
        f"{name}={_word(getattr(choice, name))}"
        for name, field in type(choice).model_fields.items()
        if name != choice.plugin_tag and _word(getattr(choice, name)) != _word(field.get_default())
    ]
    return " ".join([choice.plugin_name, *words])


def _word(value: Any) -> str:
    """Return a parameter in a word, the same whether it is read or as a default is written."""
    if hasattr(value, "plugin_name"):
        label = label_of(value)
        return f"({label})" if " " in label else label
    if isinstance(value, dict):  # a default as it is written
        words = [value["name"], *(f"{key}={_word(value[key])}" for key in value if key != "name")]
        return f"({' '.join(words)})" if len(words) > 1 else words[0]
    if isinstance(value, tuple | list):
        return ",".join(map(_word, value))
    return str(value)

"""Environments of Gymnasium, in which policies for dispatching can be trained (extra `rl`)."""

from hpcsched.registration import OptionalPackage

# Before the imports that need it, so that the message tells how to install it.
OptionalPackage("hpcsched.gym", "gymnasium", "gymnasium", "rl").require()

from hpcsched.dispatching.rules.policy_order import (  # noqa: E402
    ScoringNetwork,
    parameter_count,
)
from hpcsched.gym.environment import ChooseJob, DispatchingEnv  # noqa: E402

__all__ = ["ChooseJob", "DispatchingEnv", "ScoringNetwork", "parameter_count"]

"""Studies of variants of a scenario on the same log, compared job by job with the base."""

"""Tests of `hpcsched/dispatching/cp/formulations`."""

"""Tests of `hpcsched/dispatching/cp/postpone`."""

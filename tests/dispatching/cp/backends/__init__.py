"""Tests of `hpcsched/dispatching/cp/backends`."""

"""Tests of live dispatching on a cluster that is made up."""

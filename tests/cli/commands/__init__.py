"""Tests of the commands that are in no feature's folder."""

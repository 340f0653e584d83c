"""Tests of what dispatchers that plan share."""

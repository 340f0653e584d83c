"""The documentation is run: every command, scenario and program that it shows."""

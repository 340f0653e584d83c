"""The commands: a module is called as its command, with `_` behind a word of Python.

It holds a function of that name, or the group `app`, and the panel of `--help` in which it stands.
"""

"""How plugins come in, and what happens when one is broken."""

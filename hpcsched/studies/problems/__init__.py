"""Recorded dispatching problems: saved as a replay meets them, solved again, compared.

Dispatchers that replay a trace soon meet different problems. To compare them problem by problem,
all must answer the same ones (Galleguillos et al., CP 2021, section 5.1, call these instances).
"""

"""A naive reference: rules and event loop in plain Python, which share nothing with the product.

It reads only what a job and a system say of themselves. Everything is worked out anew at each
instant, in the most direct way; nothing is fast.
"""

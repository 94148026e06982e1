"""A worker of bi-conform in Python: adapters/protocol/PROTOCOL.md says what it answers.

It needs the standard library and either torch or NumPy, whichever the module under test uses.
"""

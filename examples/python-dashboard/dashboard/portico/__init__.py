"""Portico in a Python program: the component, its storage, and its procedures for tRPC clients."""

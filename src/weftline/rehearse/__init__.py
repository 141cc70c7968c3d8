"""Failures rehearsed before they happen: what each leaves of the fabric and of the jobs, and what may be disabled.

Nothing is imported here: one question about a fabric that is kept needs a few small modules of this room, and has to be
answered before the rest of it would be loaded.
"""

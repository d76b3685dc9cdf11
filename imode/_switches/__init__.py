"""Switches of the process that scripts set: what was set is kept, and no result depends on it."""

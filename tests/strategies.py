"""Strategies of the property tests, one section a room."""

"""Findings as text for people and for other programs."""

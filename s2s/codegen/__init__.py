"""Core Python to text, and text to a function."""

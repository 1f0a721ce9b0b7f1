"""s2s: source-to-source automatic differentiation for NumPy code."""

__version__ = "0.1.0.dev0"

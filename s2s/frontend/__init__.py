"""From a callable to Core Python.

source       what is called -> the syntax tree of the code that runs
definitions  every `def` and `lambda` of a file, by line
matching     whether a tree is the text that a code object was compiled from
scope        what a function's free names mean
origins      where a node stands in the user's text
lower/       the syntax tree -> Core Python, one module for each family of constructs
"""

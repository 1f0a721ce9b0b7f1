"""The cases are run by `test_cases.py`; the other modules here hold no tests of their own."""

collect_ignore_glob = ["[!t]*.py"]

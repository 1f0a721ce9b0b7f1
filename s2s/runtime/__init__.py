"""What generated code and the tape call: numeric helpers, special functions, recurrences, pytrees, backends."""

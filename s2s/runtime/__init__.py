"""What generated code and the tape call: backends, accumulation, pytrees."""

"""All planted bugs."""

from tests.planted import bugs_memory, bugs_rest, bugs_reverse

BUGS = [*bugs_reverse.BUGS, *bugs_memory.BUGS, *bugs_rest.BUGS]

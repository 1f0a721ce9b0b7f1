"""Numbers of text: what is said where one is made of text that an active value was written as."""

MADE_OF_TEXT = "a number is made of text that was made of a value that carries a derivative, which would be lost"
HINT = "use the value itself, or pass `s2s.stop_gradient` of it where it is made text."

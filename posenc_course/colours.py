"""The colours of all that we draw. Pages and scripts take theirs from here; only the favicon repeats two."""

# Contrast of at least 3 : 1 against #ffffff and against #121212. Tell lines apart by dash or marker too.
NAMED = {
    "blue": "#3d85c6",
    "orange": "#d9730d",
    "green": "#2e9e5b",
    "purple": "#a461d8",
    "red": "#e0484d",
    "grey": "#808080",
}
BLUE, ORANGE, GREEN, PURPLE, RED, GREY = COLOURS = tuple(NAMED.values())

INKS = {"light": "#1f2328", "dark": "#f0f6fc"}
"""Of text where no page of the book lends its own."""
PAPERS = {"light": "#ffffff", "dark": "#0d1117"}
"""What that text stands on."""

CSS = ";".join(f"--{name}:{colour}" for name, colour in NAMED.items())
"""As variables for style sheets: `var(--blue)`."""

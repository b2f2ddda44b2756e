"""`{train-live}`: models that the page trains while the reader watches (book/web/src/train-live.js).

```{train-live}
What a reader without scripts reads.
```
"""

from __future__ import annotations

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from tags import Tag

from posenc_course.colours import CSS


class TrainLive(SphinxDirective):
    has_content = True

    def run(self) -> list[nodes.Node]:
        if not self.content:
            raise self.error("train-live has no text; say in it what a reader without scripts is to read")
        return [Tag.make("div", {"class": "posenc-train-live", "style": CSS}, *self.parse_content_to_nodes())]


def setup(app: Sphinx) -> dict[str, bool]:
    app.setup_extension("quiz")  # it has taught Sphinx the tags
    app.add_directive("train-live", TrainLive)
    app.add_css_file("train-live.css")
    return {"parallel_read_safe": True, "parallel_write_safe": True}

"""Code of a chapter that answers one of its exercises: folded until the reader has passed it.

    ```{code-cell} ipython3
    :tags: ["until-passed:frequencies"]
    ```

The tag names a function of this chapter's exercises, or an exercise as `<chapter>.<function>`. The code is
folded below a link to the exercise, and can be shown all the same; what it printed stays. `book/web` opens it
once the exercise has passed. In print, and in the notebook of the chapter, it stands there as it is.
"""

from __future__ import annotations

from collections.abc import Iterable

from docutils import nodes
from quiz import chapter_of, link
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging
from tags import Tag

from posenc_course.exercises import Exercise, exercise
from posenc_course.translation import _

logger = logging.getLogger(__name__)

TAG = "until-passed:"


def exercises_named(tags: Iterable[str], chapter: str) -> list[str]:
    """The ids of the exercises that a cell of a chapter waits for."""
    names = [tag.removeprefix(TAG).strip() for tag in tags if tag.startswith(TAG)]
    return [name if "." in name else f"{chapter}.{name}" for name in names]


class FoldUntilPassed(SphinxPostTransform):
    default_priority = 198  # right before MyST-NB folds what says hide-input

    def run(self, **kwargs: object) -> None:
        if self.app.builder.name != "html":
            return
        for cell in list(self.document.findall(nodes.container)):
            tags = cell.get("cell_metadata", {}).get("tags", ())
            names = exercises_named(tags, chapter_of(self.env.docname))
            if names and cell.children and cell[0].get("nb_element") == "cell_code_source":
                try:
                    self._fold(cell[0], [exercise(name) for name in names])
                except ValueError as error:
                    logger.error("until-passed: %s", error, location=cell)

    def _fold(self, source: nodes.Node, exercises: list[Exercise]) -> None:
        paragraphs = [Tag.make("p", {}, link(self._place(each), _first(each))) for each in exercises]
        code = Tag.make("details", {}, Tag.make("summary", {}, _("Show the code all the same")))
        ids = " ".join(each.id for each in exercises)
        folded = Tag.make("div", {"class": "posenc-until-passed", "data-until": ids}, *paragraphs, code)
        source.replace_self(folded)
        code += source

    def _place(self, asked: Exercise) -> str:
        page = self.app.builder.get_relative_uri(self.env.docname, f"book/{asked.chapter}")
        return f"{page}#exercise-{asked.function.replace('_', '-')}"


def _first(asked: Exercise) -> str:
    return _("Write this yourself first: “{title}”").format(title=_(asked.title))


def setup(app: Sphinx) -> dict[str, bool]:
    app.setup_extension("quiz")  # it has taught Sphinx the tags
    app.add_post_transform(FoldUntilPassed)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

"""Search in Chinese, whose words have no spaces between them: every two neighbours count as a word.

A query is cut the same way, so a word of any length is found wherever its pairs stand.
"""

from __future__ import annotations

import re

from sphinx.application import Sphinx
from sphinx.search.zh import SearchChinese

HAN = r"\u3400-\u9fff"
RUN = re.compile(rf"[{HAN}]+|[^\W{HAN}]+")

SPLITTER = r"""
var splitQuery = (query) => {
  const told = query.replace(/为什么|怎么样?|什么|如何|哪[个些里]?|是否|[吗呢的]/g, " ").trim() || query;
  return (told.match(/[\u3400-\u9fff]+|[^\s\p{P}\p{S}\u3400-\u9fff]+/gu) || []).flatMap((run) =>
    /[\u3400-\u9fff]/.test(run) && run.length > 1
      ? Array.from({ length: run.length - 1 }, (_, at) => run.slice(at, at + 2))
      : [run],
  );
};
"""


def pairs(text: str) -> list[str]:
    """Latin words as they are; of each run of Chinese its pairs, or the one character that it is."""
    found = []
    for run in RUN.findall(text):
        chinese = re.match(rf"[{HAN}]", run) and len(run) > 1
        found += [run[at : at + 2] for at in range(len(run) - 1)] if chinese else [run]
    return found


class PairsOfCharacters(SearchChinese):
    js_splitter_code = SPLITTER

    def split(self, input: str) -> list[str]:
        return pairs(input)

    def stem(self, stemmed_word: str) -> str:
        return str(self.stemmer.stemWord(stemmed_word.lower()))


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_search_language(PairsOfCharacters)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

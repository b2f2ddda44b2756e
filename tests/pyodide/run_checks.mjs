// Loads posenc_lib in Pyodide with NumPy alone, and prints what the checks of every exercise say, and what becomes
// of the cells that can be tried in the pages.
//   node run_checks.mjs PYODIDE REPOSITORY CELLS.json
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [, , folder, repository, cells] = process.argv;
const { loadPyodide } = await import(pathToFileURL(join(folder, "pyodide.mjs")));

const pyodide = await loadPyodide({ packages: ["numpy"] });
pyodide.mountNodeFS("/repository", repository);
pyodide.FS.writeFile("cells.json", readFileSync(cells));
console.log(
  await pyodide.runPythonAsync(`
import json, sys
sys.path.insert(0, "/repository")
sys.dont_write_bytecode = True

from posenc_course import check
from posenc_course.checking import CheckFailed
from posenc_course.exercises import all_exercises

verdicts = {}
for exercise in all_exercises():
    if exercise.array_library == "torch":
        continue
    answer = exercise.reference() if exercise.kind == "value" else exercise.reference
    named = []
    for mistake in exercise.mistakes:
        wrong = mistake.answer() if exercise.kind == "value" else mistake.answer
        try:
            check(exercise.id, wrong)
        except CheckFailed as failure:
            named.append(failure.report.mistake is mistake and "posenc-report" in failure.report._repr_html_())
    verdicts[exercise.id] = [check(exercise.id, answer).passed, *named]
# The cells of each chapter, one after another, as a reader may try them.
sys.path.insert(0, "/repository/book/web/src")
import time

import in_page

failed, slowest = {}, 0
for chapter, cells in json.load(open("cells.json")).items():
    for place, cell in enumerate(cells):
        if not cell["offered"]:
            continue
        above = [[each["plain"], False] for each in cells[:place]]
        begun = time.monotonic()
        said = []
        result = json.loads(in_page.run(json.dumps({"do": "cell", "above": above, "code": cell["source"]}), said.append))
        slowest = max(slowest, time.monotonic() - begun)
        if result["kind"] != "cell" or (cell["shows"] and not said and not result["shown"]):
            failed[f"{chapter}, cell {place}: {cell['source'][:60]}"] = result

json.dumps({"failed": failed, "slowest": slowest, "platform": sys.platform, "torch": "torch" in sys.modules, "verdicts": verdicts})
`),
);

// Loads posenc_lib in Pyodide with NumPy alone, and prints what the checks of every exercise say.
//   node run_checks.mjs REPOSITORY
import { readFileSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { loadPyodide } from "pyodide";

const here = dirname(fileURLToPath(import.meta.url));
const assets = join(here, "node_modules/@bentopdf/pymupdf-wasm/assets");
const wheel = readdirSync(assets).find((name) => name.startsWith("numpy-"));

const pyodide = await loadPyodide();
pyodide.unpackArchive(Uint8Array.from(readFileSync(join(assets, wheel))), "wheel");
pyodide.mountNodeFS("/repository", process.argv[2]);
console.log(
  await pyodide.runPythonAsync(`
import json, sys
sys.path.insert(0, "/repository")
sys.dont_write_bytecode = True

from posenc_lib import check
from posenc_lib.checking import CheckFailed
from posenc_lib.exercises import all_exercises

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
json.dumps({"platform": sys.platform, "torch": "torch" in sys.modules, "verdicts": verdicts})
`),
);

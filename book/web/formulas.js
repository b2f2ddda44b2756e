// Goes with book/_ext/formulas.py: reads a list of [TeX, whether it stands on a line of its own], and writes for each
// what it is in MathML, or what is wrong with it.
import temml from "temml";

let given = "";
for await (const part of process.stdin) given += part;

function set([tex, displayMode]) {
  try {
    return { mathml: temml.renderToString(tex, { displayMode, throwOnError: true }) };
  } catch (error) {
    return { wrong: error.message };
  }
}

process.stdout.write(JSON.stringify(JSON.parse(given).map(set)));

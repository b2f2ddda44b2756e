// Python for the page: Pyodide in a worker of its own, so that the page stays quick and can end it at any time.
//   in:  {kind: "start", pyodide, library, sizes, exercise, language}, {kind: "check", request}
//   out: {kind: "loading", received, total}, {kind: "starting"}, {kind: "ready"}, {kind: "begun"},
//        {kind: "printed", text}, {kind: "result", result}, {kind: "broken", reason}
import { Downloads } from "./download.js";
import program from "./in_page.py";

const CORE = ["pyodide.mjs", "pyodide.asm.js", "pyodide.asm.wasm", "python_stdlib.zip"];
const PACKAGES = ["numpy"];

let run;

self.onmessage = async ({ data }) => {
  try {
    if (data.kind === "start") await start(data);
    else check(data.request);
  } catch (error) {
    self.postMessage({ kind: "broken", reason: String(error) });
  }
};

async function start({ pyodide, library, sizes, exercise, language }) {
  const files = new Map(); // address -> Blob
  const keep = (address, file) => files.set(address, file).get(address);
  const lock = `${pyodide}pyodide-lock.json`;
  keep(lock, await new Downloads().get(lock)); // it says what else is to come
  const known = JSON.parse(await files.get(lock).text()).packages;
  const wheels = withNeeded(PACKAGES, known).map((name) => known[name].file_name);
  const downloads = new Downloads(sizes, (progress) => self.postMessage({ kind: "loading", ...progress }));
  const get = async (address) => keep(address, await downloads.get(address));
  const [ours] = await Promise.all([get(library), ...[...CORE, ...wheels].map((name) => get(pyodide + name))]);

  // All of it is here. From now on no byte is waited for, and Pyodide finds each file in memory.
  self.postMessage({ kind: "starting" });
  const fetchElsewhere = self.fetch.bind(self);
  self.fetch = async (what, options) => {
    const file = files.get(String(what?.url ?? what));
    return file ? new Response(file) : fetchElsewhere(what, options);
  };
  await script(files.get(`${pyodide}pyodide.asm.js`)); // Pyodide would fetch it past `fetch`
  const { loadPyodide } = await script(files.get(`${pyodide}pyodide.mjs`));
  const python = await loadPyodide({ indexURL: pyodide, packages: PACKAGES, env: { LANGUAGE: language } });
  python.unpackArchive(await ours.arrayBuffer(), "wheel");
  python.FS.writeFile("in_page.py", program);
  files.clear();
  const page = python.pyimport("in_page");
  page.exercise(exercise); // reads its chapter now, before a learner waits for it
  run = page.run;
  self.postMessage({ kind: "ready" });
}

/** Packages and all that they need. */
function withNeeded(names, known) {
  const found = [...names];
  for (const name of found) found.push(...known[name].depends.filter((each) => !found.includes(each)));
  return found;
}

async function script(file) {
  const address = URL.createObjectURL(new Blob([file], { type: "text/javascript" }));
  try {
    return await import(address);
  } finally {
    URL.revokeObjectURL(address);
  }
}

function check(request) {
  self.postMessage({ kind: "begun" });
  const show = (text) => self.postMessage({ kind: "printed", text });
  self.postMessage({ kind: "result", result: JSON.parse(run(JSON.stringify(request), show)) });
}

// Python for the page: Pyodide in a worker of its own, so that the page stays quick and can end it at any time.
//   in:  {kind: "start", pyodide, ours: archives, sizes, exercise, language}, {kind: "run", request}
//   out: {kind: "loading", received, total}, {kind: "starting"}, {kind: "ready"}, {kind: "begun"},
//        {kind: "printed", text}, {kind: "result", result}, {kind: "broken", reason}
import { Downloads } from "./download.js";
import program from "./in_page.py";

const CORE = ["pyodide.mjs", "pyodide.asm.js", "pyodide.asm.wasm", "python_stdlib.zip"];
const PACKAGES = ["numpy"];
const PICTURES = "matplotlib";
const ANSWERS_AFTER = 5000; // ms: a firewall may not even refuse

let run, bring;

self.onmessage = async ({ data }) => {
  try {
    if (data.kind === "start") await start(data);
    else await runRequest(data);
  } catch (error) {
    self.postMessage({ kind: "broken", reason: String(error) });
  }
};

async function start({ pyodide, ours, sizes, exercise, language }) {
  const files = new Map(); // address -> Blob
  const keep = (address, file) => files.set(address, file).get(address);
  const lock = `${pyodide}pyodide-lock.json`;
  keep(lock, await new Downloads().get(lock)); // it says what else is to come
  const known = JSON.parse(await files.get(lock).text()).packages;
  const here = new Set();
  const fetchFiles = async (names, others, most) => {
    const downloads = new Downloads(sizes, (progress) => self.postMessage({ kind: "loading", ...progress }), most);
    const wheels = withNeeded(names, known).filter((name) => !here.has(name));
    const fetched = async (address, sha256) => keep(address, await downloads.get(address, sha256));
    const fetchWheel = ({ file_name: file, sha256 }) =>
      file.includes("://") ? fetched(file, sha256) : fetched(pyodide + file); // of another site, or of this one
    await Promise.all([...others.map((address) => fetched(address)), ...wheels.map((name) => fetchWheel(known[name]))]);
    wheels.forEach((name) => here.add(name));
  };
  await fetchFiles(PACKAGES, [...ours, ...CORE.map((name) => pyodide + name)]);

  // All of it is here. From now on no byte is waited for, and Pyodide finds each file in memory.
  self.postMessage({ kind: "starting" });
  const fetchElsewhere = self.fetch.bind(self);
  self.fetch = async (what, options) => {
    const file = files.get(what instanceof Request ? what.url : String(what));
    return file ? new Response(file) : fetchElsewhere(what, options);
  };
  await script(files.get(`${pyodide}pyodide.asm.js`)); // Pyodide would fetch it past `fetch`
  const { loadPyodide } = await script(files.get(`${pyodide}pyodide.mjs`));
  const env = { LANGUAGE: language.replace("-", "_"), MPLBACKEND: "svg" }; // a worker has no window that Matplotlib could draw on
  const python = await loadPyodide({ indexURL: pyodide, packages: PACKAGES, env });
  for (const archive of ours) python.unpackArchive(await files.get(archive).arrayBuffer(), "gztar");
  python.FS.writeFile("in_page.py", program);
  files.clear();
  const page = python.pyimport("in_page");
  if (exercise) page.exercise(exercise); // reads its chapter now, before a learner waits for it
  run = page.run;
  bring = once(async () => {
    if (!(PICTURES in known)) return false;
    try {
      await fetchFiles([PICTURES], [], ANSWERS_AFTER);
    } catch {
      return false; // the cell runs all the same
    }
    self.postMessage({ kind: "starting" });
    await python.loadPackage(PICTURES);
    files.clear();
    return true;
  });
  self.postMessage({ kind: "ready" });
}

/** What a function gave the first time. */
function once(make) {
  let made;
  return () => (made ??= make());
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

async function runRequest({ request }) {
  if (request.pictures) request.pictures = await bring();
  self.postMessage({ kind: "begun" });
  const show = (text) => self.postMessage({ kind: "printed", text });
  self.postMessage({ kind: "result", result: JSON.parse(run(JSON.stringify(request), show)) });
}

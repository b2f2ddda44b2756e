// Python for the page: Pyodide in a worker of its own, so that the page stays quick and can end it at any time.
//   in:  {kind: "start", pyodide, library, exercise}, {kind: "check", request}
//   out: {kind: "ready"}, {kind: "begun"}, {kind: "printed", text}, {kind: "result", result}, {kind: "broken", reason}
import program from "./in_page.py";

let run;

self.onmessage = async ({ data }) => {
  try {
    if (data.kind === "start") await start(data);
    else check(data.request);
  } catch (error) {
    self.postMessage({ kind: "broken", reason: String(error) });
  }
};

async function start({ pyodide, library, exercise }) {
  const [python, wheel] = await Promise.all([loadPython(pyodide), download(library)]);
  python.unpackArchive(wheel, "wheel");
  python.FS.writeFile("in_page.py", program);
  const page = python.pyimport("in_page");
  page.exercise(exercise); // reads its chapter now, before a learner waits for it
  run = page.run;
  self.postMessage({ kind: "ready" });
}

async function loadPython(indexURL) {
  const { loadPyodide } = await import(`${indexURL}pyodide.mjs`);
  return loadPyodide({ indexURL, packages: ["numpy"] });
}

async function download(address) {
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(`${address}: ${answer.status}`);
  return answer.arrayBuffer();
}

function check(request) {
  self.postMessage({ kind: "begun" });
  const show = (text) => self.postMessage({ kind: "printed", text });
  self.postMessage({ kind: "result", result: JSON.parse(run(JSON.stringify(request), show)) });
}

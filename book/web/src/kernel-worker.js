// A Python of this machine, where `make serve` serves the page (book/server.py): a kernel of Jupyter, for what no
// browser's Python can do. It is spoken to like worker.js, and runs the same program.
import program from "./in_page.py";

const literal = JSON.stringify; // of a text, it is Python's too
const BEGIN = (language) => `
import os, sys, types
os.environ.update(LANGUAGE=${literal(language)}, MPLBACKEND="svg")
in_page = types.ModuleType("in_page")
sys.modules["in_page"] = in_page
exec(compile(${literal(program)}, "in_page.py", "exec"), in_page.__dict__)
def run(request, out=sys.stdout):
    def show(text):
        out.write(text)
        out.flush()
    result = in_page.run(request, show)
    get_ipython().display_pub.publish({"application/json": result})
`;

export class KernelWorker {
  #kernel; // its address
  #socket;
  #runs = new Map(); // id of what was sent -> {resolve, reject, hear}
  onmessage = (_event) => {};

  /** `api` is the address of Jupyter's, with a slash at its end. */
  constructor({ api, token }) {
    this.api = api;
    this.token = token;
    this.end = () => {
      const { onmessage } = this;
      this.terminate();
      // A page may come back from the browser's memory, and its kernel does not.
      const tell = ({ persisted }) =>
        persisted && onmessage({ data: { kind: "broken", reason: "the kernel ended when the page was left" } });
      addEventListener("pageshow", tell, { once: true });
    };
    addEventListener("pagehide", this.end);
  }

  postMessage(message) {
    const done = message.kind === "start" ? this.#start(message) : this.#run(message.request);
    done.catch((error) => this.#tell("broken", { reason: String(error) }));
  }

  terminate() {
    removeEventListener("pagehide", this.end);
    if (this.#socket) this.#socket.onclose = null;
    this.#socket?.close();
    if (this.#kernel) this.#ask("DELETE", this.#kernel).catch(() => {}); // with the server, its kernels are gone
    this.onmessage = (_event) => {};
  }

  async #start({ language }) {
    this.#tell("starting");
    const { id } = await (await this.#ask("POST", "kernels")).json();
    this.#kernel = `kernels/${id}`;
    const address = new URL(`${this.api}${this.#kernel}/channels?token=${this.token}`, location.href);
    address.protocol = address.protocol.replace("http", "ws");
    this.#socket = new WebSocket(address);
    await new Promise((resolve, reject) => Object.assign(this.#socket, { onopen: resolve, onerror: reject }));
    this.#socket.onmessage = ({ data }) => this.#hear(JSON.parse(data));
    this.#socket.onclose = () => this.#tell("broken", { reason: "the kernel is gone" });
    await this.#execute(BEGIN(language));
    this.#tell("ready");
  }

  async #run(request) {
    let result;
    this.#tell("begun");
    await this.#execute(`run(${literal(JSON.stringify(request))})`, ({ msg_type: type, content }) => {
      if (type === "stream") this.#tell("printed", { text: content.text });
      if (type === "display_data") result = content.data["application/json"];
    });
    this.#tell("result", { result: JSON.parse(result) });
  }

  /** Resolves when the kernel has run the code, and has sent all that it had to say. */
  #execute(code, hear = (_answer) => {}) {
    const id = crypto.randomUUID();
    const header = {
      msg_id: id,
      msg_type: "execute_request",
      username: "",
      session: this.token,
      version: "5.3",
      date: new Date(),
    };
    const content = { code, silent: false, store_history: false, allow_stdin: false, stop_on_error: true };
    this.#socket.send(literal({ channel: "shell", header, parent_header: {}, metadata: {}, content }));
    return new Promise((resolve, reject) => this.#runs.set(id, { resolve, reject, hear }));
  }

  #hear({ parent_header: { msg_id: id }, header, content }) {
    if (["restarting", "dead"].includes(content.execution_state)) this.#tell("broken", { reason: "the kernel died" });
    const run = this.#runs.get(id);
    if (header.msg_type === "error") run?.reject(new Error(`${content.ename}: ${content.evalue}`));
    else if (content.execution_state === "idle") run?.resolve();
    else run?.hear({ msg_type: header.msg_type, content });
  }

  async #ask(method, path) {
    const headers = { Authorization: `token ${this.token}` };
    const answer = await fetch(this.api + path, { method, headers, keepalive: method === "DELETE" });
    if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
    return answer;
  }

  #tell(kind, more = {}) {
    this.onmessage({ data: { kind, ...more } });
  }
}

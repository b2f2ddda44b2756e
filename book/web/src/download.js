// Files from the network, with word of every byte that comes.

/**
 * Fetches files at once, and calls told({received, total}) as their bytes come. `sizes` are bytes of files, by name.
 * The total is left out until it is known: what a server says of a packed file is not how long the file is.
 * A server that has not answered after `most` ms is given up.
 */
export class Downloads {
  #files = []; // {size: bytes or undefined, received}
  #givenUp = new AbortController();

  constructor(sizes = {}, told = (_progress) => {}, most = Infinity) {
    this.sizes = sizes;
    this.told = told;
    this.most = most;
  }

  /** The file at this address, as a Blob. One that has not the digest `sha256`, in hexadecimal, is refused. */
  async get(address, sha256) {
    try {
      return await this.#fetch(address, sha256);
    } catch (problem) {
      this.#givenUp.abort(); // one without the others is of no use
      throw problem;
    }
  }

  async #fetch(address, sha256) {
    const file = { size: this.sizes[address.split("?")[0].split("/").at(-1)], received: 0 };
    this.#files.push(file);
    const clock = this.most < Infinity && setTimeout(() => this.#givenUp.abort(), this.most);
    const { signal } = this.#givenUp;
    const answer = await fetch(address, { signal, ...(sha256 && { integrity: `sha256-${inBase64(sha256)}` }) });
    clearTimeout(clock);
    if (!answer.ok) throw new Error(`${address}: ${answer.status}`);
    const length = answer.headers.get("content-length");
    if (length && !answer.headers.get("content-encoding")) file.size ??= Number(length);
    const counted = new TransformStream({
      transform: (piece, controller) => {
        file.received += piece.byteLength;
        this.#tell();
        controller.enqueue(piece);
      },
    });
    const { headers } = answer;
    const blob = await new Response(answer.body.pipeThrough(counted), { headers }).blob();
    file.size = blob.size;
    return blob;
  }

  #tell() {
    if (this.#givenUp.signal.aborted) return;
    const received = this.#files.reduce((sum, file) => sum + file.received, 0);
    const total = this.#files.reduce((sum, file) => sum + (file.size ?? NaN), 0);
    this.told({ received, ...(total >= received && { total }) });
  }
}

const inBase64 = (hexadecimal) =>
  btoa(String.fromCharCode(...hexadecimal.match(/../g).map((byte) => parseInt(byte, 16))));

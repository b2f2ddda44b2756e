// Files from the network, with word of every byte that comes.

/**
 * Fetches files at once, and calls told({received, total}) as their bytes come. `sizes` are bytes of files, by name.
 * The total is left out until it is known: what a server says of a packed file is not how long the file is.
 */
export class Downloads {
  #files = []; // {size: bytes or undefined, received}

  constructor(sizes = {}, told = () => {}) {
    Object.assign(this, { sizes, told });
  }

  /** The file at this address, as a Blob. */
  async get(address) {
    const file = { size: this.sizes[address.split("?")[0].split("/").at(-1)], received: 0 };
    this.#files.push(file);
    const answer = await fetch(address);
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
    const received = this.#files.reduce((sum, file) => sum + file.received, 0);
    const total = this.#files.reduce((sum, file) => sum + (file.size ?? NaN), 0);
    this.told({ received, ...(total >= received && { total }) });
  }
}

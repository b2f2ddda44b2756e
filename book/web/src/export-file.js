// The reader's work as a file, with a checksum that `posenc verify` looks at.
import { checksum } from "./certificate-code.js";
import * as store from "./store.js";

/** Hands the file to the browser; returns its name. */
export function downloadWork() {
  const exported = JSON.parse(JSON.stringify(store.exportAll())); // as it will be read
  const name = `positional-encoding-${exported.exported.slice(0, 10)}.json`;
  const text = JSON.stringify({ ...exported, checksum: checksum(exported) }, null, 1);
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  return name;
}

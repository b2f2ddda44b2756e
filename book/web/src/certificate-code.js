// The code on a certificate, and the checksum of an exported file: the same as posenc_course/certificate.py computes.
import { hex, sha256 } from "./sha256.js";

const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const LENGTH = 20; // characters of a code

/** In groups of five. `answers`: of each exercise's id, the fingerprint of the answer that passed. */
export function codeOf({ name, date, answers }) {
  const digest = sha256(canonical({ format: "posenc-certificate", version: 1, name, date, answers }));
  const bits = [...digest].map((byte) => byte.toString(2).padStart(8, "0")).join("");
  const letters = Array.from({ length: LENGTH }, (_, i) => ALPHABET[parseInt(bits.slice(5 * i, 5 * i + 5), 2)]);
  return letters.join("").match(/.{5}/g).join("-");
}

/** Of an answer's code. */
export const fingerprint = (code) => hex(sha256(canonical(code)));

/** What an exported file says of itself. */
export function checksum(exported) {
  const { checksum: _, ...rest } = exported;
  return hex(sha256(canonical(rest)));
}

/** JSON in one form alone (RFC 8785): keys sorted, no spaces. */
export function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  const pairs = Object.keys(value)
    .filter((key) => value[key] !== undefined)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`);
  return `{${pairs.join(",")}}`;
}

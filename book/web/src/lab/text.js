// A text as bytes and as the characters that a reader sees.

const encoder = new TextEncoder();
const BETWEEN = "\n\n";

/** A text of so many bytes at most, told again from its beginning where it is shorter: { text, bytes, cells, own }.
 *
 * cells: of each character { sign, from, to }, its bytes; own: bytes before it is told again.
 */
export function lengthened(text, most) {
  const once = encoder.encode(text).length;
  const again = once ? Math.max(0, Math.ceil((most - once) / (once + BETWEEN.length))) : 0;
  const whole = text + (BETWEEN + text).repeat(again);
  const cells = [];
  let at = 0;
  for (const sign of whole) {
    const size = encoder.encode(sign).length;
    if (at + size > most) break;
    cells.push({ sign, from: at, to: at + size });
    at += size;
  }
  return { bytes: [...encoder.encode(whole).subarray(0, at)], cells, own: Math.min(once, at) };
}

const NAMES = { " ": "␣", "\n": "↵", "\t": "⇥" };

/** A character as it is named in a sentence. */
export const named = (sign) => NAMES[sign] ?? sign;

/** The same for a byte, which may be a part of a character only. */
export const namedByte = (byte) =>
  byte >= 32 && byte < 127
    ? named(String.fromCharCode(byte))
    : (NAMES[String.fromCharCode(byte)] ?? `0x${byte.toString(16).padStart(2, "0")}`);

// A trained byte model as it lies in its file. posenc_course/trained.py says what stands where.

/** {settings, weights}: what the header tells, as text, and each array as { shape, numbers }. */
export function read(buffer) {
  const size = Number(new DataView(buffer).getBigUint64(0, true));
  const { __metadata__: settings, ...arrays } = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, size)));
  const floats = ({ data_offsets: [start, stop] }) => new Float32Array(buffer, 8 + size + start, (stop - start) / 4);
  const weights = {};
  for (const [name, told] of Object.entries(arrays)) {
    if (name.endsWith(".scale")) continue;
    const numbers =
      told.dtype === "I8" ? rescaled(buffer, 8 + size, told, floats(arrays[`${name}.scale`])) : floats(told);
    weights[name] = { shape: told.shape, numbers };
  }
  return { settings, weights };
}

/** The whole numbers of each row times its scale. */
function rescaled(buffer, begin, { shape, data_offsets: [start, stop] }, scales) {
  const columns = shape[1];
  return Float32Array.from(
    new Int8Array(buffer, begin + start, stop - start),
    (whole, at) => whole * scales[Math.floor(at / columns)],
  );
}

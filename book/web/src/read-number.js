// A number as people write it: 1,000 and 1 000, 0,5, 1/64, 1 1/2, 1e-3, 10^-3, 6 %, −2.
const MIXED = /^\s*([+-]?)(\d{1,3}(?:[\s,]\d{3})+|\d+)\s+(\d{1,2})\s*\/\s*(\d+)(?=\s*%?\s*$)/; // a whole and a fraction
const PLAIN = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/;

/** What it may mean: nothing where it is no number; both 6 and 0.06 where it is 6 %. */
export function readNumber(text) {
  const written = text
    .replace(/[⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+/g, (raised) => `^${raised}`)
    .replace(/(\d)(?=[¼-¾⅐-⅞])/g, "$1 ")
    .normalize("NFKC")
    .replace(/[−–]/g, "-")
    .replace(/⁄/g, "/")
    .replace(MIXED, (_, sign, whole, above, below) => `${sign}${whole.replace(/\D/g, "") * below + +above}/${below}`)
    .replace(/\s|['’]/g, "")
    .toLowerCase();
  const percent = written.endsWith("%");
  const [above, below = "1", ...rest] = (percent ? written.slice(0, -1) : written).split("/").map(readPlain);
  const value = above / below;
  if (rest.length || !Number.isFinite(value)) return [];
  return percent ? [value, value / 100] : [value];
}

function readPlain(text) {
  const power = text
    .replace(/^(?:(.+?)[*x×·])?10\^\(?([+-]?\d+)\)?$/, (_, factor = "1", exponent) => `${factor}e${exponent}`)
    .replace(/^[+-]?\d{1,3}(,\d{3})+(?![\d,])/, (grouped) =>
      /^[+-]?0,/.test(grouped) ? grouped : grouped.replaceAll(",", ""),
    )
    .replace(/^([+-]?\d*),(\d+)(?=e|$)/, "$1.$2");
  return PLAIN.test(power) ? Number(power) : NaN;
}

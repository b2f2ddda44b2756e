// What pages say, in the language of the page: whole sentences, in which {names} stand for numbers, names and code.
// book/_ext/language.py brings the translations; `make messages` finds what is to be translated.
const { sentences = {}, forms } = window.posencWords ?? {};
// Without a catalogue as in English; with one, from 100 on the last two digits of a number decide.
const formFor = (n) => (forms ? forms[n < 100 ? n : 100 + (n % 100)] : Number(n !== 1));

export const language = document.documentElement.lang || "en";

/** A sentence with its {names} filled in; those that are not given stay. */
export const say = (sentence, values = {}) => sentence.replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);

export const _ = (sentence, values) => say(sentences[sentence]?.[0] ?? sentence, values);

/** The sentence for one thing, or the one for {count} things. */
export const ngettext = (one, many, count) => say((sentences[one] ?? [one, many])[formFor(count)], { count });

// After these no space is written: their own width holds it.
const FULL_WIDTH = /[。！？：；，、）」]$/;

/** Sentences one after another; between two of them the space that English has, and Chinese has not. */
export const joined = (...sentences) =>
  sentences.filter(Boolean).reduce((text, each) => `${text}${!text || FULL_WIDTH.test(text) ? "" : " "}${each}`, "");

/** A time such as 2:05. */
export const clock = (seconds) => `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;

/** A day written out; in English as the British do. */
export const longDate = (date) =>
  date.toLocaleDateString(language === "en" ? "en-GB" : language, { dateStyle: "long" });

/** A number as a reader writes it, with so many significant digits. */
export const number = (value, digits = 6) => written(value, { maximumSignificantDigits: digits });

/** A number with so many decimals. */
export const decimals = (value, count) =>
  written(value, { minimumFractionDigits: count, maximumFractionDigits: count });

const written = (value, how) => new Intl.NumberFormat(language, how).format(value).replace("-", "−");

const RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹";

/** A power of ten, such as 10⁻⁶. */
export const powerOfTen = (exponent) =>
  `10${exponent < 0 ? "⁻" : ""}${[...String(Math.abs(exponent))].map((digit) => RAISED[digit]).join("")}`;

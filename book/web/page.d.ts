// What the scripts find in a page and no import tells: for the type check alone (book/jsconfig.json).

declare module "*.py" {
  const program: string;
  export default program;
}

/** Node's, for what sets formulas and bundles styles. */
declare const process: any;
declare module "node:fs/promises";
declare module "node:path";

/** Sphinx's, on the page of results. */
declare const DOCUMENTATION_OPTIONS: any;
declare const Search: any;
declare const _highlightText: (part: Element, word: string, name: string) => void;
declare const Stemmer: any;
declare const stopwords: string[];
declare const splitQuery: (query: string) => string[];

interface Window {
  posencWords?: { sentences: Record<string, string[]>; forms: number[] };
  posencFigures: any;
}

interface Navigator {
  connection?: { saveData: boolean };
}

// What we look for in a page are elements of HTML, or of SVG with properties that both have.
interface ParentNode {
  querySelector<Tag extends keyof HTMLElementTagNameMap>(selector: Tag): HTMLElementTagNameMap[Tag] | null;
  querySelector<Found extends Element = HTMLElement>(selector: string): Found | null;
  querySelectorAll<Tag extends keyof HTMLElementTagNameMap>(selector: Tag): NodeListOf<HTMLElementTagNameMap[Tag]>;
  querySelectorAll<Found extends Element = HTMLElement>(selector: string): NodeListOf<Found>;
}

interface Element {
  closest(selector: string): HTMLElement | null;
}

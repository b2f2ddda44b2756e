// Goes with book/build.py: makes one style sheet of all that pages link. Ours stay whole; of those that others made,
// what no page and no script mentions is left out.
//
//     node styles.js SITE     reads SITE/_static/sheets.css, which imports them; writes SITE/_static/site.css
import { readdir, readFile, writeFile } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { build } from "esbuild";
import { PurgeCSS } from "purgecss";

const site = resolve(process.argv[2]);
const statics = join(site, "_static");
const ours = new Set(["sheets.css", "site.css", ...(await readdir("../_static"))]);
const apart = /(^|\/)_static\/((lite|pyodide|engine)\/|scripts\/fontawesome)/; // what no page loads, or another site

const files = (await readdir(site, { recursive: true })).filter((name) => !apart.test(name));
const mentions = files.filter((name) => /\.(html|js)$/.test(name));
const theirs = files.filter((name) => /^_static\/.*\.css$/.test(name) && !ours.has(basename(name)));
const left = await new PurgeCSS().purge({
  content: await Promise.all(
    mentions.map(async (name) => ({ raw: await readFile(join(site, name), "utf8"), extension: "" })),
  ),
  css: theirs.map((name) => join(site, name)),
  safelist: { greedy: [/^bs-tooltip/] }, // a name that Bootstrap puts together
});
const contents = new Map(left.map(({ file, css }) => [file, css]));

const leaveOut = {
  name: "leave out what is not mentioned",
  setup: ({ onLoad }) =>
    onLoad({ filter: /\.css$/ }, ({ path }) =>
      contents.has(path) ? { contents: contents.get(path), loader: "css" } : undefined,
    ),
};
const { outputFiles } = await build({
  entryPoints: { site: join(statics, "sheets.css") },
  bundle: true,
  minify: true,
  plugins: [leaveOut],
  write: false, // faces and pictures lie where they lay
  outdir: statics,
  outbase: statics,
  loader: Object.fromEntries([".woff2", ".woff", ".ttf", ".svg", ".png"].map((ending) => [ending, "file"])),
  assetNames: "[dir]/[name]",
  logLevel: "error",
});
await writeFile(join(statics, "site.css"), outputFiles.find(({ path }) => path.endsWith(".css")).contents);

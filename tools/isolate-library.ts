/**
 * The library as isolates of environments have it: what such code imports, and what plays its rollouts, in one copy. Without what its host does for it (the
 * packages that speak to models and that read files), and without other environments.
 */
import { createHash } from "node:crypto";
import { type BuildOptions, build, type Plugin } from "esbuild";
import type { IsolateLibrary } from "../src/isolates/built-library.ts";
import { inWorkerd } from "./bundle-options.ts";

const ENTRIES = {
  index: "src/index.ts",
  testing: "src/testing/index.ts",
  zod: "src/zod.ts",
  // What the main module of an isolate imports.
  runner: "src/isolates/inside/runner.ts",
};

/** Packages, and what who needs them in an isolate is told. */
const ABSENT: Readonly<Record<string, string>> = {
  openai: "an isolate calls models through its host: use the client that it is given",
  "@anthropic-ai/sdk": "an isolate calls models through its host: use the client that it is given",
  hyparquet: "an isolate reads no files: its host reads data sets for it",
  fflate: "an isolate reads no files: its host reads data sets for it",
  papaparse: "an isolate reads no files: its host reads data sets for it",
};

/** The environments that come with the package: an isolate has one, and it is another. */
const noBundled: Plugin = {
  name: "no-bundled-environments",
  setup: ({ onLoad }) => onLoad({ filter: /[\\/]environments[\\/]bundled[\\/]all\.ts$/ }, () => ({ contents: "export const BUNDLED = [], FAMILIES = {};" })),
};

/** Each of these packages as one class which has itself by every name, so that what extends or asks for a part of it loads. Who makes one is told. */
const absentPackages: Plugin = {
  name: "absent-packages",
  setup: ({ onResolve, onLoad }) => {
    const names = Object.keys(ABSENT).join("|");
    onResolve({ filter: new RegExp(`^(${names})($|/)`) }, ({ path }) => ({
      path: Object.keys(ABSENT).find((name) => path === name || path.startsWith(`${name}/`)) ?? path,
      namespace: "absent",
      sideEffects: false,
    }));
    onLoad({ filter: /./, namespace: "absent" }, ({ path }) => ({
      contents: `const Absent = new Proxy(
  function Absent() { throw new Error(${JSON.stringify(ABSENT[path])}); },
  { get: (made, name) => (name === "__esModule" ? true : typeof name === "symbol" || name === "prototype" ? made[name] : Absent) },
);
module.exports = Absent;`,
    }));
  },
};

/** Built from the sources as they are now. `root` ends with `/`; `options`: as for the library's other builds. */
export async function buildIsolateLibrary(root: string, options: BuildOptions): Promise<IsolateLibrary> {
  const { outputFiles } = await build({
    ...options,
    ...inWorkerd,
    plugins: [absentPackages, noBundled, ...(inWorkerd.plugins ?? [])],
    entryPoints: ENTRIES,
    splitting: true,
    // A third of the bytes, and names stay as they are: reward functions are known by them, and so are the frames of stacks.
    minifySyntax: true,
    minifyWhitespace: true,
    write: false,
    outdir: `${root}dist/isolate`,
  });
  const modules = Object.fromEntries(
    outputFiles.map(({ path, text }) => [`lib/${path.slice(path.lastIndexOf("/") + 1)}`, text] as const).toSorted(([a], [b]) => (a < b ? -1 : 1)),
  );
  return { digest: createHash("sha256").update(JSON.stringify(modules)).digest("hex"), modules };
}

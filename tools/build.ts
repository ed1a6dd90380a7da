/**
 * Builds what the package ships: `dist/worker.js` and `dist/embedded-worker.js` (run in workerd) `dist/cli.js` and `dist/evaluators.js`
 * (in Node 20.19 or later), the library in `dist/lib/`, and the files of the dashboard in `dist/assets/`. Prints nothing when all is well. An entry that is not in the tree is left out, so that a checkout of half the project still installs.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { type BuildOptions, build, type Plugin } from "esbuild";
import { inWorkerd, shared } from "./bundle-options.ts";
import { codeDigests } from "./code-digests.ts";
import { ASSETS_PATH, ASSETS_POLICY, type BuiltDashboard } from "../src/api/pages/built-dashboard.ts";
import { bundleDashboard } from "./dashboard-bundle.ts";
import { buildIsolateLibrary } from "./isolate-library.ts";
import { keptNames } from "./kept-names.ts";

const root = fileURLToPath(new URL("..", import.meta.url));

interface Entry {
  readonly source: string;
  readonly output: string;
  readonly options: BuildOptions;
}

const inNode: BuildOptions = {
  target: "node20.19",
  platform: "node",
  // These carry binaries, so they stay dependencies; everything else is in the file.
  external: ["miniflare", "esbuild"],
  // Bundled CommonJS packages ask for Node's own modules through `require`.
  banner: { js: 'import { createRequire as __createRequire } from "node:module";\nconst require = __createRequire(import.meta.url);' },
};

/** Ink imports the developer tools of React where a variable asks for them. They are not in the package, so there is nothing to import. */
const withoutDeveloperTools: Plugin = {
  name: "without-developer-tools",
  setup: ({ onResolve, onLoad }) => {
    onResolve({ filter: /^react-devtools-core$/ }, ({ path }) => ({ path, namespace: "absent" }));
    onLoad({ filter: /./, namespace: "absent" }, () => ({ contents: "export default {};" }));
  },
};

const entries: readonly Entry[] = [
  { source: "src/worker.ts", output: "dist/worker.js", options: inWorkerd },
  // The weights of the embedded model are in the file.
  { source: "src/embedded-worker.ts", output: "dist/embedded-worker.js", options: { ...inWorkerd, loader: { ".bin": "binary" } } },
  {
    source: "src/cli/main.ts",
    output: "dist/cli.js",
    options: { ...inNode, plugins: [keptNames("node20.19"), withoutDeveloperTools] },
  },
  // Beside the command and the Workers, which the service that it starts is made of.
  { source: "src/evaluators/index.ts", output: "dist/evaluators.js", options: { ...inNode, plugins: [keptNames("node20.19")] } },
];

/** What `import … from "edgewise"`, `"edgewise/worker"` and `"edgewise/testing"` give: one copy of everything they share. */
const library: Readonly<Record<string, string>> = {
  index: "src/index.ts",
  worker: "src/service.ts",
  testing: "src/testing/index.ts",
  // For environments in a folder without packages of their own.
  zod: "src/zod.ts",
};

/** Writes `dist/`. Each file appears whole, so that a command that starts meanwhile reads the old one or the new one. */
export async function buildPackage(): Promise<void> {
  const { version } = JSON.parse(readFileSync(`${root}package.json`, "utf8")) as { version: string };
  const code = await codeDigests(root);
  const isolates = await buildIsolateLibrary(root, shared(root, { version, code }));
  // Before the Workers that name its files.
  const dashboard = await writeDashboard();
  const written = new Set<string>();
  for (const { source, output, options } of entries) {
    if (!existsSync(root + source)) continue;
    const { outputFiles } = await build({ ...shared(root, { version, code, isolates, dashboard }), ...options, entryPoints: [source], write: false });
    for (const file of outputFiles) replaceFile(root + output, file.contents);
  }
  const { outputFiles } = await build({
    ...shared(root, { version, code, isolates, dashboard }),
    ...inWorkerd,
    entryPoints: library,
    splitting: true,
    write: false,
    outdir: `${root}dist/lib`,
  });
  // Pieces before the files that import them; a name says what is in a piece, so old and new ones do not meet.
  const pieces = outputFiles.toSorted((a, b) => Number(basename(a.path, ".js") in library) - Number(basename(b.path, ".js") in library));
  for (const { path, contents } of pieces) {
    replaceFile(path, contents);
    written.add(basename(path));
  }
  for (const name of readdirSync(`${root}dist/lib`)) if (name.endsWith(".js") && !written.has(name)) rmSync(`${root}dist/lib/${name}`, { force: true });
}

/** Headers that the platform sends with the files; the local service sends the same (src/api/pages/assets.ts). */
const HEADERS = `${ASSETS_PATH}/*
  Cache-Control: public, max-age=31536000, immutable
  X-Content-Type-Options: nosniff
  Cross-Origin-Resource-Policy: same-origin
  Content-Security-Policy: ${ASSETS_POLICY}
`;

async function writeDashboard(): Promise<BuiltDashboard> {
  const { page, files } = await bundleDashboard(root);
  const folder = `${root}dist/assets${ASSETS_PATH}`;
  for (const [name, contents] of files) replaceFile(`${folder}/${name}`, contents);
  replaceFile(`${root}dist/assets/_headers`, new TextEncoder().encode(HEADERS));
  for (const name of readdirSync(folder)) if (!files.has(name)) rmSync(`${folder}/${name}`, { force: true });
  return page;
}

function replaceFile(path: string, contents: Uint8Array): void {
  mkdirSync(dirname(path), { recursive: true });
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, contents);
  renameSync(draft, path);
}

if (import.meta.main) {
  try {
    await buildPackage();
  } catch (error) {
    // esbuild has printed what is wrong in the sources; a stack of its own adds nothing.
    if (!(error instanceof Error && "errors" in error)) throw error;
    process.exitCode = 1;
  }
}

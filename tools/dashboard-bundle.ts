/** The dashboard as static files: scripts and a style, each named after what is in it, and what its page loads first. */
import { readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { build, type BuildOptions, type Metafile, type Plugin } from "esbuild";
import type { BuiltDashboard } from "../src/api/pages/built-dashboard.ts";
import { backgroundScripts } from "./background-scripts.ts";

const ENTRY = "src/dashboard/main.tsx";
/** The style that the entry imports, of what all pages share. */
const STYLE = "src/dashboard/design/design.css";

/** Of all scripts, those beside the page too. */
const OPTIONS = {
  minify: true,
  target: ["chrome120", "firefox121", "safari17.4"],
  define: { "process.env.NODE_ENV": '"production"' },
  legalComments: "none",
} as const satisfies BuildOptions;

export interface DashboardBundle {
  readonly page: BuiltDashboard;
  /** By their names below `ASSETS_PATH`. */
  readonly files: ReadonlyMap<string, Uint8Array>;
  readonly metafile: Metafile;
}

/** Bundles the pages; each page is a script of its own, loaded when it is opened. */
export async function bundleDashboard(root: string): Promise<DashboardBundle> {
  const { outputFiles, metafile } = await build({
    ...OPTIONS,
    absWorkingDir: root,
    entryPoints: [ENTRY],
    entryNames: "[name]-[hash]",
    chunkNames: "[name]-[hash]",
    assetNames: "[name]-[hash]",
    outdir: "assets",
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "browser",
    jsx: "automatic",
    jsxImportSource: "preact",
    logLevel: "warning",
    metafile: true,
    write: false,
    plugins: [oneStyle(root), backgroundScripts(OPTIONS)],
  });
  return { page: pageOf(metafile), files: new Map(outputFiles.map(({ path, contents }) => [basename(path), contents])), metafile };
}

/**
 * One style for all pages: esbuild makes one of each script that is loaded later, and nothing loads it. A page or component imports its own beside itself, so
 * that it is found where it belongs; here it joins the shared one.
 */
const oneStyle = (root: string): Plugin => ({
  name: "one-style",
  setup: (bundle) => {
    const shared = join(root, STYLE);
    bundle.onResolve({ filter: /\.css$/ }, ({ kind, path, resolveDir }) =>
      kind === "import-statement" && join(resolveDir, path) !== shared ? { path, namespace: "joined-style" } : null,
    );
    bundle.onLoad({ filter: /.*/, namespace: "joined-style" }, () => ({ contents: "", loader: "js" }));
    bundle.onLoad({ filter: /design\.css$/ }, () => {
      const folder = dirname(shared);
      const own = readdirSync(dirname(folder), { recursive: true, encoding: "utf8" })
        .filter((path) => path.endsWith(".css") && dirname(path) !== basename(folder))
        .sort()
        .map((path) => `@import ${JSON.stringify(`./${relative(folder, join(dirname(folder), path))}`)};`);
      return { contents: [readFileSync(shared, "utf8"), ...own].join("\n"), loader: "css", resolveDir: folder };
    });
  },
});

function pageOf({ outputs }: Metafile): BuiltDashboard {
  const [path = "", entry] = Object.entries(outputs).find(([, { entryPoint }]) => entryPoint === ENTRY) ?? [];
  if (entry?.cssBundle === undefined) throw new Error(`${ENTRY} makes no script with a style`);
  const imported = entry.imports.filter(({ kind }) => kind === "import-statement").map((each) => basename(each.path));
  return { script: basename(path), style: basename(entry.cssBundle), preloads: imported };
}

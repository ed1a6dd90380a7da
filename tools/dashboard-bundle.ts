/** The dashboard as static files: scripts and a style, each named after what is in it, and what its page loads first. */
import { basename } from "node:path";
import { build, type Metafile } from "esbuild";
import type { BuiltDashboard } from "../src/api/pages/built-dashboard.ts";

const ENTRY = "src/dashboard/main.tsx";

export interface DashboardBundle {
  readonly page: BuiltDashboard;
  /** By their names below `ASSETS_PATH`. */
  readonly files: ReadonlyMap<string, Uint8Array>;
  readonly metafile: Metafile;
}

/** Bundles the pages; each page is a script of its own, loaded when it is opened. */
export async function bundleDashboard(root: string): Promise<DashboardBundle> {
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    entryPoints: [ENTRY],
    entryNames: "[name]-[hash]",
    chunkNames: "[name]-[hash]",
    assetNames: "[name]-[hash]",
    outdir: "assets",
    bundle: true,
    splitting: true,
    minify: true,
    format: "esm",
    platform: "browser",
    target: ["chrome120", "firefox121", "safari17.4"],
    jsx: "automatic",
    jsxImportSource: "preact",
    define: { "process.env.NODE_ENV": '"production"' },
    legalComments: "none",
    logLevel: "warning",
    metafile: true,
    write: false,
  });
  return { page: pageOf(metafile), files: new Map(outputFiles.map(({ path, contents }) => [basename(path), contents])), metafile };
}

function pageOf({ outputs }: Metafile): BuiltDashboard {
  const [path = "", entry] = Object.entries(outputs).find(([, { entryPoint }]) => entryPoint === ENTRY) ?? [];
  if (entry?.cssBundle === undefined) throw new Error(`${ENTRY} makes no script with a style`);
  const imported = entry.imports.filter(({ kind }) => kind === "import-statement").map((each) => basename(each.path));
  return { script: basename(path), style: basename(entry.cssBundle), preloads: imported };
}

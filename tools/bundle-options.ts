/** What all bundles of this package are made with, and those that run in workerd. */
import type { BuildOptions } from "esbuild";
import type { BuiltDashboard } from "../src/api/pages/built-dashboard.ts";
import type { BuiltCode } from "../src/environments/definition/built-code.ts";
import type { IsolateLibrary } from "../src/isolates/built-library.ts";
import { keptNames } from "./kept-names.ts";

export const inWorkerd: BuildOptions = {
  target: "es2024",
  platform: "browser",
  conditions: ["workerd", "worker", "browser"],
  external: ["cloudflare:*", "node:*"],
  plugins: [keptNames("es2024")],
};

/** What a build puts into the sources. */
export interface Built {
  readonly version: string;
  readonly code: BuiltCode | null;
  /** Absent from the library of isolates itself. */
  readonly isolates?: IsolateLibrary;
  /** Of the Workers alone. */
  readonly dashboard?: BuiltDashboard;
}

export const shared = (root: string, { version, code, isolates, dashboard }: Built): BuildOptions => ({
  absWorkingDir: root,
  bundle: true,
  format: "esm",
  // Readable stacks are worth more than bytes here.
  minify: false,
  logLevel: "warning",
  define: {
    EDGEWISE_VERSION: JSON.stringify(version),
    EDGEWISE_CODE: JSON.stringify(code),
    ...(isolates === undefined ? {} : { EDGEWISE_ISOLATE_LIBRARY: JSON.stringify(isolates) }),
    ...(dashboard === undefined ? {} : { EDGEWISE_DASHBOARD: JSON.stringify(dashboard) }),
    "process.env.NODE_ENV": '"production"',
  },
});

import type { IsolateLibrary } from "./built-library.ts";

/** The code of an environment: an ES module that imports the library from `./lib/`. */
export interface IsolateCode {
  /** sha256 of the text in hex. */
  readonly digest: string;
  readonly text: string;
  /** Its source map, as JSON; "" where there is none. */
  readonly map: string;
}

/** As the date and flags of the Worker itself are (wrangler.toml). */
export const COMPATIBILITY_DATE = "2026-11-01";
export const COMPATIBILITY_FLAGS = ["disallow_importable_env", "nodejs_compat_do_not_populate_process_env", "global_fetch_strictly_public"];

export const MAIN_MODULE = "main.js";
/** The class that the main module exports. */
export const ENTRYPOINT = "Isolate";
/** Where the environment's module stands: beside the library, which it imports from `./lib/`. */
export const ENVIRONMENT_MODULE = "environment.js";
const MAP = "environment.map.txt";

/** The environment's module is loaded when the first message needs it: what breaks in it is told in words, and not as an isolate that cannot start. */
const mainOf = (digest: string): string => `import { isolateEntrypoint } from "./lib/runner.js";
const code = {
  source: ${JSON.stringify(digest)},
  script: "${ENVIRONMENT_MODULE}",
  module: () => import("./${ENVIRONMENT_MODULE}"),
  map: async () => (await import("./${MAP}")).default,
};
export const ${ENTRYPOINT} = isolateEntrypoint(code);
`;

/** All modules of an isolate, by their names; the main one is `MAIN_MODULE`. */
export function isolateModules({ digest, text, map }: IsolateCode, library: IsolateLibrary): Record<string, string | { readonly text: string }> {
  return { [MAIN_MODULE]: mainOf(digest), [ENVIRONMENT_MODULE]: text, [MAP]: { text: map }, ...library.modules };
}

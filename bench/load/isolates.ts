import { fileURLToPath } from "node:url";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { COMPATIBILITY_DATE, COMPATIBILITY_FLAGS, isolateModules } from "../../src/isolates/isolate-modules.ts";
import { shared } from "../../tools/bundle-options.ts";
import { buildIsolateLibrary } from "../../tools/isolate-library.ts";
import { residentBytes } from "../edgewise-process.ts";
import { median } from "../measure.ts";
import { runtimeOfThisProcess } from "../processor-time.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

export interface LoadedIsolates {
  readonly count: number;
  /** Of one, the first answer of its environment included; median of those that were loaded since the size before. */
  readonly load_ms: number;
  /** Resident memory of the runtime beyond what it had without any, in bytes. */
  readonly bytes: number;
}

const SUMS = `import { defineEnvironment, Rubric, SingleTurnEnv, z } from "./lib/index.js";
export default defineEnvironment({
  id: "sums", version: "1.0.0", description: "", args: z.object({}),
  load: () => new SingleTurnEnv({ dataset: [{ question: "1+1", answer: "2" }], rubric: new Rubric([function one() { return 1; }]) }),
});`;

/** Isolates of a small environment, loaded one after the other until there are so many: with the library as it is built, in a runtime that does nothing else. */
export async function loadIsolates(counts: readonly number[]): Promise<readonly LoadedIsolates[]> {
  const library = await buildIsolateLibrary(ROOT, shared(ROOT, { version: "0.0.0", code: null }));
  const modules = isolateModules({ digest: "sums", text: SUMS, map: "" }, library);
  const runtime = new Miniflare(
    convertV4MiniflareOptions({
      cf: false,
      name: "isolates",
      modules: [{ type: "ESModule", path: fileURLToPath(new URL("isolates-worker.js", import.meta.url)) }],
      compatibilityDate: COMPATIBILITY_DATE,
      compatibilityFlags: ["nodejs_compat"],
      workerLoaders: { LOADER: {} },
      bindings: { MODULES: modules, DATE: COMPATIBILITY_DATE, FLAGS: COMPATIBILITY_FLAGS },
    } as never),
  );
  const load = async (all: number): Promise<readonly number[]> => {
    const response = await runtime.dispatchFetch("http://isolates/", { method: "POST", body: JSON.stringify({ all }) });
    if (!response.ok) throw new Error(`isolates: ${await response.text()}`);
    return ((await response.json()) as { times: number[] }).times;
  };
  try {
    await runtime.ready;
    await load(0);
    const pid = runtimeOfThisProcess();
    const before = residentBytes(pid);
    const sizes: LoadedIsolates[] = [];
    for (const count of counts) {
      const load_ms = median(await load(count));
      sizes.push({ count, load_ms, bytes: residentBytes(pid) - before });
    }
    return sizes;
  } finally {
    await runtime.dispose();
  }
}

import { fileURLToPath } from "node:url";
import { build } from "esbuild";

/** A Worker of this folder as one script. */
export async function loadWorker(file = "run-load-worker.ts"): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL(file, import.meta.url))],
    ...{ bundle: true, format: "esm", write: false, target: "es2024", platform: "browser", keepNames: true, logLevel: "warning" },
    conditions: ["workerd", "worker", "browser"],
    external: ["cloudflare:*", "node:*"],
    define: { EDGEWISE_VERSION: '"bench"', EDGEWISE_CODE: "null", "process.env.NODE_ENV": '"production"' },
  });
  return outputFiles[0]?.text ?? "";
}

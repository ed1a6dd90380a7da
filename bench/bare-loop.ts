import { fileURLToPath } from "node:url";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { directNetwork } from "../src/cli/service/runtime/network.ts";
import type { ModelProcess } from "./model-process.ts";
import { spanOf } from "./model-process.ts";
import { processorSeconds, runtimeOfThisProcess } from "./processor-time.ts";

/** By the global `fetch`, before which miniflare puts a Worker of its own, or past that one, as the local service calls models. */
export type Way = "fetch" | "direct";

export interface BareLoop {
  /** Requests a second, by the clock of the model server. */
  readonly rate: number;
  /** Microseconds of the runtime's processor time per request. */
  readonly processor_us: number;
}

/** A bare loop in workerd, and nothing kept of the answers. */
export async function runBareLoop(model: ModelProcess, requests: number, concurrency: number, way: Way = "fetch"): Promise<BareLoop> {
  const runtime = new Miniflare(
    convertV4MiniflareOptions({
      cf: false,
      name: "bare-loop",
      modules: [{ type: "ESModule", path: fileURLToPath(new URL("bare-loop-worker.js", import.meta.url)) }],
      compatibilityDate: "2026-11-01",
      serviceBindings: way === "direct" ? { NETWORK: directNetwork(process.env) } : {},
    }),
  );
  try {
    await runtime.ready;
    await model.clear();
    const pid = runtimeOfThisProcess();
    const before = processorSeconds(pid);
    const response = await runtime.dispatchFetch("http://bare-loop/", { method: "POST", body: JSON.stringify({ url: model.url, requests, concurrency }) });
    if (!response.ok) throw new Error(`bare loop: ${await response.text()}`);
    const processor_us = ((processorSeconds(pid) - before) * 1e6) / requests;
    return { rate: (requests * 1000) / spanOf(await model.stats("bare-loop")), processor_us };
  } finally {
    await runtime.dispose();
  }
}

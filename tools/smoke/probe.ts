/** The delaying endpoint as the smoke test sees it: to be asked what it counted, deployed, and taken away. */
import { spawnSync } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { UsageError } from "./plan.ts";
import type { ProbeStats } from "./probe-stats.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const CONFIG = "tools/smoke/wrangler.toml";
/** Until a Worker that was just deployed answers everywhere. */
const REACHABLE_MS = 120_000;

export interface Probe {
  /** Base URL for a run. */
  readonly baseUrl: string;
  statsOf(model: string): Promise<ProbeStats>;
  forget(model: string): Promise<void>;
}

/** `called`: its address as the deployment has it, where that is another. */
export function probeAt(url: string, delayMs: number, called = url): Probe {
  const ask = async (model: string, method: string): Promise<ProbeStats> => {
    const response = await fetch(`${url}/stats?model=${encodeURIComponent(model)}`, { method, signal: AbortSignal.timeout(60_000) });
    if (!response.ok) throw new Error(`the probe at ${url} answered ${response.status}: ${(await response.text()).slice(0, 200)}`);
    return (await response.json()) as ProbeStats;
  };
  return {
    baseUrl: `${called}/${delayMs}/v1`,
    statsOf: (model) => ask(model, "GET"),
    forget: async (model) => void (await ask(model, "DELETE")),
  };
}

/** Gives its address once it answers. `UsageError` with what wrangler says where it cannot be deployed. */
export async function deployProbe(): Promise<string> {
  console.error("deploying the probe, a Worker edgewise-smoke ...");
  const said = wrangler("deploy");
  const [url] = /https:\/\/\S+\.workers\.dev/.exec(said) ?? [];
  if (url === undefined) throw new UsageError(`wrangler named no address of the probe; deploy ${CONFIG} by hand and name it with --probe.\n${said}`);
  const deadline = Date.now() + REACHABLE_MS;
  for (;;) {
    const answered = await probeAt(url, 0)
      .statsOf("smoke")
      .catch((error: unknown) => error as Error);
    if (!(answered instanceof Error)) return url;
    if (Date.now() > deadline) throw new Error(`the probe does not answer: ${answered.message}`);
    await sleep(2_000);
  }
}

export function removeProbe(): void {
  wrangler("delete", "--force");
}

function wrangler(...args: readonly string[]): string {
  const { status, stdout, stderr, error } = spawnSync("npx", ["wrangler", ...args, "-c", CONFIG], { cwd: ROOT, encoding: "utf8" });
  if (error !== undefined || status !== 0) throw new UsageError(`wrangler ${args.join(" ")} -c ${CONFIG} failed:\n${error?.message ?? `${stdout}${stderr}`}`);
  return stdout;
}

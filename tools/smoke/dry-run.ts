/** A deployment on this machine, and the probe beside it: the real ones, with the numbers of a deployment but for shorter times. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { startWithDeployedNumbers, TOKEN } from "../../bench/deployed-numbers.ts";
import { loadWorker } from "../../bench/load/bundled-load.ts";
import { DRY_SLICE_MS } from "./plan.ts";

/** Two runs of four executors each. */
const EXECUTORS = 8;
/** Times of wrangler.toml, shorter. */
const VARS = {
  LEASE_MS: "3000",
  BEAT_MS: "500",
  LEASE_MARGIN_MS: "1000",
  GRACE_MS: "1000",
  NEXT_POLL_MS: "100",
  SLICE_MS: String(DRY_SLICE_MS),
  EVENTS_POLL_MS: "50",
};

export interface DryRun {
  readonly service: { readonly url: string; readonly token: string };
  /** The probe's address here, and the one that the deployment calls. */
  readonly probe: { readonly url: string; readonly called: string };
  close(): Promise<void>;
}

export async function startDryRun(): Promise<DryRun> {
  const state = mkdtempSync(join(tmpdir(), "edgewise-smoke-"));
  const probe = new Miniflare(
    convertV4MiniflareOptions({
      host: "127.0.0.1",
      cf: false,
      telemetry: { enabled: false },
      logRequests: false,
      resourcePersistencePath: join(state, "probe"),
      name: "edgewise-smoke",
      modules: true,
      script: await loadWorker(new URL("probe-worker.ts", import.meta.url).href),
      compatibilityDate: "2026-11-01",
      compatibilityFlags: ["enable_request_signal"],
      durableObjects: { COUNTER: { className: "Counter", useSQLite: true } },
    }),
  );
  const { host, origin } = await probe.ready;
  const service = await startWithDeployedNumbers(join(state, "service"), EXECUTORS, { model: host, vars: VARS });
  return {
    service: { url: service.url, token: TOKEN },
    probe: { url: origin, called: "https://model.example.com" },
    close: async () => {
      await service.close();
      await probe.dispose();
      rmSync(state, { recursive: true, force: true });
    },
  };
}

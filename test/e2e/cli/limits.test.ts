import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { until } from "../../support/cli/cli-process.ts";
import { type Bench, inPlace } from "../../support/cli/in-place.ts";
import { clock } from "../../support/cli/local-stack.ts";

interface Listed {
  readonly data: readonly {
    readonly limiter_id: string;
    readonly api_base_url: string;
    readonly api_key_var: string;
    readonly model_class: string;
    readonly given: readonly string[];
    readonly state: {
      readonly limits: readonly { readonly kind: string; readonly limit: number; readonly source: string }[];
      readonly in_flight: number;
      readonly waiting: number;
      readonly users: readonly { readonly run_id: string; readonly in_flight: number }[];
    } | null;
  }[];
}
const listed = async ({ place }: Bench): Promise<Listed["data"]> => {
  const { code, stdout, stderr } = await place.run(["limits", "-o", "json"]);
  expect(code, stderr).toBe(0);
  return (JSON.parse(stdout) as Listed).data;
};
/** Requests that were open at the server at once, of those that began after this. */
function peakSince({ model }: Bench, since: number): number {
  const later = model.ledger.entries().filter(({ start_ms }) => start_ms > since);
  return Math.max(
    0,
    ...later.map(({ start_ms }) => later.filter((other) => other.start_ms <= start_ms && (other.end_ms ?? Number.POSITIVE_INFINITY) > start_ms).length),
  );
}
const LONG = { timeout: 120_000 };

describe.concurrent("edgewise limits", () => {
  it(
    "shows of a run at work what is in flight, gives it a limit in the middle and takes that back, and shows afterwards what is stored",
    LONG,
    inPlace({ latency_ms: [80, 120] }, async (bench) => {
      const { place, model } = bench;
      // Held while it is looked at, so that the run is not over before.
      const release = model.hold();
      const cli = place.start(bench.reverse("-n", "2000", "-r", "1", "-c", "12"));
      await until(
        () => model.ledger.stats().in_flight === 12,
        30_000,
        () => "twelve requests in flight",
      );
      await until(
        async () => ((await listed(bench))[0]?.state?.in_flight ?? 0) > 2,
        30_000,
        () => "a limiter that knows of them",
      );
      const [busy] = await listed(bench);
      expect(busy).toMatchObject({
        api_base_url: model.url,
        model_class: "scripted",
        state: { limits: [], users: [{ run_id: expect.stringMatching(/^[0-9a-f]{8}$/) }] },
      });
      const table = await place.run(["limits"]);
      expect(table.stdout).toMatch(/^ENDPOINT .*\n127\.0\.0\S+ .* scripted .*\n {2}limit {4}none known\n {2}used by {2}[0-9a-f]{8} \d+ open/);

      const set = await place.run(["limits", "set", "ours", "-b", model.url, "--concurrent", "3"]);
      expect([set.code, set.stdout], set.stderr).toEqual([0, expect.stringContaining("3 requests at once")]);
      release();
      // Executors hear of it with their next exchange.
      await until(
        async () => {
          const state = (await listed(bench))[0]?.state;
          return state != null && state.waiting > 0 && state.in_flight <= 3;
        },
        30_000,
        () => "a run that waits for the limit",
      );
      const since = clock();
      await until(
        () => model.ledger.entries().filter(({ start_ms }) => start_ms > since).length >= 30,
        30_000,
        () => "requests under it",
      );
      expect(peakSince(bench, since)).toBe(3);
      const [limited] = await listed(bench);
      expect(limited).toMatchObject({ given: ["ours"], state: { limits: [{ kind: "concurrent", limit: 3, source: "given" }] } });

      const releaseAgain = model.hold();
      expect((await place.run(["limits", "clear", "ours"])).code).toBe(0);
      await until(
        () => model.ledger.stats().in_flight === 12,
        30_000,
        () => "twelve requests in flight again",
      );
      releaseAgain();
      model.setScript({ latency_ms: 2 });
      expect(await cli.ended, cli.stderr()).toBe(0);
      expect(bench.rows.filter(({ error }) => error !== null)).toEqual([]);
      expect(model.ledger.stats().total).toBe(2000);

      // Nobody serves the folder any more: what is stored is shown.
      const [rests] = await listed(bench);
      expect(rests).toMatchObject({ limiter_id: busy?.limiter_id, api_base_url: model.url, given: [] });
    }),
  );

  it(
    "a limit in the endpoint registry holds from the first request on, for runs of two commands together",
    LONG,
    inPlace({ latency_ms: [40, 60] }, async (bench) => {
      const { place, model } = bench;
      mkdirSync(join(place.folder, "configs"), { recursive: true });
      writeFileSync(join(place.folder, "configs", "endpoints.toml"), `[[limit]]\nurl = "${model.url}"\nconcurrent = 4\n`);
      const [first, second] = ["40", "41"].map((n) => place.start(bench.reverse("-n", n, "-r", "1", "-c", "16", "--no-preflight")));
      for (const cli of [first, second]) expect(await cli?.ended, cli?.stderr()).toBe(0);
      expect(model.ledger.stats()).toMatchObject({ total: 81, peak_in_flight: 4 });
    }),
  );
});

import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readLock } from "../../../src/cli/state/state-lock.ts";
import { type CliProcess, until } from "../../support/cli/cli-process.ts";
import { type Bench, grid, inPlace, keysOfRows } from "../../support/cli/in-place.ts";
import { kill, Losses } from "../../support/cli/local-stack.ts";
import { aggregatesOf, type JsonRow, jsonRows, readText } from "../../support/results/results-check.ts";

const [C, R] = [6, 2];
const LANES = C / R + 1;
const LONG = { timeout: 90_000 };

/** Each terminal runs a model of its own name, by which the server tells them apart. */
const start = ({ place, model }: Bench, name: string, examples: number): CliProcess =>
  // Every request is counted, and the server lists no model of such a name.
  place.start(["eval", "run", "reverse-text", "-m", name, "-b", model.url, "-n", String(examples), "-r", String(R), "-c", String(C), "--no-preflight"]);

const asked = ({ model }: Bench, name: string, requests: number): Promise<void> =>
  until(
    () => model.ledger.stats(name).total >= requests,
    30_000,
    () => `${requests} requests of ${name}`,
  );

const folderOf = ({ place }: Bench, name: string): string => place.resultsFolders().find((folder) => folder.includes(`--${name}/`)) ?? "";
const rowsIn = (folder: string): readonly JsonRow[] => jsonRows(readText(folder, "results.jsonl"));

function expectComplete(bench: Bench, name: string, examples: number): void {
  const folder = folderOf(bench, name);
  const rows = rowsIn(folder);
  expect(keysOfRows(rows), name).toEqual(grid(examples, R));
  expect(JSON.parse(readText(folder, "metadata.json"))).toMatchObject({
    model: name,
    ...aggregatesOf(rows, R, 0.5),
    edgewise: { status: "COMPLETED", errored_rollouts: 0 },
  });
  expect(readdirSync(folder).sort()).toEqual([".edgewise.json", "eval.log", "metadata.json", "results.jsonl"]);
  expect(bench.model.ledger.stats(name).peak_in_flight, name).toBe(C);
}

describe.concurrent("terminals that share a folder", () => {
  it(
    "each run keeps its own limit, the owner ends first, and every request is made once",
    LONG,
    inPlace({ latency_ms: [30, 60], accuracy: 0.5 }, async (bench) => {
      const owner = start(bench, "owner", 20);
      await asked(bench, "owner", 1);
      const client = start(bench, "client", 120);
      expect(await client.ended, client.stderr()).toBe(0);
      expect(await owner.ended, owner.stderr()).toBe(0);
      expect(owner.stdout()).toContain("reward: avg");
      for (const [name, examples] of Object.entries({ owner: 20, client: 120 })) {
        expectComplete(bench, name, examples);
        expect(bench.model.ledger.stats(name).total).toBe(examples * R);
      }
      expect(existsSync(join(bench.place.state, "lock"))).toBe(false);
    }),
  );

  it(
    "the owner and its runtime are killed: one of the others takes over, both go on, and the dead one's run is resumed",
    LONG,
    inPlace({ latency_ms: [40, 80], accuracy: 0.5 }, async (bench) => {
      const { place, model } = bench;
      const owner = start(bench, "owner", 80);
      await asked(bench, "owner", 1);
      const clients = ["b", "c"].map((name) => [name, start(bench, name, 80)] as const);
      for (const [name] of clients) await asked(bench, name, 40);
      const losses = new Losses(model.ledger, { lanes: 3 * LANES, flushMs: 1000, committedMs: 1000 });
      losses.add(await kill(place, owner, "stack"));
      for (const [name, client] of clients) {
        expect(await client.ended, client.stderr()).toBe(0);
        expect(client.stderr()).toContain("The other terminal's service has ended; the run goes on");
        expectComplete(bench, name, 80);
      }
      const heirs = clients.filter(([, client]) => client.stderr().includes("the run goes on in this one"));
      expect(heirs).toHaveLength(1);
      const again = await place.run(["eval", "run", "reverse-text", "-R", folderOf(bench, "owner")]);
      expect(again.code, again.stderr).toBe(0);
      expectComplete(bench, "owner", 80);
      await losses.counted();
      expect(model.ledger.stats().total - 3 * 80 * R).toBeLessThanOrEqual(losses.allowed);
    }),
  );

  it(
    "Ctrl-C in one: code 130 and the command to go on with, while the other goes on undisturbed",
    LONG,
    inPlace({ latency_ms: [40, 80] }, async (bench) => {
      const owner = start(bench, "owner", 120);
      await asked(bench, "owner", 1);
      const client = start(bench, "client", 60);
      await asked(bench, "client", 40);
      client.interrupt();
      expect(await client.ended, client.stderr()).toBe(130);
      expect(client.stderr()).toContain("Interrupted; saving what is finished");
      const [, command = ""] = /^Resume: npx edgewise (.*)\n$/m.exec(client.stdout()) ?? [];
      const kept = rowsIn(folderOf(bench, "client"));
      expect(kept.length).toBeGreaterThan(10);
      expect(await owner.ended, owner.stderr()).toBe(0);
      expectComplete(bench, "owner", 120);
      expect(bench.model.ledger.stats("owner").total).toBe(120 * R);
      const before = bench.model.ledger.stats("client").total;
      const again = await bench.place.run([...command.split(" "), "--no-preflight"]);
      expect(again.code, again.stderr).toBe(0);
      expectComplete(bench, "client", 60);
      // Fewer than the rows leave owed where an attempt of an unfinished example was kept; none that was not answered before is left out.
      const calls = bench.model.ledger.stats("client").total - before;
      expect(calls).toBeLessThanOrEqual(60 * R - kept.length);
      expect(calls).toBeGreaterThanOrEqual(60 * R - before);
    }),
  );

  it(
    "the same run twice: the second follows it, both end with its results, and one folder is not written by two",
    LONG,
    inPlace({ latency_ms: [40, 80], accuracy: 0.5 }, async (bench) => {
      const first = start(bench, "shared", 100);
      await asked(bench, "shared", 40);
      const second = bench.place.start(["eval", "run", "reverse-text", "-R", folderOf(bench, "shared")]);
      await second.says("is working already; following it");
      expect(await second.ended, second.stderr()).toBe(0);
      expect(await first.ended, first.stderr()).toBe(0);
      expectComplete(bench, "shared", 100);
      expect(bench.model.ledger.stats().total).toBe(100 * R);
      expect(first.stdout().slice(0, first.stdout().indexOf("Results:"))).toBe(second.stdout().slice(0, second.stdout().indexOf("Results:")));
      expect(readLock(bench.place.state)).toBe(null);
    }),
  );
});

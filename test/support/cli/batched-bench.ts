import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { type CliProcess, until } from "./cli-process.ts";
import { type Bench, grid, inPlace, keysOfRows } from "./in-place.ts";
import type { BatchLedger, EndBatch } from "../model-server/batches/batch-ledger.ts";
import type { ScriptInput } from "../model-server/model-script.ts";

/** Providers whose batches the scripted server carries, by the client that speaks to them. */
export const PROVIDERS = { OpenAI: "openai_chat_completions", Anthropic: "anthropic_messages" } as const;
export type ProviderName = keyof typeof PROVIDERS;

/** A batch is looked at soon, and one that is not listed was soon not created. */
export const SOON = { BATCH_LOOK_MS: "100", BATCH_SETTLE_MS: "1000" };

/** Commands that play `reverse-text` in batches of a provider. */
export class BatchedBench {
  readonly bench: Bench;
  readonly #type: string;

  constructor(bench: Bench, provider: ProviderName = "OpenAI") {
    this.bench = bench;
    this.#type = PROVIDERS[provider];
  }

  args(...more: readonly string[]): string[] {
    return this.bench.reverse("--no-preflight", "--api-client-type", this.#type, "--batch", ...more);
  }

  start(...more: readonly string[]): CliProcess {
    return this.bench.place.start(this.args(...more), SOON);
  }

  run(...more: readonly string[]) {
    return this.bench.place.run(this.args(...more), SOON);
  }

  /** Goes on with the one run of this place. */
  resume(...more: readonly string[]) {
    return this.bench.place.run(["eval", "run", "reverse-text", "-R", this.bench.place.results, "--no-preflight", ...more], SOON);
  }

  command(...args: readonly string[]) {
    return this.bench.place.run(args, SOON);
  }

  get ledger(): BatchLedger {
    return this.bench.model.batches();
  }

  async tell(end: EndBatch): Promise<void> {
    await fetch(`${this.bench.model.controlUrl}/batches`, { method: "POST", body: JSON.stringify(end) });
  }

  async release(): Promise<void> {
    await fetch(`${this.bench.model.controlUrl}/batches/release`, { method: "POST" });
  }

  /** Waits until the provider has seen what is asked for. */
  async sees(what: (ledger: BatchLedger) => boolean, cli: CliProcess, name: string): Promise<void> {
    await until(
      () => what(this.ledger),
      60_000,
      () => `${name}; ${JSON.stringify(this.ledger.calls.map(({ route }) => route))}\n${cli.stdout()}${cli.stderr()}`,
    );
  }

  /** `results.jsonl` without times. */
  get rowsText(): string {
    return timeless(readFileSync(join(this.bench.place.results, "results.jsonl"), "utf8"));
  }

  /** Every row is there once, and right. */
  expectRows(examples: number, rollouts: number): void {
    expect(keysOfRows(this.bench.rows)).toEqual(grid(examples, rollouts));
    expect(this.bench.rows.every(({ error, reward }) => error === null && reward === 1)).toBe(true);
  }

  /** And every request was sent and paid for once. */
  expectPaidOnce(examples: number, rollouts: number): void {
    this.expectRows(examples, rollouts);
    const { batches, paid } = this.ledger;
    const sent = batches.flatMap(({ custom_ids }) => custom_ids);
    expect(new Set(sent).size).toBe(sent.length);
    expect([sent.length, paid]).toEqual([examples * rollouts, examples * rollouts]);
    expect(this.bench.model.ledger.stats().total).toBe(0);
  }
}

export const timeless = (text: string): string => text.replace(/"timing":\{[^}]*\}/g, '"timing":{}');

/** A test body with a place, a server and a provider of its own. */
export const inBatches = (provider: ProviderName, script: ScriptInput, test: (batched: BatchedBench) => Promise<void>): (() => Promise<void>) =>
  inPlace(script, (bench) => test(new BatchedBench(bench, provider)));

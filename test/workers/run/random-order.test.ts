import { reset } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { SortedRequest } from "../../../durable-objects/run/protocol.ts";
import { ORDER_SEED, type RunConfig } from "../../../src/config/plan/run-config.ts";
import { NOTHING_NEW } from "../../support/run/resume-request.ts";
import { Fleet } from "../support/fleet.ts";
import { createRun, expectComplete, metadataOf, type ResultRow } from "../support/runs.ts";
import { type ModelCall, type Reply, ScriptedModel } from "../support/scripted-model.ts";
import { run, setVars, STEADY } from "../support/service.ts";

const URL = "https://data.example/rows.jsonl";
/** Of one text: so that a few dozen examples are a part that is permuted by itself, and their rows more than a file that is sorted in memory. */
const BYTES = 40_000;
const EXAMPLES = 120;
/** Pinned at first; the rest is grown by. */
const FIRST = 70;

const LINES = Array.from({ length: EXAMPLES }, (_, example) => `${JSON.stringify({ text: `${example} ${"x".repeat(BYTES)}` })}\n`).join("");

/** The same for each example whenever it is asked; some are refused. */
const sameAnswer = ({ example }: ModelCall): Reply => {
  if (example % 11 === 5) return { kind: "status", status: 400 };
  return "x".repeat(1 + ((example * 7) % 20));
};

/** What of a row does not depend on when it was made. */
const lastingOfRow = ({ timing: _, ...row }: ResultRow): unknown => row;

/** What of a run's metadata does not depend on its id, on when it ran (the digest is over times too), and on the order itself. */
function lastingOf({ time_ms: _, edgewise, ...metadata }: Record<string, unknown>): unknown {
  const { run_id: __, order_seed: ___, rows_digest: ____, ...own } = edgewise as Record<string, unknown>;
  return { ...metadata, edgewise: own };
}

/** A run that plays `FIRST` examples, and then all: what it has then, the examples it asked its model for, and the rows that were put into order. */
async function played(order: Partial<RunConfig>) {
  const model = new ScriptedModel({ reply: sameAnswer });
  const asked: number[] = [];
  const sorted: Pick<SortedRequest, "lo" | "hi">[] = [];
  const fleet = new Fleet({
    model,
    onFetch: async ({ args: [url, init], send }) => {
      if (url === URL) return new Response(LINES);
      asked.push(Number(new Headers((init as RequestInit).headers).get("x-session-id")));
      return await send();
    },
    onRun: async ({ method, args, send }) => {
      if (method === "sorted") sorted.push(args[0] as SortedRequest);
      return await send();
    },
  });
  try {
    const config = await createRun({ env_args: { dataset: URL }, num_examples: FIRST, rollouts_per_example: 1, max_concurrent: 4, ...order });
    await fleet.settled(config.run_id, 30_000);
    await expectComplete(config);
    expect(await run(config.run_id).resume({ ...NOTHING_NEW, num_examples: EXAMPLES })).toMatchObject({ ok: true });
    await fleet.settled(config.run_id, 30_000);
    const rows = await expectComplete(config, EXAMPLES);
    return { rows, metadata: await metadataOf(config), asked, sorted };
  } finally {
    await fleet.close();
  }
}

beforeEach(() => setVars(STEADY));
afterEach(reset);

describe("a run whose examples were permuted, in several parts and grown", () => {
  it("has the results that it would have in the order of its data set", { timeout: 90_000 }, async () => {
    const inOrder = await played({});
    const permuted = await played({ order_seed: ORDER_SEED });
    const all = Array.from({ length: EXAMPLES }, (_, example) => example);
    for (const { asked } of [inOrder, permuted]) expect([...new Set(asked)].sort((a, b) => a - b)).toEqual(all);
    expect(permuted.asked).not.toEqual(all);
    // Parts of what was pinned at first, and of what it grew by; all of them are put into order by the merge, none in memory at once.
    expect(permuted.sorted.length).toBeGreaterThan(2);
    expect(permuted.sorted.map(({ lo }) => lo)).toContain(FIRST);
    expect(permuted.rows.map(lastingOfRow)).toEqual(inOrder.rows.map(lastingOfRow));
    expect(lastingOf(permuted.metadata)).toEqual(lastingOf(inOrder.metadata));
  });
});

/**
 * A Run under the calls of many executors, without models and rows: what one object can answer. Bundled by `run-load.ts` and run in
 * workerd; the calls go over RPC, as those of real executors do.
 */
import { runStub } from "../../durable-objects/stubs.ts";
import { type ClaimRequest, PROTOCOL, type TicketId } from "../../durable-objects/run/protocol.ts";
import type { RunConfig } from "../../src/config/plan/run-config.ts";
import { bootOf, type Env } from "../../src/env.ts";
import { finalReads, mergeAll } from "./final-reads-worker.ts";
import type { Answered, Load } from "./load.ts";

export { Directory } from "../../durable-objects/directory/directory.ts";
export { Dispatcher } from "../../durable-objects/dispatcher/dispatcher.ts";
export { Registry } from "../../durable-objects/registry/registry.ts";
export { Run } from "../../durable-objects/run/run.ts";

type RunStub = ReturnType<typeof runStub>;

const VITALS = { in_flight: 5, retries: 0, waiting: 0, paused_until: null };
const SUMMARY = { reward: 1, error: null, input_tokens: 100, output_tokens: 50, truncated: false, metrics: { correct_answer: 1, well_formed: 1 } };

const configOf = (run_id: string, { units, executors }: Load): RunConfig => ({
  ...{ version: 1, run_id, name: null, env_id: "reverse-text", env_version: "1.0.0", env_args: {}, model: "m", base_url: "http://127.0.0.1:9/v1" },
  ...{ api_key_var: "K", api_client_type: "openai_chat_completions", num_examples: units, rollouts_per_example: 1, max_concurrent: executors * 5 },
  ...{
    sampling_args: {},
    independent_scoring: false,
    max_retries: 0,
    timeout_minutes: null,
    state_columns: [],
    hosted: {},
    attended: false,
    created_at: Date.now(),
  },
});

async function opened(run: RunStub, runId: string, load: Load, boot: string): Promise<void> {
  await run.create({ config: configOf(runId, load), boot, import: null });
  const grant = await run.join({ protocol: PROTOCOL, executor: "preparing", seq: 1, free: 5, boot, checks_code: true });
  if (grant.kind !== "grant" || grant.task.kind !== "prepare") throw new Error(`the run grants ${grant.kind}`);
  const chunks = Array.from({ length: Math.ceil(load.units / 5_000) }, (_, k) => ({
    ...{ lo: k * 5_000, hi: Math.min(load.units, (k + 1) * 5_000) },
    ...{ digest: String(k).padStart(64, "0"), bytes: 1_000_000 },
  }));
  const { protocol, ticket, epoch } = grant;
  const pinned = { count: load.units, digest: "d", env_digest: "e", pass_threshold: 0.5, env_sampling_args: {}, open: true };
  await run.prepared({ protocol, ticket, epoch, attempt: grant.task.attempt, chunks, ...pinned });
}

/** Claims, commits and beats as fast as it is answered. */
async function work(run: RunStub, executor: string, boot: string, load: Load, end: number): Promise<{ calls: number; units: number }> {
  const grant = await run.join({ protocol: PROTOCOL, executor, seq: 1, free: 5, boot, checks_code: true });
  if (grant.kind !== "grant") throw new Error(`${executor}: ${grant.kind}`);
  const id: TicketId = { protocol: PROTOCOL, ticket: grant.ticket, epoch: grant.epoch };
  let calls = 1;
  let units = 0;
  const { bytes = 1_000 } = load;
  for (let seq = 1; Date.now() < end; seq += 1) {
    const request: ClaimRequest = { ...id, seq, free: 5, soon: load.batch - 5, open: 0, started: [] };
    const block = await run.claim(request);
    calls += 1;
    // Some is left to do, where what comes after is looked at.
    if (block.kind !== "block" || (load.final === true && block.lo >= load.units - load.executors * load.batch)) break;
    const done = Array.from({ length: block.hi - block.lo }, (_, k) => ({ unit: block.lo + k, offset: k * bytes, length: bytes, rollouts: [SUMMARY] }));
    await run.beat({ ...id, started: done.map(({ unit }) => unit), vitals: VITALS });
    const answer = await run.commit({ ...id, segment: `${grant.ticket}-${grant.epoch}-${seq}`, units: JSON.stringify(done) });
    if (answer.kind !== "committed" || answer.verdicts.some((verdict) => verdict !== "accepted")) throw new Error("a commit was not taken");
    calls += 2;
    units += done.length;
  }
  if (load.final === true) await run.leave(id);
  return { calls, units };
}

/** Reads the metadata, and asks for the view all the while. */
async function look(run: RunStub): Promise<Answered["look"]> {
  const from = Date.now();
  let reading = true;
  const read = run.metadata().finally(() => {
    reading = false;
  });
  let longest = 0;
  while (reading) {
    // Calls without a pause would keep the runtime from ever looking at its timers.
    await scheduler.wait(1);
    const sent = Date.now();
    await run.view();
    longest = Math.max(longest, Date.now() - sent);
  }
  await read;
  return { ms: Date.now() - from, longest_wait_ms: longest };
}

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    const load = (await request.json()) as Load;
    const runId = crypto.randomUUID().slice(0, 8);
    const run = runStub(env, runId);
    const boot = bootOf(env);
    await opened(run, runId, load, boot);
    const from = Date.now();
    const worked = await Promise.all(Array.from({ length: load.executors }, (_, k) => work(run, `executor-${k}`, boot, load, from + load.ms)));
    const sum = (of: "calls" | "units"): number => worked.reduce((total, each) => total + each[of], 0);
    const counts = { calls: sum("calls"), ms: Date.now() - from, units: sum("units") };
    const merges = load.merge === true ? await mergeAll(run, boot) : null;
    const final = load.final === true ? await finalReads(run, boot) : null;
    const answered: Answered = { ...counts, look: load.look ? await look(run) : null, merges, final };
    return Response.json(answered);
  },
  /** Nobody is woken here. */
  async queue(): Promise<void> {},
};

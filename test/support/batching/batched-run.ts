import type { BatchPlan } from "../../../durable-objects/run/batching/batching-protocol.ts";
import type { CollectedJob, Grant } from "../../../durable-objects/run/protocol.ts";
import { inputsKey, requestsKey } from "../../../r2-layout/keys.ts";
import type { Batched, BatchLimits, BatchLine } from "../../../src/clients/batching/batch-route.ts";
import { createClient } from "../../../src/clients/create-client.ts";
import { sleep } from "../../../src/clients/transport/sleep.ts";
import type { Json, JsonObject, RunConfig } from "../../../src/config/plan/run-config.ts";
import type { HostedEnvironment } from "../../../src/environments/hosted/hosted-environment.ts";
import { runUnit } from "../../../src/environments/unit/run-unit.ts";
import { AnswerIndexes } from "../../../src/executor/batching/answer-indexes.ts";
import { BatchAnswers } from "../../../src/executor/batching/batch-answers.ts";
import { collectJob } from "../../../src/executor/batching/collect-job.ts";
import { CaughtRequests } from "../../../src/executor/batching/first-requests.ts";
import { nameRequests } from "../../../src/executor/batching/question-id.ts";
import { writeJob } from "../../../src/executor/batching/write-job.ts";
import { askedPlace } from "../../../src/executor/endpoints/asked-place.ts";
import { type ExecutorBytes, IsolateBytes } from "../../../src/executor/isolate-bytes.ts";
import type { ExecutorPorts } from "../../../src/executor/ports.ts";
import type { JobBill } from "../../../src/executor/spending/job-bill.ts";
import { JobPurse } from "../../../src/executor/spending/job-purse.ts";
import type { Slice } from "../../../src/executor/slice.ts";
import type { Client, RolloutInput } from "../../../src/rollouts/types.ts";
import { grantFor } from "../run/executor-ports.ts";
import { MemoryObjects } from "./memory-objects.ts";

const DIGEST = "d".repeat(64);
const ENDPOINT = { base_url: "https://models.test/v1", api_key: "sk-very-secret-1234" };
const LIMITS: BatchLimits = { requests: 50_000, bytes: 200_000_000 };

/** A request of a job as it was written. */
export interface WrittenLine {
  readonly custom_id: string;
  readonly body: JsonObject;
}

export const completion = (content: string): JsonObject => ({
  id: "r1",
  created: 5,
  model: "m",
  usage: { prompt_tokens: 10, completion_tokens: 3, total_tokens: 13 },
  choices: [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }],
});

/** There was no money for any of its requests. */
export class Unpaid extends Error {}

/** The requests and answers of one run, step by step, without the Run: `count` examples of `input`. */
export class BatchedRun {
  readonly store = new MemoryObjects();
  readonly isolate = new IsolateBytes(Number.POSITIVE_INFINITY);
  readonly bytes: ExecutorBytes = this.isolate.open({ now: () => 0, sleep: async () => undefined });
  readonly slice = { isOver: false, spend: () => undefined, startRollouts: () => undefined };
  readonly grant: Grant;
  readonly jobs: CollectedJob[] = [];
  readonly #environment: HostedEnvironment;
  readonly #inputs: readonly RolloutInput[];
  readonly #name;
  #objects = 0;

  constructor(environment: HostedEnvironment, count: number, config: Partial<RunConfig> = {}, prompt: (unit: number) => string = (unit) => `${unit}+${unit}`) {
    this.#environment = environment;
    this.#inputs = Array.from({ length: count }, (_, unit) => ({
      example_id: unit,
      prompt: [{ role: "user", content: prompt(unit) }],
      task: "t",
      answer: String(2 * unit),
    }));
    this.grant = grantFor({ run_id: "0badcafe", rollouts_per_example: 2, ...ENDPOINT, ...config });
    this.#name = nameRequests(askedPlace(this.grant.config, { base_url: ENDPOINT.base_url, api_key_var: "KEY" }));
    this.store.objects.set(inputsKey("0badcafe", DIGEST), new TextEncoder().encode(this.#inputs.map((input) => `${JSON.stringify(input)}\n`).join("")));
  }

  get ports(): ExecutorPorts {
    const { store, bytes } = this;
    return { store, bytes, now: Date.now, sleep, random: () => 0 } as unknown as ExecutorPorts;
  }

  client(batched: Batched): Client {
    const fetch = async (): Promise<Response> => {
      throw new Error("nothing is sent");
    };
    return createClient(this.grant.config.api_client_type, ENDPOINT, { batched, fetch });
  }

  async write(
    units: readonly { readonly lo: number; readonly hi: number }[],
    limits = LIMITS,
    signal = new AbortController().signal,
    changes: Partial<Extract<BatchPlan, { kind: "write" }>> = {},
  ) {
    const caught = new CaughtRequests(this.#name);
    const client = this.client(caught);
    const { ports } = this;
    const host = {
      ...{ now: Date.now, sleep, random: () => 0, environment: this.#environment, caught, clientOf: () => client, deadlineMs: null, ports },
      ...{ slice: this.slice as unknown as Slice, indexes: new AnswerIndexes({ ...this, slice: this.slice }, "0badcafe") },
      ...{ route: { limits, line: (custom_id: string, body: JsonObject) => JSON.stringify({ custom_id, body }) }, place: 0, object: this.#object() },
      purse: this.purse,
    };
    const chunks = [{ lo: 0, hi: this.#inputs.length, digest: DIGEST, bytes: 1_000 }];
    const written = await writeJob(
      host,
      this.grant,
      { kind: "write", job: this.jobs.length + 1, first: true, units, chunks, redo: [], pieces: [], known: this.jobs, ...changes },
      signal,
    );
    if (written.kind !== "wrote") throw new Unpaid(written.kind);
    return written;
  }

  /** Budgets as executors reach them; there are none unless a test has some, and its config names them. */
  budget: ExecutorPorts["budget"] = () => null;
  get purse(): JobPurse {
    const place = { base_url: ENDPOINT.base_url, api_key_var: "KEY" };
    return new JobPurse({ ports: { ...this.ports, budget: this.budget }, slice: this.slice, config: this.grant.config, epoch: 1, place });
  }

  #object(): string {
    return `${this.jobs.length + 1}-1-1-${++this.#objects}`;
  }

  written(object: string | null): WrittenLine[] {
    if (object === null) return [];
    return this.store
      .text(requestsKey("0badcafe", object))
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as WrittenLine);
  }

  /** Collects a job whose provider says `results`. */
  async collect(object: string, results: readonly BatchLine[], bill?: JobBill) {
    const host = {
      ...{ ports: this.ports, slice: this.slice, object: this.#object(), blot: (text: string) => text.replaceAll(ENDPOINT.api_key, "[secret]") },
      ...(bill === undefined ? {} : { bill }),
      route: { results: () => ReadableStream.from(results) as unknown as AsyncIterable<BatchLine> },
    };
    const plan = {
      kind: "collect",
      job: this.jobs.length + 1,
      place: 0,
      batch_id: "b",
      object,
      requests: 0,
      units: [],
      redo: [],
      pieces: [],
      known: this.jobs,
    } as const;
    const told = await collectJob(host, this.grant, plan, new AbortController().signal);
    this.jobs.push({ job: told.job, index: told.index });
    return told;
  }

  /** What of the bytes of its isolate is held for indexes while units are played, and whose answers they were. */
  answers(): BatchAnswers {
    return new BatchAnswers({ ...this, sleep, slice: this.slice }, "0badcafe", this.#name);
  }

  /** The rows of a unit that is answered by `batched`, or by a client of the test's. */
  async rows(unit: number, by: BatchAnswers | Client, changes: { readonly maxRetries?: number } = {}): Promise<JsonObject[]> {
    const end = by instanceof BatchAnswers ? by.begin(unit, this.jobs) : () => undefined;
    const client = by instanceof BatchAnswers ? by.of(unit, this.client(by)) : by;
    const { rollouts_per_example: count, model, sampling_args } = this.grant.config;
    const { lines } = await runUnit(this.#environment, this.#inputs[unit] as RolloutInput, {
      ...{ unit, rollouts: Array.from({ length: count }, (_, index) => index), kept: [], rolloutsPerExample: count, client, model, sampling_args },
      ...{ maxRetries: 0, independent: false, stateColumns: [], signal: new AbortController().signal, deadlineMs: null, now: Date.now, sleep, random: () => 0 },
      ...changes,
    });
    end();
    return lines.map((line) => JSON.parse(line) as JsonObject);
  }
}

export const answered = ({ custom_id }: WrittenLine, body: Json, status = 200): BatchLine => ({
  kind: "answer",
  custom_id,
  status,
  text: JSON.stringify(body),
});

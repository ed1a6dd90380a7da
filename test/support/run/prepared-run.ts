import { expect } from "vitest";
import { type Grant, PROTOCOL, type PreparedRequest } from "../../../durable-objects/run/protocol.ts";
import type { JsonObject, RunConfig } from "../../../src/config/plan/run-config.ts";
import { SingleTurnEnv } from "../../../src/environments/kinds/single-turn-env.ts";
import type { ExecutorPorts, ExecutorStore, RunStub } from "../../../src/executor/ports.ts";
import { prepareRun } from "../../../src/executor/preparation/prepare.ts";
import { Rubric } from "../../../src/rubrics/rubric.ts";
import { CONFIG } from "../door/fake-ports.ts";
import { inProcess } from "../../../src/environments/hosted/in-process.ts";

type Task = Extract<Grant["task"], { kind: "prepare" }>;

export const environmentOf = (questions: Iterable<string>, rubric = new Rubric()): SingleTurnEnv =>
  new SingleTurnEnv({
    rubric,
    async *dataset() {
      for (const question of questions) yield { question } as JsonObject;
    },
  });

/** Prepares a run of these questions; what was written and what was reported. */
export async function prepared(
  environment: SingleTurnEnv,
  {
    count = -1,
    pinned = null,
    adopt = null,
    independent = false,
    more = {},
    inParts = false,
    whole = false,
    rows = null,
  }: {
    count?: number;
    pinned?: Task["pinned"];
    adopt?: Task["adopt"];
    independent?: boolean;
    more?: Partial<RunConfig>;
    inParts?: boolean;
    whole?: boolean;
    /** `results.jsonl` of every other run that it looks for. */
    rows?: readonly JsonObject[] | null;
  } = {},
) {
  const objects = new Map<string, Uint8Array>();
  const reports: PreparedRequest[] = [];
  const text = (rows ?? []).map((row) => `${JSON.stringify(row)}\n`).join("");
  const store = {
    async create(key: string, bytes: Uint8Array) {
      objects.set(key, bytes);
      return "stored" as const;
    },
    size: async () => (rows === null ? null : text.length),
    stream: async () => (rows === null ? null : new Blob([text]).stream()),
  } as Partial<ExecutorStore> as ExecutorStore;
  const stub = {
    async prepared(request: PreparedRequest) {
      for (const { digest } of request.chunks) expect(objects.has(`runs/0000abcd/inputs/${digest}.jsonl`)).toBe(true);
      reports.push(request);
      return { kind: "ok" as const };
    },
  } as Partial<RunStub> as RunStub;
  const ports = { store, run: () => stub, envDigest: async () => "e", sleep: async () => undefined } as Partial<ExecutorPorts> as ExecutorPorts;
  const task: Task = { kind: "prepare", attempt: 1, pinned, adopt, ...(inParts ? { in_parts: true } : {}), ...(whole ? { whole_order: true } : {}) };
  const config = { ...CONFIG, num_examples: count, independent_scoring: independent, ...more };
  const grant: Grant = { kind: "grant", protocol: PROTOCOL, ticket: 1, epoch: 1, task, config, lanes: 1, requests: 0, lease_ms: 1_000, beat_ms: 100 };
  await prepareRun(ports, grant, task, inProcess(environment), new AbortController().signal);
  const report = reports.at(-1);
  if (report === undefined) throw new Error("nothing was reported");
  return { report, reports, objects };
}

export const questions = (count: number, question = "q"): string[] => Array.from({ length: count }, (_, index) => `${question}${index}`);

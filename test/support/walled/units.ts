import type { UnitOptions } from "../../../src/environments/unit/run-unit.ts";
import { sleep } from "../../../src/clients/transport/sleep.ts";
import type { Client, ModelRequest, ModelResponse, PromptScore, RolloutInput, ScoreRequest } from "../../../src/rollouts/types.ts";

export const EXAMPLE: RolloutInput = {
  example_id: 4,
  prompt: [
    { role: "system", content: "Count." },
    { role: "user", content: "2+2" },
  ],
  task: "t",
  answer: "4",
  info: { level: -0, deep: [{ a: null }] },
  column: ["x", 1],
};

export function response(content: string, more: Partial<ModelResponse["message"]> = {}, turn = 1): ModelResponse {
  const usage = { prompt_tokens: 5 * turn, completion_tokens: 2, total_tokens: 5 * turn + 2, reasoning_tokens: 0 };
  return {
    id: `r${turn}`,
    created: 0,
    model: "m",
    usage,
    message: { role: "assistant", content, finish_reason: "stop", is_truncated: false, tokens: null, ...more },
  };
}

export type Answer = ModelResponse | Error | Promise<ModelResponse>;

export interface Scripted extends Client {
  readonly requests: ModelRequest[];
  readonly scored: ScoreRequest[];
}

/** Answers each request by what it says, so that the order in which they come is nothing to it. */
export function scripted(answer: (request: ModelRequest, call: number) => Answer, scores?: (request: ScoreRequest) => PromptScore[]): Scripted {
  const requests: ModelRequest[] = [];
  const scored: ScoreRequest[] = [];
  return {
    type: "scripted",
    requests,
    scored,
    async getResponse(request) {
      const given = answer(request, requests.push(request) - 1);
      request.onBegin?.();
      await Promise.resolve();
      request.signal?.throwIfAborted();
      if (given instanceof Error) throw given;
      if (!(given instanceof Promise)) return given;
      const ended = Promise.withResolvers<never>();
      request.signal?.addEventListener("abort", () => ended.reject(request.signal?.reason));
      return await Promise.race([given, ended.promise]);
    },
    ...(scores === undefined
      ? {}
      : {
          score: async (request: ScoreRequest) => {
            scored.push(request);
            request.onBegin?.();
            return scores(request);
          },
        }),
  };
}

export function unitOptions(client: Client, count: number, fields: Partial<UnitOptions> = {}): UnitOptions {
  return {
    unit: 0,
    rollouts: Array.from({ length: count }, (_, index) => index),
    kept: [],
    rolloutsPerExample: count,
    client,
    model: "m",
    sampling_args: { max_tokens: null, temperature: 0.5 },
    maxRetries: 0,
    independent: false,
    stateColumns: [],
    signal: new AbortController().signal,
    deadlineMs: null,
    now: Date.now,
    sleep,
    random: () => 0.5,
    ...fields,
  };
}

const TIMES: readonly string[] = ["timing", "seconds", "trajectory_id"];

/** A row, or anything of it, without what is another in every run. */
export function timeless(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(timeless);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, TIMES.includes(key) ? "time" : timeless(each)]));
}

/** The text of a row without its times: bytes, keys and their order count. */
export const timelessLine = (line: string): string => JSON.stringify(timeless(JSON.parse(line)));

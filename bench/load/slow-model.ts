import { Random } from "../../test/simulation/world/random.ts";
import { after } from "./virtual-clock.ts";

/** So that lanes get out of step: part of the model's time, more or less. */
const JITTER = 0.2;
/** Answers come on a grid of this part of it, since each moment is a turn of the clock. */
const GRID = 0.02;

const random = new Random(1);

/** The model that `fetch` asks, imported before anything that keeps `fetch`: whatever the question, an answer after its time. */
export const slowModel = { ms: 1_000, answers: 0 };

const usage = { prompt_tokens: 20, completion_tokens: 1, total_tokens: 21 };
const message = { role: "assistant", content: "42" };
const ANSWER = { id: "a", object: "chat.completion", created: 1, model: "m", choices: [{ index: 0, message, finish_reason: "stop" }], usage };

globalThis.fetch = (async (_url: unknown, init?: RequestInit) => {
  const { promise, resolve, reject } = Promise.withResolvers<Response>();
  const ms = slowModel.ms * (1 + JITTER * (2 * random.next() - 1));
  const grid = slowModel.ms * GRID;
  after(Math.round(ms / grid) * grid, () => {
    slowModel.answers++;
    resolve(Response.json(ANSWER));
  });
  init?.signal?.addEventListener("abort", () => reject(init.signal?.reason), { once: true });
  return promise;
}) as typeof fetch;

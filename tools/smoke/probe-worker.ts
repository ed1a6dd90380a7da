/**
 * A model endpoint that takes its time and counts: what `npm run smoke:deployed` lets a deployment call. A Worker of its own, with no secret and no
 * data, that the script deploys and takes away again.
 *
 *   POST /{ms}/v1/chat/completions   an answer after so many milliseconds
 *   GET /stats?model=M               what was asked of one model (`ProbeStats`)
 *   DELETE /stats?model=M            forgets it
 */
import { DurableObject } from "cloudflare:workers";
import { type ProbeCall, statsOf } from "./probe-stats.ts";

interface ProbeEnv {
  readonly COUNTER: DurableObjectNamespace<Counter>;
}

/** Longer than any model that is worth a smoke test: whoever finds the address cannot keep it busy for hours. */
const MOST_DELAY_MS = 10 * 60_000;
/** Of one model: the smoke test's are tens of thousands. */
const MOST_CALLS = 1_000_000;

const CALLS = "SELECT opened, opened_ms, due_ms, closed, closed_ms, given_up FROM call";

/** The requests of one model, in storage: it may be put out of memory before anybody asks. */
export class Counter extends DurableObject<ProbeEnv> {
  #order = 0;

  #rows(query: string, ...values: readonly (string | number)[]) {
    return this.ctx.storage.sql.exec(query, ...values);
  }

  constructor(ctx: DurableObjectState, env: ProbeEnv) {
    super(ctx, env);
    this.#rows(
      "CREATE TABLE IF NOT EXISTS call (id TEXT PRIMARY KEY, opened INTEGER, opened_ms INTEGER, due_ms INTEGER, closed INTEGER, closed_ms INTEGER, given_up INTEGER)",
    );
    const [last] = this.#rows("SELECT max(max(opened), coalesce(max(closed), 0)) AS latest FROM call");
    this.#order = Number(last?.latest ?? 0);
  }

  /** False where there are too many already. */
  async begin(call: string, ms: number): Promise<boolean> {
    if (this.#order > 2 * MOST_CALLS) return false;
    const now = Date.now();
    this.#rows("INSERT OR IGNORE INTO call (id, opened, opened_ms, due_ms, given_up) VALUES (?, ?, ?, ?, 0)", call, ++this.#order, now, now + ms);
    return true;
  }

  /** The first end counts. */
  async end(call: string, givenUp: boolean): Promise<void> {
    const values = [++this.#order, Date.now(), givenUp ? 1 : 0, call] as const;
    this.#rows("UPDATE call SET closed = ?, closed_ms = ?, given_up = ? WHERE id = ? AND closed IS NULL", ...values);
  }

  async stats() {
    const calls = [...this.#rows(CALLS)].map(({ given_up, ...call }) => ({ ...call, given_up: given_up === 1 }));
    return statsOf(calls as unknown as ProbeCall[]);
  }

  async forget(): Promise<void> {
    this.#rows("DELETE FROM call");
  }
}

// A client that goes away is seen where the platform tells; else its request counts until its time is over, as with a provider. The door of the
// local runtime does not tell.
const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

async function complete(request: Request, env: ProbeEnv, ms: number): Promise<Response> {
  const { model } = (await request.json()) as { readonly model?: unknown };
  if (typeof model !== "string" || model === "") return Response.json({ error: { message: "model: a name is missing" } }, { status: 400 });
  const counter = env.COUNTER.getByName(model);
  const call = crypto.randomUUID();
  if (!(await counter.begin(call, ms))) return Response.json({ error: { message: "enough" } }, { status: 429 });
  const gone = new Promise<"gone">((resolve) => request.signal.addEventListener("abort", () => resolve("gone")));
  const how = await Promise.race([sleep(ms), gone]);
  await counter.end(call, how === "gone");
  const message = { role: "assistant", content: "42" };
  const usage = { prompt_tokens: 20, completion_tokens: 1, total_tokens: 21 };
  return Response.json({ id: call, object: "chat.completion", created: 1, model, choices: [{ index: 0, message, finish_reason: "stop" }], usage });
}

export default {
  async fetch(request, env, ctx): Promise<Response> {
    const url = new URL(request.url);
    const [, delay] = /^\/(\d{1,6})\/v1\/chat\/completions$/.exec(url.pathname) ?? [];
    if (request.method === "POST" && delay !== undefined && Number(delay) <= MOST_DELAY_MS) {
      const answer = complete(request, env, Number(delay));
      // Also where the client goes away meanwhile: its end is counted.
      ctx.waitUntil(answer.catch(() => undefined));
      return answer;
    }
    const model = url.searchParams.get("model");
    if (url.pathname !== "/stats" || model === null)
      return Response.json({ error: { message: `no route ${request.method} ${url.pathname}` } }, { status: 404 });
    const counter = env.COUNTER.getByName(model);
    if (request.method === "DELETE") await counter.forget();
    return Response.json(await counter.stats());
  },
} satisfies ExportedHandler<ProbeEnv>;

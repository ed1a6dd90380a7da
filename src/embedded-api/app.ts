import { parseShallow } from "../config/json-depth.ts";
import { type Context, Hono } from "hono";
import { EMBEDDED_MODEL } from "../config/endpoints/providers.ts";
import type { EmbeddedModel } from "../embedded-model/model.ts";
import { SeededRandom } from "../embedded-model/sampling.ts";
import type { AnswerHead, AnswerShape } from "./answer-shape.ts";
import { answers, type Job, type Prompt } from "./answers.ts";
import { ChatShape, chatPrompt, parseChat } from "./chat.ts";
import { CompletionShape, completionPrompts, parseCompletion } from "./completions.ts";
import { badRequest, OpenAiError } from "./openai-error.ts";
import { checkChatLength, checkCompletionLength } from "./prompts.ts";
import { MAX_CHOICES } from "./request-fields.ts";
import { streamedAnswer, wholeAnswer } from "./respond.ts";
import type { Turns } from "./turns.ts";

export interface EmbeddedPorts {
  readonly model: EmbeddedModel;
  readonly turns: Turns;
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly sleep: (ms: number) => Promise<void>;
  /** [0, 1): seeds of requests that name none, and ids. */
  readonly random: () => number;
}

/** An empty answer of a chat counts as a failure of the provider everywhere, and so as none of the model's. */
const MIN_CHAT_TOKENS = 1;

/** What both routes read off a request. */
interface CommonRequest {
  readonly model: string;
  readonly n: number;
  readonly seed?: number | null | undefined;
  readonly stop?: readonly string[] | null | undefined;
  readonly stream?: boolean | null | undefined;
  readonly stream_options?: { readonly include_usage?: boolean | null | undefined } | null | undefined;
  readonly temperature?: number | null | undefined;
  readonly top_p?: number | null | undefined;
  readonly latency_ms?: number | null | undefined;
  readonly error_rate?: number | null | undefined;
}

/** OpenAI's routes below `/v1`, answered by the embedded model. */
export function createEmbeddedApp(ports: EmbeddedPorts): Hono {
  const { model, turns, now, sleep, random } = ports;
  const app = new Hono();
  /** Which requests fail for a demonstration: the same ones, in the order of arrival, after every start. */
  const faults = new SeededRandom(1);

  const card = { id: EMBEDDED_MODEL, object: "model", created: Math.floor(Date.parse(model.header.training.date) / 1000), owned_by: "edgewise" };
  app.get("/v1/models", (c) => c.json({ object: "list", data: [card] }));
  app.get("/v1/models/:id{.+}", (c) => {
    checkModel(c.req.param("id"));
    return c.json(card);
  });

  app.post("/v1/chat/completions", async (c) => {
    const request = parseChat(await bodyOf(c));
    await admit(request);
    const prompt = chatPrompt(model, request);
    checkChatLength(model, prompt);
    const maxTokens = request.max_completion_tokens ?? request.max_tokens ?? null;
    return respond(
      request,
      jobOf(request, [prompt], { maxTokens, minTokens: MIN_CHAT_TOKENS }),
      new ChatShape(model, head("chatcmpl"), request),
      c.req.raw.signal,
    );
  });

  app.post("/v1/completions", async (c) => {
    const request = parseCompletion(await bodyOf(c));
    await admit(request);
    const { echo, logprobs, max_tokens: maxTokens } = request;
    const prompts = completionPrompts(model, request);
    if (prompts.length * request.n > MAX_CHOICES) {
      throw badRequest(`Invalid 'prompt': the prompts and 'n' ask for ${prompts.length * request.n} choices; at most ${MAX_CHOICES} are made.`, "prompt");
    }
    for (const prompt of prompts) checkCompletionLength(model, prompt, maxTokens);
    const job = jobOf(request, prompts, { maxTokens, echo, scored: logprobs !== null });
    return respond(request, job, new CompletionShape(model, head("cmpl"), request, prompts), c.req.raw.signal);
  });

  app.notFound((c) => refuse(new OpenAiError(404, `Unknown request URL: ${c.req.method} ${c.req.path}.`, { code: "unknown_url" })));
  app.onError((thrown, c) => {
    if (thrown instanceof OpenAiError) return refuse(thrown);
    // Nobody reads the answer to a request that was given up.
    if (!c.req.raw.signal.aborted) console.error(`embedded model: ${thrown.stack ?? thrown.message}`);
    return refuse(serverError());
  });
  return app;

  /** The model is there; the wait and the failure that a demonstration asks for come first. */
  async function admit({ model: name, latency_ms, error_rate, stream, stream_options }: CommonRequest): Promise<void> {
    checkModel(name);
    if (stream !== true && stream_options !== null && stream_options !== undefined) {
      throw badRequest("The 'stream_options' parameter is only allowed when 'stream' is enabled.", "stream_options");
    }
    const fails = typeof error_rate === "number" && error_rate > 0 && faults.next() < error_rate;
    if (typeof latency_ms === "number" && latency_ms > 0) await sleep(latency_ms);
    if (fails) throw serverError();
  }

  function jobOf(request: CommonRequest, prompts: readonly Prompt[], more: Pick<Job, "maxTokens"> & Partial<Job>): Job {
    return {
      prompts,
      n: request.n,
      seed: request.seed ?? Math.floor(random() * Number.MAX_SAFE_INTEGER),
      sampling: { temperature: request.temperature ?? 1, topP: request.top_p ?? 1 },
      minTokens: 0,
      stops: request.stop ?? [],
      echo: false,
      scored: false,
      ...more,
    };
  }

  function respond({ stream, stream_options }: CommonRequest, job: Job, shape: AnswerShape, signal: AbortSignal): Response | Promise<Response> {
    const slices = turns.slices(answers(model, job));
    return stream === true ? streamedAnswer(slices, shape, stream_options?.include_usage === true) : wholeAnswer(slices, shape, signal);
  }

  function head(prefix: string): AnswerHead {
    const id = Array.from({ length: 24 }, () => Math.floor(random() * 36).toString(36)).join("");
    return { id: `${prefix}-${id}`, created: Math.floor(now() / 1000), model: EMBEDDED_MODEL, system_fingerprint: `fp_${model.digest.slice(0, 10)}` };
  }
}

function checkModel(name: string): void {
  if (name === EMBEDDED_MODEL) return;
  throw new OpenAiError(404, `The model \`${name}\` does not exist; the embedded one is \`${EMBEDDED_MODEL}\`.`, { code: "model_not_found" });
}

const serverError = (): OpenAiError => new OpenAiError(500, "The server had an error while processing your request. Sorry about that!");

const refuse = ({ status, fields }: OpenAiError): Response => Response.json({ error: fields }, { status });

/** The body, with what the query says for demonstrations where the body does not. */
async function bodyOf(c: Context): Promise<unknown> {
  let body: unknown;
  try {
    body = parseShallow(await c.req.text());
  } catch {
    throw badRequest("We could not parse the JSON body of your request: it is not valid JSON.", null);
  }
  if (typeof body !== "object" || body === null || Array.isArray(body)) return body;
  const asked = ["latency_ms", "error_rate"].flatMap((name) => (c.req.query(name) === undefined ? [] : [[name, Number(c.req.query(name))] as const]));
  return { ...Object.fromEntries(asked), ...body };
}

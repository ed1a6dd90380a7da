import type { RequestCost } from "../../../../src/endpoint-limits/limit-kinds.ts";
import { completionBody } from "../../../support/model-server/model-answers.ts";
import { LimitedProvider } from "../../../support/model-server/limited/limited-provider.ts";
import { headersOf, replyOf } from "../../../support/model-server/limited/limited-replies.ts";
import type { ProviderPlan } from "../../../support/model-server/limited/provider-plan.ts";
import type { Random } from "../../world/random.ts";
import type { VirtualTime } from "./virtual-time.ts";

/** From an executor to the provider, and back. Milliseconds. */
const WAY_MS = 15;

/** What requests are like. */
export interface Traffic {
  /** From the provider's word that it takes a request to the end of its answer: drawn evenly. Milliseconds. */
  readonly takes: readonly [number, number];
  /** Tokens out, drawn evenly; those in are drawn by the prompt. */
  readonly output: readonly [number, number];
}

/** The provider as `fetch` finds it: bodies, headers and times of a real one, on the clock of the world. */
export class ProviderPort {
  readonly provider: LimitedProvider;
  readonly #time: VirtualTime;
  readonly #random: Random;
  readonly #traffic: Traffic;
  /** Requests that were sent and have not ended, refused ones that are on their way among them. */
  underWay = 0;
  mostUnderWay = 0;
  /** Called with every request that is sent; it is counted already. */
  onSent: () => void = () => undefined;
  #n = 0;
  /** Nobody is there: connections are refused. */
  isDown = false;

  constructor(plan: ProviderPlan, time: VirtualTime, random: Random, traffic: Traffic) {
    this.provider = new LimitedProvider(plan);
    this.#time = time;
    this.#random = random;
    this.#traffic = traffic;
  }

  readonly fetch = async (_url: string, init: RequestInit = {}): Promise<Response> => {
    const { sleep, now, clock } = this.#time;
    const signal = init.signal ?? null;
    const body = JSON.parse(String(init.body)) as { model: string; messages: readonly { content: string }[]; max_tokens?: number };
    const drawn = this.#draw(body);
    this.underWay++;
    this.mostUnderWay = Math.max(this.mostUnderWay, this.underWay);
    this.onSent();
    try {
      await sleep(WAY_MS, signal);
      if (this.isDown) throw new TypeError("connect ECONNREFUSED");
      const asked = { input_tokens: drawn.input_tokens, output_tokens: body.max_tokens ?? this.#traffic.output[1] };
      const answer = this.provider.begin(asked, clock.now);
      const { headers: form } = this.provider.plan;
      if (answer.kind === "refused") {
        const reply = replyOf(answer, body.model, form, now());
        await sleep(WAY_MS, signal);
        return new Response(reply.body, { status: reply.status, headers: { "content-type": "application/json", ...reply.headers } });
      }
      const headers = headersOf(answer.told, form, now());
      let answered = false;
      try {
        await sleep(between(this.#random, this.#traffic.takes), signal);
        answered = true;
      } finally {
        this.provider.end(asked, answered ? drawn.output_tokens : 0, clock.now);
      }
      await sleep(WAY_MS, signal);
      const usage = { prompt_tokens: drawn.input_tokens, completion_tokens: drawn.output_tokens };
      const text = completionBody({ n: ++this.#n, model: body.model, content: "ok", usage }, null);
      return new Response(text, { headers: { "content-type": "application/json", ...headers } });
    } finally {
      this.underWay--;
    }
  };

  #draw({ messages }: { readonly messages: readonly { readonly content: string }[] }): RequestCost {
    const characters = messages.reduce((sum, { content }) => sum + content.length, 0);
    return { input_tokens: Math.ceil(characters / 4), output_tokens: Math.round(between(this.#random, this.#traffic.output)) };
  }
}

const between = (random: Random, [low, high]: readonly [number, number]): number => low + random.next() * (high - low);

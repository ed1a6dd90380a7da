import type { Refusal } from "../model-answers.ts";
import { type Asked, LimitedProvider } from "./limited-provider.ts";
import { headersOf, replyOf } from "./limited-replies.ts";
import type { ProviderPlan } from "./provider-plan.ts";

/** A request that was taken, until its end. */
export interface AdmittedRequest {
  readonly headers: Readonly<Record<string, string>>;
  /** Tokens of the answer; 0 when the client went away first. The first end counts. */
  end(outputTokens: number): void;
}

/** What a server asks before it answers, and what `GET /limited` says. Times are milliseconds since the script was set. */
export interface LimitedFigures {
  readonly now_ms: number;
  readonly taken: number;
  readonly refused: number;
  /** Share of the limit that most was used of. */
  readonly use: number;
  readonly most_in_flight: number;
  /** Refusals since the start, by what bound. */
  readonly because: Readonly<Record<string, number>>;
  /** Requests taken in that time, by who asked: the field `user` of the body, else the model. */
  readonly by: Readonly<Record<string, number>>;
}

const wallNow = (): number => performance.timeOrigin + performance.now();

/** A limited provider by the clock of this process, before a real server. */
export class LimitedGate {
  readonly #provider: LimitedProvider;
  readonly #since = performance.now();
  readonly #taken: { readonly at: number; readonly user: string }[] = [];

  constructor(plan: ProviderPlan) {
    this.#provider = new LimitedProvider(plan);
  }

  get #now(): number {
    return performance.now() - this.#since;
  }

  /** A refusal to be sent, or a request that is in flight from here on. */
  ask(asked: Asked, model: string, user: string): Refusal | AdmittedRequest {
    const answer = this.#provider.begin(asked, this.#now);
    const { headers: form } = this.#provider.plan;
    if (answer.kind === "refused") return replyOf(answer, model, form, wallNow());
    this.#taken.push({ at: this.#now, user });
    let isOver = false;
    return {
      headers: headersOf(answer.told, form, wallNow()),
      end: (outputTokens) => {
        if (isOver) return;
        isOver = true;
        this.#provider.end(asked, outputTokens, this.#now);
      },
    };
  }

  /** Of `[from, to)`. */
  figures(from: number, to: number): LimitedFigures {
    const { tally } = this.#provider;
    const by: Record<string, number> = {};
    for (const { at, user } of this.#taken) if (at >= from && at < to) by[user] = (by[user] ?? 0) + 1;
    return { now_ms: this.#now, ...tally.requests(from, to), use: tally.bestUse(from, to), most_in_flight: tally.most, because: tally.because, by };
  }
}

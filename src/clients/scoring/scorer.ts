import type { ModelCall, PromptScore, ScoreRequest } from "../../rollouts/types.ts";
import type { ClientPorts } from "../client.ts";
import { OverlongPromptError } from "../overlong-prompt-error.ts";
import { RequestFailed } from "../transport/request-failure.ts";
import { Batch, type ScoredCall } from "./batch.ts";
import { type ScoringChoice, ScoringChoices } from "./choices.ts";
import { echoDriver } from "./echo.ts";
import { llamaCppDriver } from "./llama-cpp-forcing.ts";
import { PROBE_SIZE, probeScoring } from "./probe.ts";
import { promptLogprobsDriver } from "./prompt-logprobs.ts";
import type { Post, ScoringDriver } from "./scoring-driver.ts";
import { sglangDriver } from "./sglang-generate.ts";
import { shareUsage } from "./share-usage.ts";

/** Texts of one request at most, unless the ports say otherwise. */
export const DEFAULT_TEXTS_PER_REQUEST = 40;
/** Characters of one request's texts: an answer has some 60 bytes for each of the four that a token has, and is no longer than others. */
const MOST_CHARACTERS = 24_000;
/** So long the first text of a request waits for those of rollouts that are about to ask, in milliseconds. */
const LINGER_MS = 10;

const DRIVERS: readonly ScoringDriver[] = [echoDriver, promptLogprobsDriver, sglangDriver, llamaCppDriver];

/** One request of the client that scores: `text` is made when its first attempt holds the permit. */
export type SendScoring = (below: ScoringDriver["below"], path: string, text: () => string, call: SentCall) => Promise<unknown>;

export interface SentCall {
  readonly signal: AbortSignal | null;
  /** Of all that go along, what they have in common. */
  readonly state: () => Readonly<Record<string, unknown>>;
  readonly model: string;
  /** See `ModelCall`; of all calls that go along. */
  readonly onWait: (waiting: boolean) => void;
  /** Characters of all texts that go along, and how many there are, as far as is known now. */
  readonly size: () => { readonly characters: number; readonly texts: number };
  /** The state of each text that goes along, to count what it took. */
  readonly states: () => readonly Readonly<Record<string, unknown>>[];
  /** Null = as any request; else a server's error is taken for its answer when it has been given so often. */
  readonly serverErrors: number | null;
}

/** Scores texts at one place: finds out how, puts what is asked at the same time into one request, and gives each its own. */
export class Scorer {
  readonly #send: SendScoring;
  readonly #ports: ClientPorts;
  readonly #choices: ScoringChoices;
  /** State keys that headers of the run carry: what differs in them does not go together. */
  readonly #keys: readonly string[];
  readonly #open = new Map<string, Batch>();

  constructor(send: SendScoring, ports: ClientPorts, headersFromState: Readonly<Record<string, string>> = {}) {
    this.#send = send;
    this.#ports = ports;
    this.#choices = ports.scoring ?? new ScoringChoices(ports.now);
    this.#keys = Object.values(headersFromState);
  }

  /** Rejects with `RequestFailed` or `OverlongPromptError`, or with the signal's reason. */
  async score(request: ScoreRequest): Promise<PromptScore[]> {
    const { texts, top = 0, ...call } = request;
    if (texts.length === 0) return [];
    const choice = await this.#choices.of(request.model, request.signal, (signal) => this.#probe(request, signal));
    return await Promise.all(texts.map((text) => this.#scoreText({ text: text.toWellFormed(), call }, top, choice)));
  }

  async #probe({ model, state }: ModelCall, signal: AbortSignal): Promise<ScoringChoice> {
    // Whoever asks for it has had no permit yet.
    const onWait = (): void => undefined;
    const choice = await probeScoring(DRIVERS, model, (driver, serverErrors) =>
      this.#post(driver, { signal, serverErrors, model, onWait, size: () => PROBE_SIZE, state: () => state, states: () => [state] }),
    );
    const how = choice.several ? `up to ${this.#mostTexts(choice)} texts a request` : "one text a request";
    this.#ports.onNote?.(`Log-probabilities of prompts: ${model} gives them by ${choice.driver.asks} (${how})`);
    return choice;
  }

  #post({ below }: ScoringDriver, call: SentCall): Post {
    return (path, body) => this.#send(below, path, () => JSON.stringify(body()), call);
  }

  #mostTexts({ several }: ScoringChoice): number {
    return several ? Math.max(1, this.#ports.textsPerRequest ?? DEFAULT_TEXTS_PER_REQUEST) : 1;
  }

  #scoreText(scored: ScoredCall, top: number, choice: ScoringChoice): Promise<PromptScore> {
    const { text, call } = scored;
    if (text === "") return Promise.resolve({ text, tokens: [], usage: null, route: choice.driver.route });
    const key = JSON.stringify([call.model, top, this.#keys.map((name) => call.state[name] ?? null)]);
    const open = this.#open.get(key);
    if (open?.takes(text)) return open.join(scored);
    const batch = new Batch({ texts: this.#mostTexts(choice), characters: MOST_CHARACTERS });
    this.#open.set(key, batch);
    const score = batch.join(scored);
    void this.#fill(batch, call.model, top, choice).finally(() => {
      if (this.#open.get(key) === batch) this.#open.delete(key);
    });
    return score;
  }

  async #fill(batch: Batch, model: string, top: number, choice: ScoringChoice): Promise<void> {
    if (choice.several) await Promise.race([batch.full, this.#ports.sleep(LINGER_MS, batch.signal).catch(() => undefined)]);
    await this.#run(batch, model, top, choice);
  }

  /** Never rejects: each text has its own answer. */
  async #run(batch: Batch, model: string, top: number, { driver, several }: ScoringChoice): Promise<void> {
    const states = (): readonly Readonly<Record<string, unknown>>[] => batch.members.map(({ call }) => call.state);
    const size = (): { characters: number; texts: number } => ({ characters: batch.characters, texts: batch.members.length });
    const onWait = (waiting: boolean): void => batch.waits(waiting);
    const post = this.#post(driver, { signal: batch.signal, serverErrors: null, model, onWait, size, state: () => common(states(), this.#keys), states });
    try {
      const { scores, usage } = await driver.score(post, { model, top, texts: () => batch.seal() });
      const shares =
        usage === null
          ? null
          : shareUsage(
              usage,
              scores.map(({ tokens }) => tokens.length),
            );
      batch.resolve(batch.members.map(({ text }, at) => ({ text, tokens: scores[at]?.tokens ?? [], usage: shares?.[at] ?? null, route: driver.route })));
    } catch (thrown) {
      batch.seal();
      if (batch.members.length < 2 || !isOneTexts(thrown)) batch.reject(thrown);
      else await Promise.all(batch.halves().map((half) => this.#run(half, model, top, { driver, several })));
    }
  }
}

/** Whether a request may have failed by one of its texts: the others are then scored without it. */
const isOneTexts = (thrown: unknown): boolean =>
  thrown instanceof OverlongPromptError ||
  (thrown instanceof RequestFailed && (thrown.failure.code === "bad_request" || thrown.failure.code === "row_too_large"));

/** What headers may say of all of them: the values that do not differ. */
function common(states: readonly Readonly<Record<string, unknown>>[], keys: readonly string[]): Readonly<Record<string, unknown>> {
  const [first, ...others] = states;
  if (first === undefined || others.length === 0) return first ?? {};
  const same = ["example_id", ...keys].filter((key) => others.every((state) => JSON.stringify(state[key]) === JSON.stringify(first[key])));
  return Object.fromEntries(same.flatMap((key) => (Object.hasOwn(first, key) ? [[key, first[key]]] : [])));
}

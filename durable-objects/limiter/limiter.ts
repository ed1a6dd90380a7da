import { DurableObject } from "cloudflare:workers";
import { type Amounts, LIMIT_KINDS } from "../../src/endpoint-limits/limit-kinds.ts";
import { givenAmounts } from "../../src/endpoint-limits/given-limit.ts";
import { bootOf, type Env, runtimeOf } from "../../src/env.ts";
import { EdgewiseError, failureOf, type Result } from "../../src/errors/result.ts";
import { steadyNow } from "../../src/steady-clock.ts";
import { registryStub } from "../stubs.ts";
import { Book } from "./book.ts";
import { type ExchangeAnswer, type ExchangeRequest, LIMITER_PROTOCOL, type LimitedPlace, type LimiterControl, type LimiterView } from "./limiter-control.ts";
import { LimiterStore } from "./limiter-store.ts";

/** A Registry that does not answer is asked again after this; meanwhile what was given holds as it was last known. Milliseconds. */
const AGAIN_MS = 5_000;

/**
 * What all runs, users and executors that use one key of an endpoint share of its limits. It decides in memory (book.ts) and keeps what it knows; while nothing
 * limits it writes nothing.
 */
export class Limiter extends DurableObject<Env> implements LimiterControl {
  readonly #store: LimiterStore;
  /** Fails where another version has stored something. */
  readonly #book: Result<Book>;
  /** Teams that it is known to, and when those are asked again that did not answer. */
  readonly #teams = new Map<string, number>();

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#store = new LimiterStore(ctx.storage);
    const head = this.#store.head();
    this.#book = head.ok ? { ok: true, value: new Book({ stored: head.value, life: `${bootOf(env)} ${runtimeOf(env)}`, now: steadyNow() }) } : head;
  }

  async exchange(request: ExchangeRequest): Promise<ExchangeAnswer> {
    if (!this.#book.ok) return { kind: "refused", message: this.#book.error.message };
    if (request.protocol !== LIMITER_PROTOCOL) {
      return { kind: "refused", message: `the Limiter speaks version ${LIMITER_PROTOCOL} of its protocol, and the executor ${String(request.protocol)}` };
    }
    const book = this.#book.value;
    for (const team of new Set(request.holders.map((holder) => holder.team))) if (this.#isNew(team)) await this.#introduce(book, team, request.place);
    const answer = book.exchange(request, steadyNow());
    this.#keep(book);
    return answer;
  }

  async view(team: string | null): Promise<LimiterView | null> {
    return this.#known().view(team, steadyNow());
  }

  async give(team: string | null, limits: Amounts | null): Promise<void> {
    this.#known().give(team, limits === null || LIMIT_KINDS.every((kind) => limits[kind] === undefined) ? null : limits);
    this.#keep(this.#known());
  }

  async forget(): Promise<void> {
    this.#known().forget(steadyNow());
    this.#keep(this.#known());
  }

  /** Before anything is told: the answer leaves once it is durable. */
  #keep(book: Book): void {
    const unwritten = book.unwritten(steadyNow());
    if (unwritten !== null) this.ctx.storage.transactionSync(() => this.#store.put(unwritten));
  }

  #isNew(team: string): boolean {
    const askAgainAt = this.#teams.get(team);
    return askAgainAt === undefined || steadyNow() >= askAgainAt;
  }

  /** Once in its life for each team that calls it. Others that come meanwhile ask too, which is no harm: none may begin before it is known what was given. */
  async #introduce(book: Book, team: string, place: LimitedPlace): Promise<void> {
    try {
      const { team: own, everybody } = await registryStub(this.env, team).limiterSeen({ team, place, name: this.ctx.id.name ?? "" });
      book.give(team, givenAmounts(own, place));
      // A team that has a key of its own knows nothing of what holds for the service's, which may be the same key.
      if (everybody.length > 0 || ![...this.#teams.values()].includes(Number.POSITIVE_INFINITY)) book.give(null, givenAmounts(everybody, place));
      this.#teams.set(team, Number.POSITIVE_INFINITY);
    } catch (thrown) {
      console.warn(`limiter of ${place.base_url}: what ${team} was given is not known: ${failureOf(thrown).message}`);
      this.#teams.set(team, steadyNow() + AGAIN_MS);
    }
  }

  /** Throws for what another version has stored. */
  #known(): Book {
    if (this.#book.ok) return this.#book.value;
    const { code, message, hint } = this.#book.error;
    throw new EdgewiseError(code, message, hint === undefined ? {} : { hint });
  }
}

import { DurableObject } from "cloudflare:workers";
import { answerKey } from "../../r2-layout/keys.ts";
import { bootOf, type Env, runtimeOf } from "../../src/env.ts";
import { EdgewiseError, failureOf, type Result } from "../../src/errors/result.ts";
import { CACHE_ORPHAN_MS } from "../../src/limits.ts";
import { count } from "../../src/operations.ts";
import { steadyNow } from "../../src/steady-clock.ts";
import { teamPrefix } from "../../src/teams/team-name.ts";
import {
  ANSWER_PROTOCOL,
  type AnswerDeskControl,
  type AnswerStats,
  type DeskAnswer,
  type DeskRequest,
  MAX_CLAIMS,
  type QuestionDigest,
  type Standing,
} from "./answer-desk-control.ts";
import { type AnswerRow, AnswerStore } from "./answer-store.ts";

/** A claim that is not held again is anybody's after this: an executor says three times in it that it still asks. Milliseconds. */
const LEASE_MS = 45_000;
/** Objects that R2 deletes in one call (D r2/api/workers/workers-api-reference). */
const DELETED_AT_ONCE = 1_000;
/** Such calls in one alarm: the next one goes on. */
const DELETIONS = 20;
/** What expires is swept no more often than this, and so long after a sweep that failed. Milliseconds. */
const SWEEP_MS = 60 * 60_000;
const AGAIN_MS = 5 * 60_000;

const NOTHING: AnswerStats = { answers: 0, bytes: 0, oldest_at: null, newest_at: null, expires_at: null, claims: 0 };

/**
 * Knows which of a team's answers are in R2, of those questions whose digests begin with its digit, and who asks one at the moment: so that of all who want an answer
 * one asks, and the others take what comes. Answers never pass through it. What only the object itself may call is private, since a method is there for everybody who has its stub.
 */
export class AnswerDesk extends DurableObject<Env> implements AnswerDeskControl {
  readonly #store: AnswerStore;
  /** Their objects are being deleted: whoever wants one waits until they are gone. */
  readonly #sweeping = new Set<QuestionDigest>();
  #alarmAt: number | null = null;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#store = new AnswerStore(ctx.storage);
  }

  async ask(request: DeskRequest): Promise<DeskAnswer> {
    if (request.protocol !== ANSWER_PROTOCOL)
      return { kind: "refused", message: `kept answers speak version ${ANSWER_PROTOCOL} of their protocol, and the executor ${String(request.protocol)}` };
    if (request.wants.length > MAX_CLAIMS) return { kind: "refused", message: `${request.wants.length} answers are wanted at once, and ${MAX_CLAIMS} may be` };
    const there = this.#store.isThere;
    if (!there.ok) return { kind: "refused", message: there.error.message };
    const now = steadyNow();
    const standings = this.ctx.storage.transactionSync(() => {
      const writes = request.done.length > 0 || (request.claims && request.wants.length > 0);
      if (!there.value && !writes) return request.wants.map((): Standing => "none");
      if (!there.value) this.#store.make(this.#teamOfName());
      return this.#decide(request, now);
    });
    this.#wakeBy(now + CACHE_ORPHAN_MS);
    return { kind: "ok", standings, lease_ms: LEASE_MS };
  }

  async stats(): Promise<AnswerStats> {
    if (!known(this.#store.isThere)) return NOTHING;
    const now = steadyNow();
    return { ...this.#store.stats(now), claims: this.#store.claims(now) };
  }

  async clear(before: number | null, model: string | null): Promise<Pick<AnswerStats, "answers" | "bytes">> {
    if (!known(this.#store.isThere)) return { answers: 0, bytes: 0 };
    const now = steadyNow();
    const cleared = this.ctx.storage.transactionSync(() => this.#store.expire(before ?? Number.MAX_SAFE_INTEGER, model, now));
    if (cleared.answers > 0) await this.#setAlarm(now);
    return cleared;
  }

  override async alarm(): Promise<void> {
    this.#alarmAt = null;
    if (!known(this.#store.isThere)) return;
    try {
      const isOver = await this.#sweep();
      const next = this.#store.nextExpiry;
      if (next !== null) await this.#setAlarm(isOver ? Math.max(next, steadyNow() + SWEEP_MS) : steadyNow());
    } catch (thrown) {
      console.warn(`kept answers of ${this.#store.team}: what expired is not deleted yet: ${failureOf(thrown).message}`);
      await this.#setAlarm(steadyNow() + AGAIN_MS);
    }
  }

  #decide({ party, wants, claims, missing, done, dropped, holds }: DeskRequest, now: number): readonly Standing[] {
    const store = this.#store;
    for (const answer of done) store.keep(answer);
    for (const digest of dropped) store.drop(digest, party.executor);
    for (const digest of holds) store.hold(digest, party.executor, now + LEASE_MS, now + CACHE_ORPHAN_MS);
    const gone = new Set(missing);
    const life = `${party.boot} ${party.runtime}`;
    return wants.map((digest): Standing => {
      if (this.#sweeping.has(digest)) return claims ? "wait" : "none";
      const row = store.row(digest);
      if (row !== null && row.stored_at > 0 && row.expires_at > now && !gone.has(digest)) return "kept";
      if (!claims) return "none";
      if (row !== null && this.#isHeld(row, now)) return "wait";
      store.claim({ digest, holder: party.executor, life, held_until: now + LEASE_MS, expires_at: now + CACHE_ORPHAN_MS });
      return "yours";
    });
  }

  /** Of an earlier boot or life of the process nobody is left who would say that he is gone. */
  #isHeld({ holder, life, held_until }: AnswerRow, now: number): boolean {
    return holder !== null && held_until > now && life === `${bootOf(this.env)} ${runtimeOf(this.env)}`;
  }

  /** Whether nothing is left that has expired. */
  async #sweep(): Promise<boolean> {
    const prefix = teamPrefix(this.#store.team);
    for (let calls = 0; calls < DELETIONS; calls++) {
      const digests = this.#store.expired(steadyNow(), DELETED_AT_ONCE);
      if (digests.length === 0) return true;
      for (const digest of digests) this.#sweeping.add(digest);
      try {
        count("r2_class_a");
        await this.env.BUCKET.delete(digests.map((digest) => `${prefix}${answerKey(digest)}`));
        this.ctx.storage.transactionSync(() => this.#store.remove(digests));
      } finally {
        this.#sweeping.clear();
      }
    }
    return false;
  }

  /** An alarm that is nearer stays. */
  #wakeBy(at: number): void {
    if (this.#alarmAt !== null && this.#alarmAt <= at) return;
    this.#alarmAt = at;
    void this.ctx.storage.getAlarm().then((set) => (set === null || set > Date.now() + at - steadyNow() ? this.#setAlarm(at) : undefined));
  }

  /** The platform goes by the machine's clock. */
  async #setAlarm(at: number): Promise<void> {
    this.#alarmAt = at;
    await this.ctx.storage.setAlarm(Date.now() + Math.max(0, at - steadyNow()));
  }

  /** Its name is `{team}/{digit}`; whoever wakes it by its alarm does not say it. */
  #teamOfName(): string {
    return (this.ctx.id.name ?? "").split("/")[0] ?? "";
  }
}

/** Throws for what another version has stored. */
function known(there: Result<boolean>): boolean {
  if (there.ok) return there.value;
  const { code, message, hint } = there.error;
  throw new EdgewiseError(code, message, hint === undefined ? {} : { hint });
}

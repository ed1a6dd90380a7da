import type { ToEngine, ToEngineOf } from "../environment-protocol/to-engine.ts";
import { noScores } from "../clients/scoring/score-texts.ts";
import { thrownOf } from "../environment-protocol/crossed-error.ts";
import type { EdgewiseError, Failure } from "../errors/result.ts";
import { ROLLOUT_ERRORS, type RolloutErrorCode } from "../errors/codes.ts";
import { isRolloutErrorCode } from "../rollouts/failure.ts";
import { CallWaits, type WatchedCall } from "../environments/unit/call-waits.ts";
import { MAX_WALLED_CALLS, SCORING_GRACE_MS, WALLED_ABORT_MS } from "../limits.ts";
import type { Client } from "../rollouts/types.ts";
import type { AskingUnit } from "./model-answers.ts";
import { StandIns } from "./stand-ins.ts";

/** What a unit may say to the other side. */
export interface UnitLine {
  readonly number: number;
  readonly say: (message: object, characters?: number) => void;
  readonly now: () => number;
}

export interface UnitTerms {
  readonly client: Client | null;
  readonly model: string;
  readonly exampleId: number;
  /** Rollouts, and attempts at each. */
  readonly rollouts: number;
  readonly attempts: number;
  readonly scoringTurn: (() => Promise<void>) | undefined;
  readonly deadlineMs: number | null;
}

/** A unit as its conversation knows it. */
export interface OpenUnit extends AskingUnit {
  readonly isOver: boolean;
  /** Milliseconds since it was heard of; 0 while it waits for this side. */
  silence(now: number): number;
  /** Whether it has had more time than a unit may take, and as much again as its end may. */
  isLate(now: number): boolean;
  /** A message that names this unit. Never throws. */
  take(message: ToEngine): void;
  /** The environment broke: what is there of the unit, with an error for what is not. */
  broken(code: RolloutErrorCode, problem: string): void;
  /** It was ended from this side, and is not waited for any more. */
  cut(): void;
}

/** A unit that is played behind the wall, on this side: what is common to rollouts that are played and rows that are scored. */
export abstract class WalledUnit<Outcome> implements OpenUnit {
  readonly client: Client | null;
  readonly model: string;
  readonly exampleId: number;
  readonly mostCalls: number;
  calls = 0;
  /** When it was heard of last, by the line's clock. */
  heardAt: number;
  protected readonly line: UnitLine;
  protected readonly standIns: StandIns;
  readonly #refusals = new Map<RolloutErrorCode, Failure>();
  readonly #scoringTurn: (() => Promise<void>) | undefined;
  /** It waits for something of this side, and is not silent. */
  #waits = 0;
  /** When its time began: with it, its first permit, a turn that was kept or its turn to be scored. */
  #begunAt: number;
  #hasPermit = false;
  /** Milliseconds since then in which all that it asked waited to be sent, and since when it does; null while it does not. */
  #stood = 0;
  #stillAt: number | null = null;
  readonly #calls = new CallWaits((still) => this.#stand(still));
  readonly #mostMs: number | null;
  readonly #outcome = Promise.withResolvers<Outcome>();
  #isOver = false;

  constructor(line: UnitLine, { client, model, exampleId, rollouts, attempts, scoringTurn, deadlineMs }: UnitTerms) {
    this.line = line;
    this.client = client;
    this.model = model;
    this.exampleId = exampleId;
    this.mostCalls = MAX_WALLED_CALLS * Math.max(1, rollouts);
    this.heardAt = line.now();
    this.#begunAt = this.heardAt;
    this.#mostMs = deadlineMs === null ? null : deadlineMs + SCORING_GRACE_MS + WALLED_ABORT_MS;
    this.standIns = new StandIns(exampleId, rollouts * attempts + 16);
    this.#scoringTurn = scoringTurn;
  }

  get outcome(): Promise<Outcome> {
    return this.#outcome.promise;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  silence(now: number): number {
    return this.calls > 0 || this.#waits > 0 ? 0 : now - this.heardAt;
  }

  isLate(now: number): boolean {
    if (this.#mostMs === null || this.#waits > 0 || (this.calls > 0 && !this.#hasPermit)) return false;
    return (this.#stillAt ?? now) - this.#begunAt - this.#stood > this.#mostMs;
  }

  #stand(still: boolean): void {
    const now = this.line.now();
    if (this.#stillAt !== null) this.#stood += now - this.#stillAt;
    this.#stillAt = still ? now : null;
  }

  /** Its time begins anew. */
  protected beginAnew(): void {
    this.#begunAt = this.line.now();
    this.#stood = 0;
    if (this.#stillAt !== null) this.#stillAt = this.#begunAt;
  }

  /** It makes a call. */
  readonly called = (): WatchedCall => this.#calls.begin();

  readonly permitted = (): void => {
    if (this.#hasPermit) return;
    this.#hasPermit = true;
    this.beginAnew();
  };
  readonly standIn = (state: number, rollout?: number): Readonly<Record<string, unknown>> => this.standIns.of(state, rollout);
  readonly heard = (): void => {
    this.heardAt = this.line.now();
  };
  readonly refused = ({ code, message, hint }: EdgewiseError): void => {
    if (isRolloutErrorCode(code) && ROLLOUT_ERRORS[code].fatal) this.#refusals.set(code, { code, message, ...(hint === undefined ? {} : { hint }) });
  };

  /** What a server refused for good in this unit, under that code. */
  protected refusalOf(code: RolloutErrorCode): Failure | undefined {
    // The other side knows it of such a client, and does not ask.
    if (code === "prompt_logprobs_unsupported" && this.client !== null && this.client.score === undefined) this.refused(noScores(this.client));
    return this.#refusals.get(code);
  }

  protected readonly wasRefused = (code: RolloutErrorCode): boolean => this.refusalOf(code) !== undefined;

  take(message: ToEngine): void {
    if (this.#isOver) return;
    this.heard();
    try {
      if (message.type === "generated_all") this.#awaitTurn();
      else if (message.type === "unit_failed") this.#fault(message);
      else this.said(message);
    } catch (thrown) {
      this.reject(thrown);
    }
  }

  broken(code: RolloutErrorCode, problem: string): void {
    if (this.#isOver) return;
    try {
      this.giveUp(code, problem);
    } catch (thrown) {
      this.reject(thrown);
    }
  }

  protected abstract said(message: ToEngine): void;
  protected abstract giveUp(code: RolloutErrorCode, problem: string): void;
  abstract cut(): void;

  protected resolve(outcome: Outcome): void {
    this.#isOver = true;
    this.#outcome.resolve(outcome);
  }

  reject(thrown: unknown): void {
    this.#isOver = true;
    this.#outcome.reject(thrown);
  }

  #awaitTurn(): void {
    const turn = this.#scoringTurn;
    if (turn === undefined || this.#waits > 0) return;
    this.#waits++;
    turn().then(
      () => {
        this.#waits--;
        this.heard();
        this.beginAnew();
        this.line.say({ type: "scoring_turn", unit: this.line.number });
      },
      // Whoever ends the wait ends the unit.
      () => undefined,
    );
  }

  #fault({ error }: ToEngineOf<"unit_failed">): void {
    this.broken("environment_error", `it could not play the example: ${thrownOf(error).message}`);
  }
}

import type { Answer } from "../../../durable-objects/run/transition.ts";
import type { MemoryLedger } from "../../support/run/memory-ledger.ts";
import { broken } from "../invariants.ts";

/** So long a run that has ended scores the rest, and a moment more for whoever is at it. Milliseconds. */
const SCORED_MS = 120_000;
const MOST_ATTEMPTS = 2;

/** What must hold of a run that was cancelled, or reached its limit: what is generated is scored before it rests, within bounds. */
export class LastScores {
  /** Its user cancelled again, or whoever was to score cannot. */
  isCut = false;
  #ended = 0;
  #isOver = true;
  /** What was open when it ended has ended too. */
  #hasBegun = false;
  readonly #attempts = new Map<number, number>();

  /** After each transaction. */
  check(ledger: MemoryLedger, now: number): void {
    const head = ledger.head();
    if (head === null) return;
    const { phase, status, ended_at } = head;
    if (phase === "preparing" || phase === "open") {
      this.#isOver = false;
      this.#hasBegun = false;
      this.isCut = false;
      this.#attempts.clear();
    }
    this.#hasBegun ||= head.last_scores !== undefined;
    if (phase === "draining" && ledger.ticketRows.size > 0 && !this.#hasBegun) this.#ended = now;
    if (this.#isOver || (phase !== "finalising" && phase !== "settled")) return;
    this.#isOver = true;
    if ((status !== "CANCELLED" && status !== "TIMEOUT") || this.isCut) return;
    const waited = now - Math.max(this.#ended, ended_at ?? 0);
    const left = generated(ledger).filter((unit) => (this.#attempts.get(unit) ?? 0) < MOST_ATTEMPTS);
    if (left.length > 0 && waited < SCORED_MS) broken(`units ${left.join()} are generated, and the run rests after ${waited} ms without their scores`);
  }

  /** A block that a claim is answered with for the first time. */
  handsOut(ledger: MemoryLedger, block: Extract<Answer<"claim">, { kind: "block" }>): void {
    if (ledger.head()?.phase !== "draining") return;
    for (let unit = block.lo; unit < block.hi; unit++) {
      const attempts = (this.#attempts.get(unit) ?? 0) + 1;
      if (attempts > MOST_ATTEMPTS) broken(`unit ${unit} is handed out ${attempts} times for its scores after the end of its run`);
      this.#attempts.set(unit, attempts);
    }
  }
}

/** Units that wait, none of which would have to be generated: kept, or a row that stays. */
function generated(ledger: MemoryLedger): number[] {
  const { rollouts_per_example: r } = ledger.config();
  const waiting = [...ledger.returned.values()].flatMap(({ lo, hi }) => Array.from({ length: hi - lo }, (_, at) => lo + at));
  return waiting.filter((unit) => {
    const kept = new Set(ledger.piecesIn({ lo: unit, hi: unit + 1 }).flatMap(({ rollouts, unscored = [] }) => [...rollouts, ...unscored]));
    return kept.size === r;
  });
}

import { canonicalJson } from "../../src/config/canonical-json.ts";
import { driftOccurrences } from "../../src/drift/drift-occurrences.ts";
import {
  type ComparisonOrder,
  type ComparisonOutcome,
  type DriftEvent,
  type DriftState,
  type DriftStep,
  nextComparison,
  resetDrift,
  runCompared,
  runEnded,
} from "../../src/drift/series.ts";
import { driftOf, type ScheduleDefinition } from "../../src/schedules/definition.ts";
import type { Note, Order } from "../../src/schedules/state.ts";
import { execute } from "../counted-sql.ts";
import type { ScheduleStore } from "./schedule-store.ts";

/** Waits between requests for one comparison. */
const FIRST_WAIT_MS = 5_000;
const LAST_WAIT_MS = 5 * 60_000;
/** After so many, an hour and more, its run stays without a verdict: those after it wait. */
const MOST_TRIES = 20;

interface DriftRow extends Record<string, SqlStorageValue> {
  readonly state: string;
  readonly tries: number;
  readonly retry_at: number;
}

/** What a schedule knows of its drift, in a table that the first run that ends makes. Called within the object's transactions. */
export class DriftBook {
  readonly #sql: SqlStorage;
  readonly #store: ScheduleStore;
  constructor(sql: SqlStorage, store: ScheduleStore) {
    this.#sql = sql;
    this.#store = store;
  }

  /** Null where no run has ended since there is such a thing. */
  get state(): DriftState | null {
    const row = this.#row();
    return row === undefined ? null : (JSON.parse(row.state) as DriftState);
  }

  /** Takes the run of a note that it has ended. */
  ended({ run_id, seen }: Extract<Note, { note: "ended" }>, { definition }: Order, current: ScheduleDefinition, now: number): void {
    if (seen === null) return;
    const settings = driftOf(current);
    const { dataset_digest, env_digest, rollouts, errored, stopped } = seen;
    const status = seen.suspended ? "SUSPENDED" : seen.status;
    const of = canonicalJson({ drift: settings, eval: definition.eval } as never);
    const ruler = { of, dataset_digest, env_digest };
    this.#take(runEnded(this.state, { run_id, status, rollouts, errored, stopped, ruler }, settings, now), now);
  }

  /** Whether there was a comparison of this run to be made. */
  compared(run_id: string, outcome: ComparisonOutcome, now: number): boolean {
    const { state } = this;
    const step = state === null ? null : runCompared(state, run_id, outcome, now);
    this.#take(step, now);
    return step !== null;
  }

  reset(now: number): void {
    const { state } = this;
    if (state !== null) this.#take(resetDrift(state, now), now);
  }

  /** The comparison that is to be made next, of this run. */
  order(run_id: string): ComparisonOrder | null {
    const { state } = this;
    const order = state === null ? null : nextComparison(state);
    return order?.run_id === run_id ? order : null;
  }

  /** The run whose comparison is to be sent for now; it is sent for again until somebody tells what came of it. */
  due(now: number): string | null {
    const row = this.#row();
    const [run_id] = this.state?.waiting ?? [];
    if (row === undefined || run_id === undefined || row.retry_at > now) return null;
    if (row.tries >= MOST_TRIES) {
      this.compared(run_id, { kind: "unjudged", reason: "it could not be compared, however often that was tried: the service's log has the cause" }, now);
      return this.due(now);
    }
    this.#rows("UPDATE drift SET tries = tries + 1, retry_at = ?", now + Math.min(LAST_WAIT_MS, FIRST_WAIT_MS * 2 ** row.tries));
    return run_id;
  }

  wakeAt(): number | null {
    const row = this.#row();
    return row === undefined || this.state?.waiting.length === 0 ? null : row.retry_at;
  }

  /** Runs that are read again: they are not deleted, however old. */
  needed(): readonly string[] {
    const { state } = this;
    return state === null ? [] : [...state.baseline, ...state.waiting];
  }

  #take(step: DriftStep | null, now: number): void {
    if (step === null) return;
    const before = this.#row();
    const state = JSON.stringify(step.state);
    if (before === undefined) {
      this.#rows("CREATE TABLE IF NOT EXISTS drift (state TEXT NOT NULL, tries INTEGER NOT NULL, retry_at INTEGER NOT NULL)");
      this.#rows("INSERT INTO drift VALUES (?, 0, ?)", state, now);
    } else {
      const same = (JSON.parse(before.state) as DriftState).waiting[0] === step.state.waiting[0];
      this.#rows("UPDATE drift SET state = ?, tries = ?, retry_at = ?", state, same ? before.tries : 0, same ? before.retry_at : now);
    }
    for (const { run_id, drift } of step.verdicts) this.#store.judge(run_id, drift);
    this.#store.note(
      step.events.map((event): Note => ({ note: "event", event })),
      now,
    );
    this.#owe(step.events, now);
  }

  #owe(events: readonly DriftEvent[], now: number): void {
    const head = this.#store.head();
    if (events.length === 0 || !head.ok || head.value === null) return;
    const { name, id, definition } = head.value.state;
    const { env_id } = definition.eval;
    const owner = { name, id, env: typeof env_id === "string" ? env_id : null };
    this.#store.oweAlerts(driftOccurrences(owner, events, this.#store.alerting(), now));
  }

  #row(): DriftRow | undefined {
    if (this.#rows("SELECT 1 FROM sqlite_master WHERE name = 'drift'").length === 0) return undefined;
    return this.#rows<DriftRow>("SELECT state, tries, retry_at FROM drift")[0];
  }

  #rows<Row extends Record<string, SqlStorageValue>>(statement: string, ...values: SqlStorageValue[]): Row[] {
    return execute<Row>(this.#sql, statement, ...values);
  }
}

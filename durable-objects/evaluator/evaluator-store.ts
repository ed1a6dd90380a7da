import { ok, type Result } from "../../src/errors/result.ts";
import type { EvaluatorState, Note, StepEnd, StepRecord } from "../../src/training/state.ts";
import { execute } from "../counted-sql.ts";
import { hasTables, makeTables } from "../stored-schema.ts";
import type { RecordPage } from "./evaluator-control.ts";

/** Version of the tables below and of what stands in them. */
const SCHEMA = 1;

/**
 * `head`: one row. `version` counts changes of what lists show, `projected` is the last of them that the Registry has; `delivered`: the highest `seq` that was
 * posted to where the definition says. `record`: the series, a row for each evaluation of a step; `seq` numbers them in the order in which they were finished,
 * null = it is not; the details as JSON.
 */
const TABLES = `
  CREATE TABLE head (version INTEGER NOT NULL, projected INTEGER NOT NULL, team TEXT NOT NULL, delivered INTEGER NOT NULL, state TEXT NOT NULL);
  CREATE TABLE record (step INTEGER NOT NULL, evaluation TEXT NOT NULL, seq INTEGER, detail TEXT NOT NULL, PRIMARY KEY (step, evaluation)) WITHOUT ROWID;
  CREATE UNIQUE INDEX record_by_seq ON record (seq) WHERE seq IS NOT NULL;
`;

/** Finished evaluations that are kept. */
const MOST_ROWS = 10_000;

type Value = SqlStorageValue;
interface RecordRow extends Record<string, Value> {
  readonly step: number;
  readonly evaluation: string;
  readonly seq: number | null;
  readonly detail: string;
}
type Detail = Omit<StepRecord, "step" | "evaluation" | "seq">;

export interface EvaluatorHead {
  readonly version: number;
  readonly projected: number;
  readonly team: string;
  readonly delivered: number;
  readonly state: EvaluatorState;
}
interface HeadRow extends Record<string, Value> {
  readonly version: number;
  readonly projected: number;
  readonly team: string;
  readonly delivered: number;
  readonly state: string;
}

/** SQL of an evaluator; the only place that knows its tables. */
export class EvaluatorStore {
  readonly #storage: DurableObjectStorage;
  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
  }

  /** Null where nothing was ever stored, or all of it is deleted. Fails for what another version has stored. */
  head(): Result<EvaluatorHead | null> {
    const tables = hasTables(this.#storage.sql, "evaluator", SCHEMA);
    if (!tables.ok) return tables;
    if (!tables.value) return ok(null);
    const [row] = this.#rows<HeadRow>("SELECT * FROM head");
    return ok(row === undefined ? null : { ...row, state: JSON.parse(row.state) as EvaluatorState });
  }

  make({ version, projected, team, delivered, state }: EvaluatorHead): void {
    makeTables(this.#storage.sql, TABLES, SCHEMA);
    this.#rows("INSERT INTO head VALUES (?, ?, ?, ?, ?)", version, projected, team, delivered, JSON.stringify(state));
  }

  put({ version, projected, state }: EvaluatorHead): void {
    this.#rows("UPDATE head SET version = ?, projected = ?, state = ?", version, projected, JSON.stringify(state));
  }
  projected(version: number): void {
    this.#rows("UPDATE head SET projected = ? WHERE projected < ?", version, version);
  }
  delivered(through: number): void {
    this.#rows("UPDATE head SET delivered = ? WHERE delivered < ?", through, through);
  }

  note(notes: readonly Note[], now: number): void {
    for (const note of notes) {
      if (note.note === "retargeted") this.#rows("UPDATE head SET delivered = 0");
      else if (note.note === "posted") {
        const detail: Detail = { model: note.posted.model, posted_at: now, run_id: null, ended_at: null, end: null };
        this.#rows("INSERT OR IGNORE INTO record VALUES (?, ?, NULL, ?)", note.posted.step, note.evaluation, JSON.stringify(detail));
      } else if (note.note === "created") this.#change(note, { run_id: note.run_id });
      else this.#ended(note, now);
    }
  }

  /** In the order of steps, the highest `most`. */
  records(most: number): StepRecord[] {
    return this.#rows<RecordRow>("SELECT * FROM record ORDER BY step DESC, evaluation DESC LIMIT ?", most).map(recordOf).reverse();
  }
  ofStep(step: number): StepRecord[] {
    return this.#rows<RecordRow>("SELECT * FROM record WHERE step = ? ORDER BY evaluation", step).map(recordOf);
  }
  /** The one that was finished last. */
  last(): StepRecord | null {
    const [row] = this.#rows<RecordRow>("SELECT * FROM record WHERE seq IS NOT NULL ORDER BY seq DESC LIMIT 1");
    return row === undefined ? null : recordOf(row);
  }

  finished(after: number, most: number): RecordPage {
    const rows = this.#rows<RecordRow>("SELECT * FROM record WHERE seq > ? ORDER BY seq LIMIT ?", after, most + 1);
    const records = rows.slice(0, most).map(recordOf);
    return { records, through: records.at(-1)?.seq ?? after, more: rows.length > most };
  }

  #change({ step, evaluation }: { readonly step: number; readonly evaluation: string }, changes: Partial<Detail>): void {
    const [row] = this.#rows<RecordRow>("SELECT * FROM record WHERE step = ? AND evaluation = ?", step, evaluation);
    if (row === undefined) return;
    const detail: Detail = { ...(JSON.parse(row.detail) as Detail), ...changes };
    this.#rows("UPDATE record SET detail = ? WHERE step = ? AND evaluation = ?", JSON.stringify(detail), step, evaluation);
  }

  #ended(note: { readonly step: number; readonly evaluation: string; readonly end: StepEnd }, now: number): void {
    this.#change(note, { ended_at: now, end: note.end });
    this.#rows(
      "UPDATE record SET seq = (SELECT coalesce(max(seq), 0) + 1 FROM record WHERE seq IS NOT NULL) WHERE step = ? AND evaluation = ? AND seq IS NULL",
      note.step,
      note.evaluation,
    );
    this.#rows("DELETE FROM record WHERE seq <= (SELECT max(seq) FROM record WHERE seq IS NOT NULL) - ?", MOST_ROWS);
  }

  #rows<Row extends Record<string, Value>>(statement: string, ...values: Value[]): Row[] {
    return execute<Row>(this.#storage.sql, statement, ...values);
  }
}

const recordOf = ({ step, evaluation, seq, detail }: RecordRow): StepRecord => ({ step, evaluation, seq, ...(JSON.parse(detail) as Detail) });

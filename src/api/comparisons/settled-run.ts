import { outputKey } from "../../../r2-layout/keys.ts";
import type { ErrorCode } from "../../errors/codes.ts";
import { EdgewiseError, type Failure } from "../../errors/result.ts";
import { resultLines } from "../../exports/result-lines.ts";
import { type RunFacts, runFacts } from "../../exports/run-facts.ts";
import { neededRow } from "../../rollouts/rows/stored-row.ts";
import type { AppPorts } from "../app-ports.ts";
import { expectedFailure } from "../errors.ts";
import { readTwice } from "../read-twice.ts";
import { resultsObject } from "../runs/results-object.ts";

export interface SettledRun {
  readonly id: string;
  readonly model: string;
  /** `metadata.json`, parsed. */
  readonly metadata: unknown;
  readonly facts: RunFacts;
  /** Key of `results.jsonl`, and its size. */
  readonly rows: string;
  readonly bytes: number;
  /** Examples that it has by its plan, and attempts of each. */
  readonly shape: RunShape;
}

export interface RunShape {
  readonly examples: number;
  readonly rollouts: number;
}

/** What scores are gathered in: a table that takes rows, numbered from 1, and says how many examples it has. */
interface RowTable {
  readonly examples: number;
  add(row: Readonly<Record<string, unknown>>, number: number): void;
}

type Ports = Pick<AppPorts, "store" | "run">;

const missing = (id: string): EdgewiseError => new EdgewiseError("storage_unavailable", `The results of run ${id} are missing in storage.`);

/** What there is to know of a run before its rows are read. Throws `not_found`, `run_busy`, and `storage_unavailable`. */
export async function settledRun({ store, run }: Ports, id: string): Promise<SettledRun> {
  const view = await readTwice(
    () => run(id),
    (stub) => stub.view(),
  );
  if (view === null) throw new EdgewiseError("not_found", `Evaluation ${id} not found.`);
  if (view.phase !== "settled")
    throw new EdgewiseError("run_busy", `The results of run ${id} are not complete yet.`, { hint: "Follow the run to its end, then compare it." });
  const { env_id, model, run_id } = view.config;
  const file = await store.read(outputKey(env_id, model, run_id, "metadata.json"));
  const metadata: unknown = file === null ? null : await new Response(file).json();
  const facts = runFacts(metadata);
  if (facts === null) throw missing(id);
  const { key, size } = await resultsObject({ store }, view);
  return { id, model, metadata, facts, rows: key, bytes: size, shape: { examples: view.units.total, rollouts: view.config.rollouts_per_example } };
}

/** Adds its rows, a row in memory at a time, and says how many they are. Throws `tooMany` as soon as there are more than so many examples, `row_unreadable`, and `storage_unavailable`. */
export async function addScores({ store }: Ports, { id, rows, bytes }: SettledRun, table: RowTable, most: number, tooMany: () => Error): Promise<number> {
  const stream = await store.read(rows);
  if (stream === null && bytes > 0) throw missing(id);
  let number = 0;
  for await (const { text } of resultLines(stream, 0)) {
    table.add(neededRow(text, `Row ${++number} of run ${id}`), number);
    if (table.examples > most) throw tooMany();
  }
  return number;
}

/** What may be otherwise in a while. */
const PASSING: readonly ErrorCode[] = ["storage_unavailable", "run_busy", "internal"];

/** Why there will be nothing to read of a run, whenever it is tried. What may be otherwise in a while, and what nobody expected, is thrown again. */
export function lastingFailure(thrown: unknown): Failure {
  const failure = expectedFailure(thrown);
  if (failure === null || PASSING.includes(failure.code)) throw thrown;
  return failure;
}

import type { RunFacts } from "../../exports/run-facts.ts";
import { type ForeignRow, readForeignRow } from "../../rollouts/rows/foreign-row.ts";
import type { ServiceClient } from "../connection/http-client.ts";
import { CliError } from "../terminal/cli-error.ts";

/** A row as it stands in `results.jsonl`. */
export interface OpenedRow extends ForeignRow {
  /** Which row of the file it is, from 1. */
  readonly number: number;
}

export interface KeptRun {
  readonly client: ServiceClient;
  readonly id: string;
}

/** The rows and the metadata of one run, wherever they are: a results folder, or a service. */
export interface OpenedRun {
  /** As a person named it. */
  readonly name: string;
  readonly facts: RunFacts;
  /** `metadata.json`, parsed. */
  readonly metadata: unknown;
  /** Metrics that its rows have, in first-seen order. */
  readonly metrics: readonly string[];
  /** What a reader should know of these rows; empty when they are all there will be. */
  readonly notes: readonly string[];
  /** The file `results.jsonl` as it is; null of a run that has not ended, whose file is not written yet. */
  readonly bytes: (() => AsyncIterable<Uint8Array>) | null;
  /** The service that has it, and its id there; absent of a folder or an export. */
  readonly kept?: KeptRun;
  /** From the first one; a row at a time is in memory. Throws a `CliError` that names the row that cannot be read. */
  rows(): AsyncGenerator<OpenedRow>;
}

/** Reads one line. Throws a `CliError`. */
export function openedRow(text: string, number: number, name: string): OpenedRow {
  try {
    return { ...readForeignRow(text), number };
  } catch {
    throw new CliError(`row ${number} of ${name} is no JSON object`, {
      hints: ["Export an unchanged results folder, or remove that line. What is in it: npx edgewise eval view"],
    });
  }
}

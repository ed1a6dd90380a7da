import type { DonePlace, Suspect } from "./ledger.ts";

/** Rows of SQLite as they come, and what they say. */

type Value = SqlStorageValue;
export interface DoneRecord extends Record<string, Value> {
  unit: number;
  segment: string;
  start: number;
  length: number;
  owed: number;
  missing: string | null;
  summary: string;
}

export const placeOf = ({ unit, segment, start, length, owed }: DoneRecord): DonePlace => ({ unit, segment, offset: start, length, owed: owed === 1 });

export function readSuspect(row: Record<string, Value>): Suspect {
  return { unit: Number(row.unit), lapses: Number(row.lapses), alone: Number(row.alone), waiting: row.waiting === 1 };
}

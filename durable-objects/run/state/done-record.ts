import type { DonePlace } from "./ledger.ts";

/** A row of the table `done`. */
export interface DoneRecord extends Record<string, SqlStorageValue> {
  unit: number;
  segment: string;
  start: number;
  length: number;
  owed: number;
  missing: string | null;
  summary: string;
}

export const placeOf = ({ unit, segment, start, length, owed }: DoneRecord): DonePlace => ({ unit, segment, offset: start, length, owed: owed === 1 });

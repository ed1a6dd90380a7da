import { isInfrastructureError, isScorerError, type RolloutErrorCode } from "../../errors/codes.ts";

/** How many rows a folder has, and of them those that a resume does again. */
export interface RowCounts {
  rows: number;
  /** Ended by the infrastructure. */
  infrastructure: number;
  /** Ended in a scorer error. */
  scorer: number;
}

export function countRow(counts: RowCounts, code: RolloutErrorCode | null): void {
  counts.rows++;
  if (code !== null && isInfrastructureError(code)) counts.infrastructure++;
  if (code !== null && isScorerError(code)) counts.scorer++;
}

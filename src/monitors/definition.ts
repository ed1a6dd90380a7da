import { spanOf } from "../config/span.ts";

/** When a monitor's job is expected, in texts such as `90s` or `5m`. */
export interface MonitorDefinition {
  /** A beat is expected within so much of the one before. */
  readonly every: string;
  /** How much later it may come until it is lost. */
  readonly grace: string;
}

export interface Spans {
  readonly every: number;
  readonly grace: number;
}

/** In milliseconds. */
export const spansOf = ({ every, grace }: MonitorDefinition): Spans => ({ every: spanOf(every) ?? 0, grace: spanOf(grace) ?? 0 });

const MOST_UNWRITTEN_MS = 60_000;

/** For so long, in milliseconds, after one that was written down beats are kept in memory only: what is lost with it is not older. */
export const unwrittenFor = ({ every }: Spans): number => Math.min(Math.floor(every / 5), MOST_UNWRITTEN_MS);

/** Expected of a run that beats each `heartbeatMs` milliseconds: three that are missing in a row are a reason to worry. */
export function definitionOfRuns(heartbeatMs: number): MonitorDefinition {
  const seconds = Math.ceil((4 * heartbeatMs) / 1_000);
  return { every: `${seconds}s`, grace: `${Math.ceil(seconds / 2)}s` };
}

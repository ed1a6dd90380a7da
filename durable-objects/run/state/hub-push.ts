import type { Failure } from "../../../src/errors/result.ts";

/** The push of a settled run to the Hub: asked for of the queue until somebody says what came of it. */
export interface HubPush {
  readonly due: boolean;
  readonly tries: number;
  readonly retry_at: number;
  /** The data set, once all of it is there. */
  readonly url?: string;
  /** Of the push; null = all of it was there already. Absent before, and in heads of before. */
  readonly commit?: string | null;
  /** Of the last attempt; the end of it where nothing is due. */
  readonly failure?: Failure;
}

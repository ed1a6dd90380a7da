import type { Operations } from "../../src/operations.ts";

/** One run of `arithmetic` at r = 1 in a deployment, with a model that takes so long. */
export interface Priced {
  readonly model_ms: number;
  readonly lanes: number;
  readonly units: number;
}

export interface Counted {
  readonly operations: Operations;
  /** From the creation to the final files, on the simulated clock. */
  readonly ms: number;
  readonly done: number;
}

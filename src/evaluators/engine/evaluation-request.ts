/** What library code asks for of one run, and under which name the service knows that it was asked before. */
import { createHash } from "node:crypto";
import type { GivenOptions } from "../../config/options/options.ts";
import type { JsonObject } from "../../config/plan/run-config.ts";
import type { RunState } from "../../cli/connection/api-types.ts";

export interface EvaluationRequest {
  /** An id, or one of the paths that the engine was connected with. */
  readonly environment: string;
  /** Settings of the run by their names in config files (docs/options.md): `model`, `api_base_url`, `num_examples`, `sampling_args`, `env_args` … */
  readonly options: GivenOptions;
  /**
   * Names the evaluation for ever: whoever asks under it again, with the same settings, gets the same run, at work or finished. Absent = a run of the
   * same settings is gone on with while it is unfinished, and one that has finished is followed by a new one.
   */
  readonly key?: string;
  /** Stops the waiting; the run goes on, and asking again attaches to it. */
  readonly signal?: AbortSignal;
  /** Hears how far the run is. */
  readonly onState?: (state: RunState) => void;
}

/** sha256 in hex over what is asked for, the order of its keys left out of account. */
export const digestOf = (body: JsonObject): string => createHash("sha256").update(canonical(body)).digest("hex");

const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, part: unknown) =>
    part !== null && typeof part === "object" && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)))
      : part,
  );

import type { Json, JsonObject } from "../../config/plan/run-config.ts";
import type { RunStatus } from "../../config/run-status.ts";

/** Logs that can be imported, by the program that wrote them. */
export const IMPORT_FORMATS = ["inspect", "lm-eval", "promptfoo", "openai-evals", "verifiers"] as const;
export type ImportFormat = (typeof IMPORT_FORMATS)[number];

/** One rollout of another program's run. What that does not say is null or absent; nothing is made up. */
export interface ImportedRollout {
  /** Order of the example in its data set, from 0; null where it is not known which rollouts are of one example. */
  readonly example: number | null;
  /** Which attempt at it this is, from 0; null: in the order in which they come. */
  readonly rollout: number | null;
  /** How the program names the example. */
  readonly sourceId: Json;
  readonly task: string | null;
  readonly prompt: Json;
  readonly completion: Json;
  readonly answer: Json;
  readonly info: JsonObject;
  readonly reward: number | null;
  readonly metrics: Readonly<Record<string, number>>;
  readonly error: ImportedError | null;
  /** Fields of a row's `timing` that are known. */
  readonly timing: JsonObject;
  readonly isCompleted: boolean | null;
  readonly isTruncated: boolean | null;
  readonly stopCondition: string | null;
  readonly usage: { readonly input_tokens: number; readonly output_tokens: number } | null;
  readonly tools: readonly JsonObject[] | null;
  /** Fields that a row of another version has beside those above; they stand in the row under their names. */
  readonly more?: JsonObject;
}

export interface ImportedError {
  /** Class of the error, as far as it is known. */
  readonly name: string;
  readonly message: string;
}

/** One run of another program: what it says of itself, and its rollouts. */
export interface ImportedRun {
  readonly format: ImportFormat;
  readonly tool: { readonly name: string; readonly version: string | null };
  /** Tells runs of one file apart. */
  readonly key: string;
  readonly envId: string;
  readonly envVersion: string | null;
  readonly envArgs: JsonObject;
  readonly model: string;
  /** Null: not said. */
  readonly baseUrl: string | null;
  readonly samplingArgs: JsonObject;
  readonly status: RunStatus;
  /** When it began, as the program wrote it. */
  readonly created: string | null;
  readonly timeMs: number | null;
  readonly datasetName: string | null;
  /** Numbers over rows that the program stated, by its names. */
  readonly stated: Readonly<Record<string, number>>;
  /** Whether its examples may be named wrongly, so that prompts are compared. */
  readonly comparesPrompts: boolean;
  /** Which score is the reward, in words. */
  readonly rewardIs: string;
  /** One at a time, in any order; may be read once. Throws an `ImportError`. */
  rollouts(): AsyncIterable<ImportedRollout>;
  /** What a reader of the rows should know; complete once the rollouts are read. */
  notes(): readonly string[];
  /** Why rollouts are not grouped by example; null where they are. Known once the rollouts are read. */
  groupingProblem(): string | null;
}

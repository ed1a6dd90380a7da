/** Where the examples of a run that scores again come from: the environment's data, or what the rows themselves hold. */
export const EXAMPLES_OF_RESCORE = ["data", "rows"] as const;
export type ExamplesOfRescore = (typeof EXAMPLES_OF_RESCORE)[number];

/** The rollouts that a run scores again instead of making any, and how (docs/rescore.md). */
export interface RescoredFrom {
  /** The run that they are of; null: its folder does not say. */
  readonly run_id: string | null;
  /** What scored them there: the environment, and the digest of its code as far as it is known. */
  readonly env_id: string;
  readonly env_digest: string | null;
  /** Of its `results.jsonl`, as its metadata state it; null where they do not. */
  readonly rows_sha256: string | null;
  /** The upload that names the parts of its folder; absent = it is a run of this service. */
  readonly results?: string;
  readonly examples: ExamplesOfRescore;
  /** Only rollouts whose scorer failed are scored; absent = all. */
  readonly errors_only?: true;
  /** One of the rubrics that the environment offers beside its own; absent = its own. */
  readonly rubric?: string;
}

import type { JsonObject } from "../config/plan/run-config.ts";

/** What whoever pushes an evaluation says of it, beside its rows; it may be said anew later. Stored by its Run, with its version. */
export interface PushedFacts {
  readonly version: 1;
  readonly name: string | null;
  /** As it is shown; the folder of the files is named after the model of the creation. */
  readonly model_name: string | null;
  readonly dataset: string | null;
  readonly description: string | null;
  readonly framework: string | null;
  readonly task_type: string | null;
  readonly tags: readonly string[];
  /** Ids of environments as they were named. */
  readonly environments: readonly string[];
  readonly version_id: string | null;
  /** Of the training run that it belongs to. */
  readonly run_id: string | null;
  readonly suite_id: string | null;
  /** Free; a `metadata.json` without its averages, where a folder was pushed. */
  readonly metadata: JsonObject;
  /** Averages as they were pushed; those that count are made from the rows. */
  readonly metrics: JsonObject;
  /** Whoever has its link is to read it. */
  readonly is_public: boolean;
}

/** What an update may change; absent = stays. */
export type PushedChanges = Partial<Omit<PushedFacts, "version" | "environments">>;

/** The facts with these changes; an empty list of tags changes nothing, since clients always send one. */
export function changedFacts(facts: PushedFacts, changes: PushedChanges): PushedFacts {
  const { tags = [], ...others } = changes;
  const given = Object.fromEntries(Object.entries(others).filter(([, value]) => value !== undefined)) as PushedChanges;
  return { ...facts, ...given, ...(tags.length === 0 ? {} : { tags }) };
}

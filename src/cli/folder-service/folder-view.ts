import type { RunView } from "../../../durable-objects/run/control.ts";
import { runState } from "../../api/response-schemas.ts";
import type { Failure } from "../../errors/result.ts";
import { Aggregator } from "../../metrics/aggregates.ts";
import { differencesOf } from "../../pushed/pushed-averages.ts";
import { certaintyOf, type EdgewiseMetadata, type RunMetadata } from "../../report/metadata.ts";
import { type RunScores, runScores } from "../../report/run-scores.ts";
import { thousands } from "../../report/text/format.ts";
import { USUAL_RANGE } from "../../metrics/interval.ts";
import { isObject } from "../view/json-text.ts";
import type { FolderFacts } from "./folder-facts.ts";
import type { ReadRows } from "./folder-rows.ts";
import { folderStatus } from "./folder-status.ts";

const IDLE = { in_flight: 0, retries: 0, waiting: 0, paused_until: null };

/** What a view is made of beside its rows. */
interface ViewedFolder {
  readonly id: string;
  readonly facts: FolderFacts;
  /** When it was last written to. Unix milliseconds. */
  readonly changed: number;
  scoresOf(rows: ReadRows, rollouts: number): RunScores;
}

/** A folder as a service shows an evaluation that was pushed to it. */
export function folderView(folder: ViewedFolder, rows: ReadRows, now: number): RunView {
  const { index, generation } = rows;
  const { id, facts, changed } = folder;
  const { run } = facts;
  const { status, isSettled, isSuspended } = folderStatus(facts, index.rows, now - changed);
  const rollouts = rolloutsOf(facts, rows);
  const { totals } = index;
  const failure = failureOf(facts, rows, isSettled || isSuspended);
  const expected = (run?.num_examples ?? 0) * (run?.rollouts_per_example ?? 0);
  return {
    config: { ...facts.config, run_id: id, num_examples: index.examples, rollouts_per_example: rollouts, created_at: facts.began },
    status,
    phase: isSettled ? "settled" : "open",
    suspended: isSuspended,
    generation,
    failure,
    units: { total: index.examples, done: index.examples, open: 0, pending: 0 },
    totals,
    pushed: {
      facts: facts.pushed,
      batches: 0,
      samples: index.rows,
      examples: index.examples,
      unread: 0,
      closing: null,
      differences: isSettled ? differencesOf(facts.pushed.metrics, totals) : [],
      ...(isSettled || expected <= index.rows ? {} : { expected }),
    },
    vitals: IDLE,
    executors: 0,
    lanes: 0,
    grants: 0,
    lapses: 0,
    env_digest: textOf(facts.own.env_digest),
    dataset_digest: textOf(facts.own.dataset_digest),
    dataset_name: textOf(facts.own.dataset_name),
    ...(isSettled ? { scores: folder.scoresOf(rows, rollouts) } : {}),
    pass_threshold: run?.pass_threshold ?? 0.5,
    reward_range: run?.reward_range ?? USUAL_RANGE,
    stored_bytes: rows.file?.size ?? 0,
    seq: index.rows,
    created_at: facts.began,
    started_at: facts.began,
    ended_at: isSettled ? changed : null,
    updated_at: changed,
  };
}

/** Rollouts of each example: as many as it is to have, or as the largest has. */
export function rolloutsOf({ run }: Pick<FolderFacts, "run">, { index }: Pick<ReadRows, "index">): number {
  const wanted = run?.rollouts_per_example ?? 1;
  // What the file says is taken where its rows are about as many.
  return Math.max(1, index.most, wanted * index.examples <= 2 * index.rows + index.most ? wanted : 1);
}

const textOf = (value: unknown): string | null => (typeof value === "string" ? value : null);

/** What of the folder cannot be read. */
function failureOf({ problem }: FolderFacts, { broken, isCut, file }: ReadRows, rests: boolean): Failure | null {
  if (problem !== null && rests) return { code: "storage_damaged", message: problem };
  const cut = isCut && rests ? ["the last row is cut: the program that wrote it may have been killed"] : [];
  const lines = broken.lines + cut.length;
  if (lines === 0) return null;
  const problems = [...broken.problems, ...cut];
  const more = lines - problems.length;
  return {
    code: "storage_damaged",
    message: `${thousands(lines)} ${lines === 1 ? "line" : "lines"} of ${file?.name ?? "its file"} cannot be read, and ${lines === 1 ? "is" : "are"} in no number: ${problems.join("; ")}${more > 0 ? `; and ${thousands(more)} more` : ""}`,
  };
}

/** Anybody may have written the file: what is not of this form is as if it did not say it. */
const STATED = runState.pick({
  ...{ reward_ci95: true, reward_stderr: true, n_clusters: true, pass_at_k: true, pass_at_k_ci95: true, pass_all_k: true, pass_all_k_ci95: true },
  ...{ metric_estimates: true, error_bounds: true, corpus: true },
});

/** How sure the numbers of settled rows are: as a file of ours states it of just these rows, else computed from them. */
export function scoresOf({ metadata, own, run }: FolderFacts, { index, broken }: ReadRows, rollouts: number): RunScores {
  const stated = isObject(own.rows_digest) ? own.rows_digest.rows : undefined;
  if (stated === index.rows && broken.lines === 0 && own.reward_ci95 !== undefined) {
    const scores = STATED.safeParse(runScores(metadata as unknown as RunMetadata));
    if (scores.success) return scores.data as RunScores;
  }
  const aggregator = new Aggregator({
    rolloutsPerExample: rollouts,
    passThreshold: run?.pass_threshold ?? 0.5,
    rewardRange: run?.reward_range ?? USUAL_RANGE,
    clustered: run?.cluster_by !== undefined,
  });
  for (let example = 0; example < index.examples; example++) aggregator.addUnit(index.summariesOf(example));
  const aggregates = aggregator.result();
  const { pass_at_k, pass_all_k, reward_ci95, reward_stderr, n_clusters } = aggregates;
  return runScores({ pass_at_k, pass_all_k, edgewise: { reward_ci95, reward_stderr, n_clusters, ...certaintyOf(aggregates) } as EdgewiseMetadata });
}

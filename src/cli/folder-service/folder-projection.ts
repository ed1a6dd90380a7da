import type { RunProjection } from "../../../durable-objects/registry/registry-control.ts";
import { numberOf, objectOf } from "../view/json-text.ts";
import { readCost, dollarsOf } from "../../prices/nano-cost.ts";
import { averageReward, erroredRollouts } from "../../metrics/totals.ts";
import type { FolderFacts } from "./folder-facts.ts";
import type { Folder } from "./folder.ts";
import { folderStatus } from "./folder-status.ts";

/** What a list shows of a folder: from its metadata alone, and of one whose rows somebody has looked at with their number. */
export function folderProjection(folder: Folder, now: number): RunProjection {
  const { id, facts, rows, changed } = folder;
  const { run, own, metadata, problem, config, pushed, began } = facts;
  const read = rows.counts;
  const wanted = (run?.num_examples ?? 0) * (run?.rollouts_per_example ?? 1);
  const stated = statedRows(own);
  const { status, isSettled, isSuspended } = folderStatus(facts, read?.rows ?? stated, now - changed);
  const done = read?.rows ?? stated ?? (isSettled ? wanted : 0);
  const interval = Array.isArray(own.reward_ci95) ? own.reward_ci95.map(numberOf) : [];
  const [low, high] = interval;
  const share = numberOf(metadata.avg_error);
  const cost = readCost(metadata.cost);
  return {
    run_id: id,
    version: 1,
    env_id: config.env_id,
    model: pushed.model_name ?? config.model,
    name: pushed.name,
    pushed: true,
    status,
    active: !isSettled && !isSuspended,
    settled: isSettled,
    num_examples: run?.num_examples ?? 0,
    rollouts_per_example: run?.rollouts_per_example ?? 1,
    total_rollouts: isSettled ? done : Math.max(done, wanted),
    done_rollouts: done,
    avg_reward: numberOf(metadata.avg_reward) ?? (read === null ? null : averageReward(read.totals)),
    dataset_name: typeof own.dataset_name === "string" ? own.dataset_name : null,
    errored_rollouts: numberOf(own.errored_rollouts) ?? (read === null ? Math.round((share ?? 0) * done) : erroredRollouts(read.totals)),
    reward_ci95: typeof low === "number" && typeof high === "number" ? [low, high] : null,
    pass_at_k: ratesOf(metadata.pass_at_k),
    ...(cost === null ? {} : { cost: dollarsOf(cost) }),
    ...tokensOf(folder),
    error_message: problem === null || !(isSettled || isSuspended) ? null : problem,
    created_at: began,
    started_at: began,
    ended_at: isSettled ? changed : null,
    updated_at: changed,
  };
}

/** Rows that a finished folder of ours says it has; null where it does not. */
const statedRows = (own: FolderFacts["own"]): number | null => numberOf(objectOf(own.rows_digest).rows);

/** Whether its metadata leave open what a list shows: then its rows are to be counted. */
export const isUncounted = ({ facts, rows }: Folder): boolean => rows.counts === null && statedRows(facts.own) === null;

function tokensOf({ facts: { own }, rows: { counts } }: Folder): Pick<RunProjection, "tokens"> {
  const { input_tokens, output_tokens } = objectOf(own.tokens_total);
  if (typeof input_tokens === "number") return { tokens: { input: input_tokens, output: numberOf(output_tokens) ?? 0 } };
  return counts === null ? {} : { tokens: { input: counts.totals.input_tokens, output: counts.totals.output_tokens } };
}

const ratesOf = (value: unknown): Readonly<Record<string, number>> =>
  Object.fromEntries(Object.entries(objectOf(value)).filter((entry): entry is [string, number] => numberOf(entry[1]) !== null));

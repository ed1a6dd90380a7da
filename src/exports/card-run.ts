import { stoppedText } from "../metrics/sequential/stopped-early.ts";
import type { CardNumbers, RunFacts } from "./run-facts.ts";

/** A run as a card tells of it. */
export interface CardRun {
  readonly facts: RunFacts;
  /** Over the rows that were written. */
  readonly aggregates: CardNumbers;
  /** Of the sorted rows of the run, as its `metadata.json` states it; null where it states none. */
  readonly rowsDigest: string | null;
}

/** The interval over its rows; null where there is none, and of a run that was looked at until it was sure enough, whose interval they do not give. */
export const fixedInterval = ({ facts, aggregates }: Pick<CardRun, "facts" | "aggregates">): readonly [number, number] | null =>
  facts.stopped_early === null ? aggregates.reward_ci95 : null;

/** What the table of results is read with. */
export const INTERVAL_TEXT =
  "An interval is the 95 % interval of the mean reward over examples. Rollouts that ended in an error count with the reward in their row.";

export const COLUMNS_TEXT =
  "`prompt` and `completion` are lists of messages; arguments of tool calls, `info`, `tool_defs` and `other` (state columns, and whatever else a row has) are JSON as text. Each metric is a column. What a rollout has no value for is null.";

export function resultsTable(runs: readonly CardRun[]): string[] {
  const rows = runs.map(({ facts, aggregates }) => {
    const { avg_reward, rollouts, errored_rollouts, n_clusters } = aggregates;
    const reward_ci95 = fixedInterval({ facts, aggregates });
    const interval = reward_ci95 === null ? "" : `${reward_ci95[0].toFixed(3)} to ${reward_ci95[1].toFixed(3)}`;
    const cells = [
      facts.run_id ?? "",
      facts.env_id,
      facts.model,
      rollouts === 0 ? "" : avg_reward.toFixed(3),
      interval,
      rollouts,
      n_clusters,
      errored_rollouts,
    ];
    return `| ${cells.map((value) => prose(String(value))).join(" | ")} |`;
  });
  return [
    "| run | environment | model | reward | 95 % interval | rollouts | examples | errors |",
    "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ...rows,
  ];
}

/** Everything else that is known of a run, and the command that makes such a run. */
export function runDetails({ facts, aggregates, rowsDigest }: CardRun): string[] {
  const { avg_metrics, pass_at_k, pass_all_k, errors } = aggregates;
  const numbers = (values: Readonly<Record<string, number>>, digits: number): string =>
    Object.entries(values)
      .map(([name, value]) => `${name} ${value.toFixed(digits)}`)
      .join(", ");
  const settings = { env_args: facts.env_args, sampling_args: facts.sampling_args };
  const fields: readonly (readonly [string, string])[] = [
    ["Metrics", numbers(avg_metrics, 3)],
    ["pass@k", numbers(pass_at_k, 3)],
    ["pass^k", numbers(pass_all_k, 3)],
    ["Errors", numbers(errors, 0)],
    ["Status", facts.status ?? ""],
    ["Stopped early", facts.stopped_early === null ? "" : stoppedText(facts.stopped_early)],
    ["Examples × rollouts", `${facts.num_examples ?? "?"} × ${facts.rollouts_per_example ?? "?"}`],
    ["Settings", JSON.stringify(settings)],
  ];
  const lines = fields.filter(([, value]) => value !== "").map(([name, value]) => `- ${name}: ${prose(value)}`);
  const digest = rowsDigest === null ? [] : [`- sha256 of the sorted rows: \`${rowsDigest}\``];
  const made = facts.command === null ? [] : ["", "Made with", "", ...fenced(facts.command, "sh")];
  return [...lines, ...digest, ...made];
}

/** Names come from anywhere: nothing in them is markup, or ends a line. */
export const prose = (text: string): string =>
  text
    .replaceAll(/\s+/g, " ")
    .slice(0, MAX_PROSE)
    .replaceAll(/[\\`*_[\]<>|#~]/g, (char) => (char === "<" ? "&lt;" : `\\${char}`));
const MAX_PROSE = 2_000;

/** Fenced so that no text in it ends the fence. */
export function fenced(text: string, language: string): string[] {
  const longest = Math.max(0, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(Math.max(3, longest + 1));
  return [`${fence}${language}`, text, fence];
}

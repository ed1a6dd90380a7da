import type { Column } from "./column.ts";
import type { ExportFormat } from "./formats.ts";
import { cardFeatures } from "./hub-features.ts";
import type { CardNumbers, RunFacts } from "./run-facts.ts";

/** A run as the card of an export tells of it. */
export interface CardRun {
  readonly facts: RunFacts;
  /** Over the rows that were written. */
  readonly aggregates: CardNumbers;
  /** Of the sorted rows of the run, as its `metadata.json` states it; null where it states none. */
  readonly rowsDigest: string | null;
}

export interface Card {
  readonly runs: readonly CardRun[];
  readonly format: ExportFormat;
  readonly columns: readonly Column[];
  /** As it was typed. */
  readonly command: string;
  /** What reads it that is said of the data beside the numbers, such as that rows are missing. */
  readonly notes: readonly string[];
  readonly version: string;
}

/** `README.md` of an export: front matter by which the Hub and `datasets` find its files, and what a person asks first. */
export function cardText({ runs, format, columns, command, notes, version }: Card): string {
  const rows = runs.reduce((sum, { aggregates }) => sum + aggregates.rollouts, 0);
  const names = [...new Set(runs.map(({ facts }) => facts.env_id))];
  return [
    ...frontMatter(format, columns, names),
    "",
    `# ${names.map(prose).join(", ")}: ${rows.toLocaleString("en-US")} rollouts of ${runs.length === 1 ? "one evaluation" : `${runs.length} evaluations`}`,
    "",
    `One row per rollout, ${runs.length === 1 ? "" : "with the settings of its run in columns of their own, "}written by Edgewise ${version} with`,
    "",
    ...fenced(command, "sh"),
    ...notes.flatMap((note) => ["", prose(note)]),
    "",
    "## Results",
    "",
    ...resultsTable(runs),
    "",
    "An interval is the 95 % interval of the mean reward over examples. Rollouts that ended in an error count with the reward in their row.",
    ...runs.flatMap(runSection),
    "",
    "## Columns",
    "",
    "`prompt` and `completion` are lists of messages; arguments of tool calls, `info`, `tool_defs` and `other` (state columns, and whatever else a row has) are JSON as text. Each metric is a column. What a rollout has no value for is null.",
    "",
  ].join("\n");
}

function frontMatter(format: ExportFormat, columns: readonly Column[], names: readonly string[]): string[] {
  return [
    "---",
    "# The licence of these rows is yours to choose: a line such as `license: mit`.",
    `pretty_name: ${JSON.stringify(`${names.join(", ")} rollouts`)}`,
    "tags:",
    "- edgewise",
    "- evaluation",
    "- verifiers",
    "configs:",
    "- config_name: default",
    "  default: true",
    "  data_files:",
    "  - split: train",
    `    path: data/train-*.${format}`,
    // Cells of a CSV file are flat, and have the types that their reader finds.
    ...(format === "csv" ? [] : ["dataset_info:", "- config_name: default", "  features:", ...cardFeatures(columns, "  ")]),
    "---",
  ];
}

function resultsTable(runs: readonly CardRun[]): string[] {
  const rows = runs.map(({ facts, aggregates }) => {
    const { avg_reward, reward_ci95, rollouts, errored_rollouts, n_clusters } = aggregates;
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

function runSection({ facts, aggregates, rowsDigest }: CardRun): string[] {
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
    ["Examples × rollouts", `${facts.num_examples ?? "?"} × ${facts.rollouts_per_example ?? "?"}`],
    ["Settings", JSON.stringify(settings)],
  ];
  const lines = fields.filter(([, value]) => value !== "").map(([name, value]) => `- ${name}: ${prose(value)}`);
  return ["", `### ${prose(facts.run_id ?? facts.env_id)}`, "", ...lines, ...(rowsDigest === null ? [] : [`- sha256 of the sorted rows: \`${rowsDigest}\``])];
}

/** Names come from anywhere: nothing in them is markup, or ends a line. */
const prose = (text: string): string =>
  text
    .replaceAll(/\s+/g, " ")
    .slice(0, MAX_PROSE)
    .replaceAll(/[\\`*_[\]<>|#~]/g, (char) => (char === "<" ? "&lt;" : `\\${char}`));
const MAX_PROSE = 2_000;

/** Fenced so that no text in it ends the fence. */
function fenced(text: string, language: string): string[] {
  const longest = Math.max(0, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(Math.max(3, longest + 1));
  return [`${fence}${language}`, text, fence];
}

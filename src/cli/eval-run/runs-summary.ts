/** All runs of a command in one table, each row ending with its folder. */
import { columnLines } from "../../report/columns.ts";
import { formatSeconds, thousands } from "../../report/format.ts";
import type { Evaluation } from "../connection/api-types.ts";
import { shortPath } from "../command-line/typed-commands.ts";

export interface SummaryRow {
  /** What the evaluation is called among the others. */
  readonly label: string;
  readonly status: string;
  /** Null: it never ran, or its end is not known. */
  readonly evaluation: Evaluation | null;
  /** Where its results are; null = in the service only. */
  readonly folder: string | null;
}

const COLUMNS = [
  { title: "EVALUATION" },
  { title: "STATUS" },
  { title: "EXAMPLES", align: "right" },
  { title: "ROLLOUTS", align: "right" },
  { title: "REWARD", align: "right" },
  { title: "TOKENS IN", align: "right" },
  { title: "TOKENS OUT", align: "right" },
  { title: "ERRORS", align: "right" },
  { title: "TIME", align: "right" },
  { title: "FOLDER" },
] as const;

/** Tokens are means over rollouts' totals, errors the share of rollouts that ended in one. Nothing is cut: the folder is there to be copied. */
export function summaryLines(rows: readonly SummaryRow[], cwd: string, width: number): readonly string[] {
  return [
    "--- Evaluation Summary ---",
    ...columnLines(
      COLUMNS,
      rows.map((row) => cellsOf(row, cwd)),
      width,
    ),
  ];
}

function cellsOf({ label, status, evaluation, folder }: SummaryRow, cwd: string): readonly string[] {
  const place = folder === null ? "-" : shortPath(folder, cwd);
  if (evaluation === null) return [label, status, "-", "-", "-", "-", "-", "-", "-", place];
  const { metadata, edgewise, started_at, finalized_at } = evaluation;
  const { done_rollouts, total_rollouts, reward, errors, tokens } = edgewise;
  const errored = Object.values(errors).reduce((sum, count) => sum + count, 0);
  const seconds = started_at === null || finalized_at === null ? null : (Date.parse(finalized_at) - Date.parse(started_at)) / 1000;
  return [
    label,
    status,
    String(metadata.num_examples),
    done_rollouts === total_rollouts ? String(total_rollouts) : `${done_rollouts}/${total_rollouts}`,
    reward === null ? "-" : reward.toFixed(3),
    thousands(tokens.input),
    thousands(tokens.output),
    done_rollouts === 0 ? "-" : `${((errored / done_rollouts) * 100).toFixed(1)}%`,
    seconds === null ? "-" : formatSeconds(seconds),
    place,
  ];
}

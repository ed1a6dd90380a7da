/** All runs of a command in one table, the folder of each last. */
import { type Column, columnLines } from "../../report/text/columns.ts";
import { fixed, formatSeconds, thousands } from "../../report/text/format.ts";
import { singleLine } from "../../report/text/printable.ts";
import { textWidth } from "../../report/text/text-width.ts";
import { shortPath } from "../command-line/typed-commands.ts";
import { costSoFar } from "../../report/progress/standing-text.ts";
import type { Evaluation } from "../connection/api-types.ts";

export interface SummaryRow {
  /** What the evaluation is called among the others. */
  readonly label: string;
  readonly status: string;
  /** Null: it never ran, or its end is not known. */
  readonly evaluation: Evaluation | null;
  /** 95 % interval of the mean reward; null where there is none. */
  readonly interval: readonly [number, number] | null;
  /** What this command took for it; null where it found nothing to do, or has no end. */
  readonly seconds: number | null;
  /** Where its results are; null = in the service only. */
  readonly folder: string | null;
}

interface SummaryColumn extends Column {
  readonly cell: (row: SummaryRow) => string;
  /** What a narrow terminal does without. */
  readonly wide?: true;
  /** Absent: it is always there. */
  readonly where?: (rows: readonly SummaryRow[]) => boolean;
}

const isPriced = (rows: readonly SummaryRow[]): boolean => rows.some(({ evaluation }) => costSoFar(evaluation?.edgewise.cost) !== null);

const ofRun =
  (cell: (evaluation: Evaluation) => string) =>
  ({ evaluation }: SummaryRow): string =>
    evaluation === null ? "-" : cell(evaluation);

/** Errors are the share of rollouts that ended in one. */
const COLUMNS: readonly SummaryColumn[] = [
  { title: "EVALUATION", cell: ({ label }) => label },
  { title: "STATUS", wide: true, cell: ({ status }) => status },
  { title: "REWARD", align: "right", cell: ofRun(({ edgewise: { reward } }) => (reward === null ? "-" : fixed(reward, 3))) },
  { title: "95% INTERVAL", align: "right", cell: ({ interval }) => (interval === null ? "-" : `${fixed(interval[0], 3)} to ${fixed(interval[1], 3)}`) },
  { title: "EXAMPLES", align: "right", wide: true, cell: ofRun(({ metadata }) => String(metadata.num_examples)) },
  {
    title: "ROLLOUTS",
    align: "right",
    cell: ofRun(({ edgewise: { done_rollouts: done, total_rollouts: all } }) => (done === all ? `${all}` : `${done}/${all}`)),
  },
  { title: "TOKENS IN", align: "right", wide: true, cell: ofRun(({ edgewise: { tokens } }) => thousands(tokens.input)) },
  { title: "TOKENS OUT", align: "right", wide: true, cell: ofRun(({ edgewise: { tokens } }) => thousands(tokens.output)) },
  { title: "COST", align: "right", wide: true, where: isPriced, cell: ofRun(({ edgewise: { cost } }) => costSoFar(cost) ?? "-") },
  { title: "ERRORS", align: "right", cell: ofRun(errorShare) },
  { title: "TIME", align: "right", cell: ({ seconds }) => (seconds === null ? "-" : formatSeconds(seconds)) },
];

/**
 * One line for each where that fits into `width`; else status and folder go below the numbers, and where even those have no room beside the names,
 * each name has a line of its own. Nothing is cut: names differ at their ends, and a folder is there to be copied.
 */
export function summaryLines(rows: readonly SummaryRow[], cwd: string, width: number): readonly string[] {
  const folders = rows.map(({ folder }) => (folder === null ? "-" : shortPath(folder, cwd)));
  const table = (columns: readonly SummaryColumn[], last: readonly string[] | null = null): readonly string[] =>
    columnLines(
      [...columns, ...(last === null ? [] : [{ title: "FOLDER" }])],
      rows.map((row, index) => [...columns.map(({ cell }) => cell(row)), ...(last === null ? [] : [last[index] ?? "-"])]),
      width,
    );
  const fits = (lines: readonly string[]): boolean => lines.every((line) => textWidth(line) <= width);
  const below = (index: number): string => `  ${singleLine(rows[index]?.status ?? "")}  ${singleLine(folders[index] ?? "-")}`;

  const own = COLUMNS.filter(({ where }) => where?.(rows) !== false);
  const whole = table(own, folders);
  if (fits(whole)) return [TITLE, ...whole];
  const narrow = own.filter(({ wide }) => wide !== true);
  const [titles = "", ...lines] = table(narrow);
  if (fits([titles, ...lines])) return [TITLE, titles, ...lines.flatMap((line, index) => [line, below(index)])];
  const [numbers = "", ...ofRuns] = table(narrow.slice(1)).map((line) => `  ${line}`);
  return [TITLE, numbers, ...ofRuns.flatMap((line, index) => [singleLine(rows[index]?.label ?? ""), line, below(index)])];
}

const TITLE = "--- Evaluation Summary ---";

function errorShare({ edgewise: { errors, done_rollouts } }: Evaluation): string {
  const errored = Object.values(errors).reduce((sum, count) => sum + count, 0);
  return done_rollouts === 0 ? "-" : `${fixed((errored / done_rollouts) * 100, 1)}%`;
}

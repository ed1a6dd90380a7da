import { sparkline } from "../../report/statistics/sparkline.ts";
import { columnLines, fieldLines } from "../../report/text/columns.ts";
import { singleLine } from "../../report/text/printable.ts";
import type { ListedEvaluator, ListedRecord, PostedAnswer, ShownEvaluator } from "./evaluator-answer.ts";

/** Evaluators as a terminal shows them. */

/** Steps that the lines of bars and the table show. */
const BARS = 60;
const SHOWN_RECORDS = 20;

const cadence = ({ definition: { evaluations } }: Pick<ListedEvaluator, "definition">): string =>
  evaluations.map(({ name, run_every }) => `${name} ${run_every > 0 ? `every ${run_every}` : "at the end"}`).join(", ");

const pausedText = (paused: ListedEvaluator["paused"]): string | null => (paused == null ? null : `paused by ${paused.by}: ${paused.reason}`);

const numbers = ({ values, missing, errored }: ListedRecord): string =>
  [
    ...Object.entries(values).map(
      ([name, { value, ci95 }]) => `${name} ${value.toFixed(3)}${ci95 === undefined ? "" : ` [${ci95[0].toFixed(3)}, ${ci95[1].toFixed(3)}]`}`,
    ),
    ...missing.map((name) => `${name} is not in the run`),
    ...(errored === null || errored === 0 ? [] : [`${errored} errored`]),
  ].join("; ");

const cameTo = (record: ListedRecord): string => {
  if (record.outcome === "evaluated") return numbers(record);
  if (record.outcome === "open") return record.run_id === null ? "waits" : "at work";
  return `${record.outcome}: ${record.reason ?? ""}`;
};

export function listLines(evaluators: readonly ListedEvaluator[], width: number): readonly string[] {
  const columns = [{ title: "EVALUATOR" }, { title: "DUE", flexible: true }, { title: "OPEN" }, { title: "LAST", flexible: true }];
  const rows = evaluators.map((each) => [
    each.name,
    singleLine(pausedText(each.paused) ?? cadence(each)),
    String(each.open),
    each.last === null ? "-" : singleLine(`step ${each.last.step} ${each.last.evaluation}: ${cameTo(each.last)}`),
  ]);
  return columnLines(columns, rows, width);
}

export function postedLines({ step, due, records, paused }: PostedAnswer): readonly string[] {
  const whyNone =
    pausedText(paused) === null ? "nothing is due." : `nothing is evaluated, since the evaluator is ${pausedText(paused)}. --now evaluates it all the same.`;
  const lines = due.length === 0 ? [singleLine(`Step ${step}: ${whyNone}`)] : [`Step ${step}: ${due.join(", ")} ${due.length === 1 ? "is" : "are"} due.`];
  for (const record of records) lines.push(singleLine(`  ${record.evaluation}: ${record.run_id ?? "no run yet"}, ${cameTo(record)}`));
  return lines;
}

function adviceText({ advice: { best, since_best, stop, stop_at }, definition: { early_stopping } }: ShownEvaluator): string {
  if (best === null) return "none yet";
  const told = `step ${best.step} (${best.model}), ${early_stopping.metric} = ${best.value.toFixed(3)}; ${since_best} evaluation${since_best === 1 ? "" : "s"} since`;
  return stop ? `${told}; stop: patience ${early_stopping.patience} was at its end at step ${stop_at}` : told;
}

export function evaluatorLines(evaluator: ShownEvaluator, width: number): readonly string[] {
  const { definition, records, series, posting, at_work } = evaluator;
  const openText = (record: ListedRecord): string => {
    const open = at_work.find(({ step, evaluation }) => step === record.step && evaluation === record.evaluation);
    const stands = open?.queued ? "waits for older steps" : cameTo(record);
    return open === undefined || open.failure === null ? stands : `${stands}: ${open.failure.message}`;
  };
  const fields = [
    ["Evaluator", evaluator.name],
    ["Due", cadence(evaluator)],
    ...(pausedText(evaluator.paused) === null ? [] : [["State", singleLine(pausedText(evaluator.paused) ?? "")] as const]),
    ["Older steps", definition.on_older],
    ["Open", String(evaluator.open)],
    ["Best", adviceText(evaluator)],
    ...(posting === null ? [] : [["MLflow", `waits${posting.failure === null ? "" : `: ${posting.failure.message}`}`] as const]),
  ] as const;
  const plots = Object.entries(series).map(([name, points]) => {
    const values = points.slice(-BARS).map(({ value }) => value);
    const [first, last] = [points.slice(-BARS)[0], points.at(-1)];
    return singleLine(
      `${name}: ${sparkline(values)} ${Math.min(...values).toFixed(3)} to ${Math.max(...values).toFixed(3)}, steps ${first?.step ?? 0} to ${last?.step ?? 0}`,
    );
  });
  const shown = records.slice(-SHOWN_RECORDS);
  return [
    ...fieldLines(fields),
    ...plots,
    ...(shown.length === 0
      ? ["No step was due."]
      : columnLines(
          [{ title: "STEP" }, { title: "EVALUATION" }, { title: "RUN" }, { title: "CAME TO", flexible: true }],
          shown.map((each) => [String(each.step), each.evaluation, each.run_id ?? "-", singleLine(each.outcome === "open" ? openText(each) : cameTo(each))]),
          width,
        )),
  ];
}

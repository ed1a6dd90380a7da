/** What evaluations will take, as a terminal shows it before they go on. */
import { type Column, columnLines } from "../../../report/text/columns.ts";
import { dollarsText } from "../../../report/text/cost-text.ts";
import { formatSeconds, thousands } from "../../../report/text/format.ts";
import { rangedCount, rangedText } from "../../../report/text/predicted-text.ts";
import { singleLine } from "../../../report/text/printable.ts";
import { textWidth } from "../../../report/text/text-width.ts";
import type { ForecastEvaluation, RunForecast } from "../../connection/api-types.ts";
import { budgetText } from "./forecast-budget.ts";
import { totalOf } from "./forecast-total.ts";
import type { LabelledForecast } from "./labelled-forecast.ts";

const TITLE = "--- Forecast ---";
const COST_UNKNOWN = "unknown: the price of a model is not known ([[price]] in the endpoint registry says it)";
const TIME_UNKNOWN = "unknown: batches are answered when their provider likes, within a day";

/** Names and values for one evaluation, a table with a sum for several. `most`: requests in flight of all together, null = each its own. */
export function forecastLines(forecasts: readonly LabelledForecast[], most: number | null, width: number): readonly string[] {
  const [first, second] = forecasts;
  if (first === undefined) return [];
  return second === undefined ? oneForecast(first) : [TITLE, ...tableLines(forecasts, most, width), ...notesOf(forecasts)];
}

function oneForecast(labelled: LabelledForecast): readonly string[] {
  const { answer, own } = labelled;
  const budget = budgetText(labelled);
  const { forecast } = answer;
  if (forecast === null) return [TITLE, `examples: ${examplesText(answer)}`, `no forecast: ${reasonOf(answer)}`];
  const { calls, input_tokens, output_tokens, judge_calls, judge_input_tokens, judge_output_tokens, cost_usd, seconds } = forecast;
  return [
    TITLE,
    `from: ${sourceText(answer, own)}`,
    `examples: ${examplesText(answer)}`,
    `calls: ${rangedCount(calls)}`,
    `tokens: ${rangedCount(input_tokens)} input, ${rangedCount(output_tokens)} output`,
    ...(judge_calls.expected === 0
      ? []
      : [`judges: ${rangedCount(judge_calls)} calls, ${rangedCount(judge_input_tokens)} tokens input, ${rangedCount(judge_output_tokens)} output`]),
    `cost: ${cost_usd === null ? COST_UNKNOWN : `${rangedText(cost_usd, dollarsText)}${own ? `, of which ${dollarsText(cost_usd.spent)} is spent` : ""}`}`,
    `time: ${seconds === null ? TIME_UNKNOWN : `${rangedText(seconds, formatSeconds)}${own ? " from now on" : ""}`}`,
    RANGES,
    ...(budget === null ? [] : [`budget: ${budget}`]),
  ];
}

const RANGES = "(in brackets: between these in about 90 % of runs)";

function sourceText({ from }: ForecastEvaluation, own: boolean): string {
  const played = `${from.examples} examples, ${from.rollouts} rollouts`;
  return own ? `the first ${played}` : `${played} of ${from.runs.length === 1 ? "run" : "runs"} ${from.runs.map(singleLine).join(", ")}`;
}

function examplesText({ num_examples, forecast_examples, rollouts_per_example, max_concurrent }: ForecastEvaluation): string {
  const each = `× ${rollouts_per_example} rollouts, ${max_concurrent < 1 ? "∞" : max_concurrent} at once`;
  if (num_examples >= 1) return `${thousands(num_examples)} ${each}`;
  return forecast_examples === null ? `all ${each}` : `all ${each}; how many those are is not known, and this is what ${forecast_examples} take`;
}

const reasonOf = ({ from }: ForecastEvaluation): string =>
  from.examples === 0 ? "no example was played" : `${from.examples} examples are too few to tell how much they differ`;

interface ForecastColumn extends Column {
  readonly cell: (forecast: RunForecast) => string;
  /** What a narrow terminal does without. */
  readonly wide?: true;
}

const COLUMNS: readonly ForecastColumn[] = [
  { title: "CALLS", align: "right", wide: true, cell: ({ calls, judge_calls }) => thousands(calls.expected + judge_calls.expected) },
  {
    title: "TOKENS IN",
    align: "right",
    wide: true,
    cell: ({ input_tokens, judge_input_tokens }) => thousands(input_tokens.expected + judge_input_tokens.expected),
  },
  {
    title: "TOKENS OUT",
    align: "right",
    wide: true,
    cell: ({ output_tokens, judge_output_tokens }) => thousands(output_tokens.expected + judge_output_tokens.expected),
  },
  { title: "SPENT", align: "right", cell: ({ cost_usd }) => (cost_usd === null ? "unknown" : dollarsText(cost_usd.spent)) },
  { title: "COST", align: "right", cell: ({ cost_usd }) => (cost_usd === null ? "unknown" : dollarsText(cost_usd.expected)) },
  {
    title: "90% INTERVAL",
    align: "right",
    cell: ({ cost_usd }) => (cost_usd === null ? "-" : `${dollarsText(cost_usd.low)} to ${dollarsText(cost_usd.high)}`),
  },
  { title: "TIME", align: "right", cell: ({ seconds }) => (seconds === null ? "unknown" : formatSeconds(seconds.expected)) },
  {
    title: "90% INTERVAL",
    align: "right",
    cell: ({ seconds }) => (seconds === null ? "-" : `${formatSeconds(seconds.low)} to ${formatSeconds(seconds.high)}`),
  },
];

function tableLines(forecasts: readonly LabelledForecast[], most: number | null, width: number): readonly string[] {
  const total = totalOf(
    forecasts.map(({ answer }) => answer),
    most,
  );
  const examples = ({ num_examples, forecast_examples, from }: ForecastEvaluation, own: boolean): string =>
    `${own ? `${from.examples} of ` : ""}${num_examples >= 1 ? thousands(num_examples) : `all (here ${forecast_examples ?? "-"})`}`;
  const table = (columns: readonly ForecastColumn[]): readonly string[] =>
    columnLines(
      [{ title: "EVALUATION" }, { title: "EXAMPLES", align: "right" }, ...columns],
      [
        ...forecasts.map(({ label, answer, own }) => [
          label,
          examples(answer, own),
          ...columns.map(({ cell }) => (answer.forecast === null ? "-" : cell(answer.forecast))),
        ]),
        ["all of them", "", ...columns.map(({ cell }) => cell(total))],
      ],
      Number.POSITIVE_INFINITY,
    );
  const whole = table(COLUMNS);
  // Nothing is cut: names differ at their ends.
  return whole.every((line) => textWidth(line) <= width) ? whole : table(COLUMNS.filter(({ wide }) => wide !== true));
}

function notesOf(forecasts: readonly LabelledForecast[]): readonly string[] {
  const none = forecasts.filter(({ answer }) => answer.forecast === null).map(({ label, answer }) => `${singleLine(label)}: no forecast: ${reasonOf(answer)}`);
  const unpriced = forecasts.some(({ answer }) => answer.forecast !== null && answer.forecast.cost_usd === null);
  const budgets = forecasts.flatMap((labelled) => {
    const budget = budgetText(labelled);
    return budget === null ? [] : [`${singleLine(labelled.label)}: ${budget}`];
  });
  return [...none, ...(unpriced ? [`cost ${COST_UNKNOWN}`] : []), ...budgets];
}

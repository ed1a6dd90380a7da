/** Everything about one evaluation, as lines. Pure. */
import { leadsWithRange } from "../../metrics/one-run/error-bounds.ts";
import { dollarsText } from "../../report/text/cost-text.ts";
import { fixed, formatSeconds, panelNumber, thousands } from "../../report/text/format.ts";
import { boundsText, intervalText, observedText } from "../../report/statistics/uncertainty.ts";
import { liveSource, liveSureText } from "../../report/statistics/live-text.ts";
import { batchesText } from "../../report/text/batch-text.ts";
import { cachedText } from "../../report/text/cache-text.ts";
import { textWidth } from "../../report/text/text-width.ts";
import { concurrencyText, endpointText, samplingText } from "../../report/settings.ts";
import type { RunState } from "../connection/api-types.ts";
import { costSoFar, endingText, inFlightText, isEnding, timeOfDay, waitingText } from "../../report/progress/standing-text.ts";
import { waitOf } from "./progress.ts";
import { type Line, lineOf, type Span, span } from "../terminal/canvas.ts";
import { errorCount, errorShare, MANY_ERRORS } from "./overview.ts";
import type { RunNumbers, RunView } from "./run-view.ts";
import { finishedRollouts, openRollouts } from "../../report/progress/speed.ts";

export interface DetailOptions {
  readonly columns: number;
  /** Unix milliseconds now. */
  readonly clock: number;
  /** Milliseconds that only go forward. */
  readonly now: number;
}

const NAMES = 10;

/** Lines may be wider than `columns`; lists of numbers are broken so that they are not. */
export function detailLines(view: RunView, { columns, clock, now }: DetailOptions): readonly Line[] {
  const { evaluation, state, numbers } = view;
  if (evaluation === null) return [...endLines(view), ...(view.how === null ? [lineOf("Not begun yet.", "faint")] : [])];
  const field = (name: string, ...value: Line): Line => [span(`${name} `.padEnd(NAMES), "faint"), ...value];
  const list = (name: string, items: readonly Line[]): readonly Line[] => packed(items, columns - NAMES).map((line, i) => field(i === 0 ? name : "", ...line));
  const { metadata } = evaluation;
  const { rollouts_per_example, sampling_args } = metadata;
  // What was asked for may be "all"; what there is, is known once the data set has been read.
  const examples = state === null || state.total_units === 0 ? metadata.num_examples : state.total_units;
  const counts = examples < 1 ? `all examples × ${rollouts_per_example}` : `${examples} examples × ${rollouts_per_example}`;
  const concurrency = concurrencyText(
    state?.max_concurrent ?? evaluation.eval_config.max_concurrent,
    examples < 1 ? Number.POSITIVE_INFINITY : examples * rollouts_per_example,
  );
  const sampling = samplingText(sampling_args);
  const settings = [counts, concurrency, ...(sampling === null ? [] : [sampling])];
  const waits = state === null ? null : waitOf(state);
  return [
    ...endLines(view),
    ...(waits === null ? [] : [lineOf(waits, "fair")]),
    field("model", span(metadata.model, "strong"), span(" at ", "faint"), span(endpointText(metadata.base_url))),
    list(
      "settings",
      settings.map((text) => [span(text)]),
    ),
    field("saved in", view.folder === null ? span("nowhere", "faint") : span(view.folder)),
    ...(state === null ? [] : [field("progress", ...progressSpans(view, state, columns - NAMES, now))]),
    field("reward", ...rewardSpans(view)),
    ...(numbers === null ? [] : numberLists(numbers).map(([name, items]) => list(name, items))),
    ...(state === null
      ? []
      : [
          list("errors", errorSpans(view, state)),
          list("tokens", tokenSpans(state, numbers)),
          ...(state.cache === undefined ? [] : [field("cached", span(cachedText(state.cache)))]),
          list("requests", requestSpans(state, clock)),
          ...(state.batch === undefined ? [] : [list("batches", batchSpans(state.batch))]),
        ]),
  ].flatMap((entry) => (isList(entry) ? entry : [entry]));
}

const isList = (entry: Line | readonly Line[]): entry is readonly Line[] => Array.isArray(entry[0]);

function endLines({ how, state }: RunView): readonly Line[] {
  if (how === null || how === "COMPLETED") return [];
  const { message, hint } = state?.failure ?? {};
  return [how, message, hint].flatMap((text) => (text === undefined ? [] : [lineOf(text, "bad")]));
}

function progressSpans(view: RunView, state: RunState, columns: number, now: number): Line {
  if (state.phase === "preparing") return [span("preparing the data set")];
  const done = finishedRollouts(state);
  const total = state.total_rollouts;
  const share = total === 0 ? 0 : done / total;
  const left = view.remainingMs(now);
  const ending = view.how === null && isEnding(state);
  const after = ending ? ` · ${endingText(state)}` : left !== null && done < total ? ` · about ${formatSeconds(Math.ceil(left / 1000))} left` : "";
  const text = ` ${Math.floor(share * 100)} % · ${done}/${total} rollouts${after}`;
  const width = Math.max(0, Math.min(40, columns - textWidth(text)));
  const filled = Math.round(share * width);
  return [span("█".repeat(filled), "good"), span("░".repeat(width - filled), "faint"), span(text)];
}

/** While it goes on, of the first examples in their random order; else of rollouts of complete examples, which is said while there are others. */
function rewardSpans({ reward, numbers, state, how }: RunView): Line {
  if (reward === null) return [span("none yet", "faint")];
  const source = how === null && state?.live !== undefined ? liveSource(state.live) : null;
  if (source !== null && state?.live !== undefined) {
    const sure = liveSureText(state.live);
    return [span(fixed(state.live.mean ?? 0, 3), "strong"), span(` over ${source}`, "faint"), span(sure === null ? "" : `  ${sure}`)];
  }
  const counted = state === null || openRollouts(state) === 0 ? "" : ` of ${thousands(state.done_rollouts)} done`;
  const bounds = numbers?.edgewise.error_bounds ?? null;
  if (leadsWithRange(bounds)) return [span(boundsText(bounds), "strong")];
  const interval = numbers?.edgewise.reward_ci95 ?? null;
  const examples = numbers?.edgewise.n_clusters ?? 0;
  const sure = interval === null ? "" : `  95 % interval ${intervalText(interval)} over ${observedText(examples, numbers?.edgewise.cluster_by)}`;
  return [span(fixed(reward, 3), "strong"), span(counted, "faint"), span(sure)];
}

function numberLists({ avg_metrics, pass_at_k, pass_all_k }: RunNumbers): readonly (readonly [string, readonly Line[]])[] {
  const pairs = (values: Readonly<Record<string, number>>, text: (value: number) => string): readonly Line[] =>
    Object.entries(values).map(([name, value]) => [span(`${name} `, "faint"), span(text(value))]);
  const lists: readonly (readonly [string, readonly Line[]])[] = [
    ["metrics", pairs(avg_metrics, panelNumber)],
    ["pass@k", pairs(pass_at_k, (value) => fixed(value, 3))],
    ["pass^k", pairs(pass_all_k, (value) => fixed(value, 3))],
  ];
  return lists.filter(([, items]) => items.length > 0);
}

function errorSpans(view: RunView, { errors, done_rollouts }: RunState): readonly Line[] {
  const share = errorShare(view);
  const codes = Object.entries(errors).filter(([, count]) => count > 0);
  if (codes.length === 0) return [[span("none", "faint")]];
  const rate = span(`${fixed(share * 100, 1)} % (${errorCount(errors)} of ${done_rollouts})`, share > MANY_ERRORS ? "bad" : "fair");
  return [[rate], ...codes.map(([code, count]): Line => [span(`${code} `, "faint"), span(String(count))])];
}

function tokenSpans({ tokens, cost, judges, max_cost }: RunState, numbers: RunNumbers | null): readonly Line[] {
  const usage = numbers?.usage ?? null;
  const mean = usage === null ? [] : [[span(`per rollout ${panelNumber(usage.input_tokens)} + ${panelNumber(usage.output_tokens)}`)]];
  return [[span(`${thousands(tokens.input)} input`)], [span(`${thousands(tokens.output)} output`)], ...mean, ...costSpans(cost, judges, max_cost)];
}

function costSpans(cost: RunState["cost"], judges: RunState["judges"], most?: number): readonly Line[] {
  const own = costSoFar(cost, most);
  return [...(own === null ? [] : [[span(own)]]), ...(judges?.cost === undefined ? [] : [[span(`judges ${dollarsText(judges.cost.total_usd)}`)]])];
}

function requestSpans({ vitals }: RunState, clock: number): readonly Line[] {
  const { retries } = vitals;
  const waiting = waitingText(vitals, clock);
  const limit: Span = waiting === null ? span("no rate limit", "faint") : span(waiting, "fair");
  return [[span(inFlightText(vitals))], [span(`${retries} ${retries === 1 ? "retry" : "retries"}`)], [limit]];
}

function batchSpans(batch: NonNullable<RunState["batch"]>): readonly Line[] {
  const came = batchesText(batch);
  return [
    [came === null ? span("none yet", "faint") : span(came)],
    ...(batch.look_at === null || batch.look_at === 0 ? [] : [[span(`next look ${timeOfDay(batch.look_at)}`, "faint")]]),
  ];
}

/** Items side by side, in as many lines of at most `columns` as they take. */
function packed(items: readonly Line[], columns: number): readonly Line[] {
  const lines: Span[][] = [];
  let left = 0;
  for (const item of items) {
    const width = item.reduce((sum, { text }) => sum + textWidth(text), 0);
    const line = lines.at(-1);
    if (line === undefined || left < width + 3) {
      lines.push([...item]);
      left = columns - width;
    } else {
      line.push(span(" · ", "faint"), ...item);
      left -= width + 3;
    }
  }
  return lines;
}

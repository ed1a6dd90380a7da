/** What is said about a run, an environment or a model, as lines. Pure. */
import { groupingProblem } from "../../metrics/grouping.ts";
import { leadsWithRange } from "../../metrics/one-run/error-bounds.ts";
import { fixed, panelNumber } from "../../report/text/format.ts";
import { singleLine } from "../../report/text/printable.ts";
import { type WrongAverage, wrongAverages } from "../../metrics/stated-averages.ts";
import { cutTo, padTo, textWidth, wrap } from "../../report/text/text-width.ts";
import { boundsText } from "../../report/statistics/uncertainty.ts";
import { EMPTY, fieldLine, type Line, lineOf, type Style, span } from "../terminal/canvas.ts";
import type { FoundRun, RunInfo } from "./find-runs.ts";
import { dateText } from "./row-facts.ts";
import type { RunSummary } from "./run-summary.ts";
import { grouped, type MetricSpread, RewardClasses, type RowSpread } from "./spread.ts";

/** Rows as far as they have been counted. */
export interface Counted {
  readonly spread: RowSpread;
  /** What there is to say about the counting, such as how far it is; null when all is counted. */
  readonly note: string | null;
}

const BAR = 20;
const NAMES = 28;

export const rewardStyle = (reward: number | null): Style => (reward === null ? "plain" : reward >= 0.9 ? "good" : reward >= 0.5 ? "fair" : "bad");

export const rewardText = (reward: number | null): string => (reward === null ? "-" : fixed(reward, 3));

const title = (text: string): Line => lineOf(text, "strong");

type Field = readonly [name: string, value: string, style?: Style];

/** Names and values, the values wrapped below each other. */
function fields(entries: readonly Field[], width: number): readonly Line[] {
  const names = Math.min(NAMES, Math.max(0, ...entries.map(([name]) => textWidth(singleLine(name)))));
  const room = Math.max(12, width - names - 2);
  return entries.flatMap(([name, value, style]) =>
    wrap(singleLine(value), room).map((part, i) => fieldLine(i === 0 ? cutTo(singleLine(name), names) : "", part, names, style)),
  );
}

/** All about one run: the numbers of its metadata, and what its rows add to them. `info` null: being read. */
export function runLines(run: FoundRun, info: RunInfo | null, counted: Counted | null, width: number): readonly Line[] {
  const head = fields(
    [
      ["folder", run.shownPath],
      ["written", run.changed === 0 ? "?" : dateText(run.changed)],
    ],
    width,
  );
  const rows = counted === null ? [] : rowLines(counted, width);
  const metrics = counted === null ? [] : metricLines(counted.spread.metricSpreads(), width);
  const top = [title(run.id), ...head, EMPTY];
  if (info === null) return [...top, lineOf("reading metadata.json …", "faint"), EMPTY, ...rows, ...metrics];
  if ("problem" in info) return [...top, ...wrapped(info.problem, width, "bad"), EMPTY, ...rows, ...metrics];
  // The first screen shows how the run went; what it was asked for stands below.
  return [
    ...top,
    ...outcomeLines(info, counted, width),
    ...groupingLines(info, counted, width),
    EMPTY,
    ...rows,
    ...settingLines(info, counted, width),
    ...metrics,
  ];
}

/** Numbers that stand on rows of one example being attempts at one thing. */
const GROUPED: ReadonlySet<string> = new Set(["pass@k", "pass^k", "pass@k 95%", "pass^k 95%", "95% interval", "metrics 95%"]);

/** Why there are none of these. A run of ours says it itself; of another's the rows do, where examples have several. */
function groupingOf({ groupingProblem: own }: RunSummary, counted: Counted | null): string | null {
  if (own !== undefined) return own;
  const others = counted?.spread.groups.others ?? 0;
  return others === 0 ? null : groupingProblem(others);
}

function groupingLines(info: RunSummary, counted: Counted | null, width: number): readonly Line[] {
  const problem = groupingOf(info, counted);
  return problem === null ? [] : wrapped(problem, width, "bad");
}

const wrapped = (text: string, width: number, style: Style): readonly Line[] => wrap(singleLine(text), Math.max(2, width)).map((part) => lineOf(part, style));

function outcomeLines(info: RunSummary, counted: Counted | null, width: number): readonly Line[] {
  const { wrong, said } = wrongIn(info, counted);
  const counts = counted?.note === null ? counted.spread.meanReward : null;
  const reward = wrong.find(({ name }) => name === "reward")?.recomputed ?? info.averageReward ?? counts;
  return fields(
    [
      // With so many unknown, a mean that counts them as 0 is no headline.
      leadsWithRange(info.bounds) ? ["reward", boundsText(info.bounds)] : ["average reward", rewardText(reward), rewardStyle(reward)],
      ...(info.bounds === null || leadsWithRange(info.bounds) ? [] : [["if all had a score", boundsText(info.bounds)] as const]),
      ...(info.status === null ? [] : [["status", info.status] as const]),
      ...shares(info, counted),
      ...(info.openRollouts === 0 ? [] : [["open", `${info.openRollouts} more rollouts, of examples that are not complete`] as const]),
      ...(wrong.length === 0 ? [] : [["stale", staleText("metadata.json", wrong), "bad"] as const]),
      ...(said.length === 0 ? [] : [["stale", staleText("the imported log", said), "bad"] as const]),
    ],
    width,
  );
}

/** Written by ours while rows are still to come. */
const UNDER_WAY = ["PENDING", "RUNNING"];

/** Averages of the file, and of the log that it was made from, that its rows contradict. */
interface Contradicted {
  readonly wrong: readonly WrongAverage[];
  readonly said: readonly WrongAverage[];
}

/** Known once all rows are counted, of a run to which none are added. */
function wrongIn({ status, averageReward, saidByLog, errorShare, metrics }: RunSummary, counted: Counted | null): Contradicted {
  if (counted === null || counted.note !== null || counted.spread.broken > 0 || UNDER_WAY.includes(status ?? "")) return { wrong: [], said: [] };
  const { spread } = counted;
  const stated = { avg_reward: averageReward, avg_error: errorShare, avg_metrics: Object.fromEntries(metrics) };
  const rows = {
    rollouts: spread.rows,
    avg_reward: spread.meanReward ?? 0,
    avg_error: spread.rows === 0 ? 0 : spread.errored / spread.rows,
    avg_metrics: Object.fromEntries(spread.metricSpreads().map(({ name, mean }) => [name, mean])),
  };
  return { wrong: wrongAverages(stated, rows), said: wrongAverages(saidByLog, rows) };
}

/** Averages that are told; the rest is counted. */
const TOLD = 4;

function staleText(who: string, wrong: readonly WrongAverage[]): string {
  const told = wrong.slice(0, TOLD).map(({ name, stated, recomputed }) => `${name} ${panelNumber(stated)}, its rows have ${panelNumber(recomputed)}`);
  return `${who} says ${told.join("; ")}${wrong.length > TOLD ? `; and ${wrong.length - TOLD} more` : ""}`;
}

/** Further numbers and settings; averages of metrics where no rows are counted that would say more. */
function settingLines(info: RunSummary, counted: Counted | null, width: number): readonly Line[] {
  const { metrics, settings } = info;
  const numbers = groupingOf(info, counted) === null ? info.numbers : info.numbers.filter(([name]) => !GROUPED.has(name));
  const averages = counted === null ? metrics.map(([name, mean]) => [name, panelNumber(mean)] as const) : [];
  const block = (name: string, entries: readonly Field[]): readonly Line[] => (entries.length === 0 ? [] : [title(name), ...fields(entries, width), EMPTY]);
  return [...block("Numbers", numbers), ...block("Averages", averages), ...block("Settings", settings)];
}

/** Rollouts, and how many of them ended in an error. */
function shares({ examples, rolloutsPerExample, errorShare }: RunSummary, counted: Counted | null): readonly (readonly [string, string])[] {
  const wanted = examples === null || rolloutsPerExample === null ? null : examples * rolloutsPerExample;
  const errors = counted !== null && counted.note === null && counted.spread.rows > 0 ? counted.spread.errored / counted.spread.rows : errorShare;
  const share = errorShare === null || errors === null ? [] : [["errors", `${fixed(errors * 100, 1)} %`] as const];
  if (counted !== null) return share;
  return wanted === null || wanted <= 0 ? share : [["rollouts", String(wanted)], ...share];
}

function rowLines({ spread, note }: Counted, width: number): readonly Line[] {
  const errors = spread.errors().map(([name, count]) => [`  ${name}`, String(count)] as const);
  const share = spread.rows === 0 ? "-" : `${spread.errored} of ${spread.rows} (${fixed((spread.errored / spread.rows) * 100, 1)} %)`;
  return [
    title("Rollouts"),
    ...(note === null ? [] : wrapped(note, width, "faint")),
    ...fields(
      [
        ["rows", `${spread.rows}${spread.broken > 0 ? `, and ${spread.broken} that cannot be read` : ""}`],
        ["mean reward", rewardText(spread.meanReward)],
        ["with an error", share],
        ...errors,
      ],
      width,
    ),
    EMPTY,
    ...(spread.rows === 0 ? [] : [title("Rewards"), ...classLines(spread.rewards, width), EMPTY]),
  ];
}

function classLines(rewards: RewardClasses, width: number): readonly Line[] {
  const entries = rewards.entries().filter(({ count }) => count > 0);
  // Beside the class, the count and the share.
  const bar = Math.max(4, Math.min(BAR, width - 13 - 18));
  const most = Math.max(1, ...entries.map(({ count }) => count));
  return entries.map(({ label, count }) => [
    span(label.padStart(11), "faint"),
    span(`  ${"█".repeat(Math.max(1, Math.round((count / most) * bar))).padEnd(bar)}  ${count}  ${fixed((count / rewards.total) * 100, 1)} %`),
  ]);
}

function metricLines(metrics: readonly MetricSpread[], width: number): readonly Line[] {
  if (metrics.length === 0) return [];
  const numbers = ["count", "mean", "least", "most"];
  const cell = width < 60 ? 7 : 9;
  const names = Math.max(8, Math.min(NAMES, width - numbers.length * cell));
  const cells = (values: readonly string[]): string => values.map((value) => value.padStart(cell)).join("");
  return [
    [span(padTo("Metrics", names), "strong"), span(cells(numbers), "faint")],
    ...grouped(metrics).flatMap(({ group, metrics: own }) => [
      lineOf(group, "faint"),
      ...own.map(({ name, count, mean, least, most }) =>
        lineOf(padTo(`  ${cutTo(singleLine(name), names - 2)}`, names) + cells([String(count), panelNumber(mean), panelNumber(least), panelNumber(most)])),
      ),
    ]),
  ];
}

/** An environment or a model: its runs, as far as their metadata has been read. */
export function groupLines(name: string, runs: readonly FoundRun[], infoOf: (run: FoundRun) => RunInfo | null, width: number): readonly Line[] {
  const infos = runs.map((run) => ({ run, info: infoOf(run) }));
  const read = infos.flatMap(({ run, info }) => (info === null || "problem" in info ? [] : [{ run, info }]));
  const pending = infos.filter(({ info }) => info === null).length;
  const broken = infos.length - read.length - pending;
  const averages = new RewardClasses();
  for (const { info } of read) if (info.averageReward !== null) averages.add(info.averageReward);
  const best = read.reduce<(typeof read)[number] | null>(
    (top, next) => ((next.info.averageReward ?? -Infinity) > (top?.info.averageReward ?? -Infinity) ? next : top),
    null,
  );
  const written = runs.filter(({ changed }) => changed > 0);
  const latest = written.reduce<FoundRun | undefined>((last, run) => (last === undefined || run.changed > last.changed ? run : last), undefined);
  const oldest = written.reduce((first, { changed }) => Math.min(first, changed), Number.POSITIVE_INFINITY);
  const entries: (readonly [string, string])[] = [["runs", `${runs.length}${broken > 0 ? `, ${broken} without metadata that can be read` : ""}`]];
  if (latest !== undefined) entries.push(["latest", `${dateText(latest.changed)}  ${latest.id}`], ["first", dateText(oldest)]);
  if (best !== null) entries.push(["best", `${rewardText(best.info.averageReward)}  ${best.run.id}`]);
  return [
    title(name),
    ...fields(entries, width),
    ...(pending > 0 ? [lineOf(`reading metadata: ${infos.length - pending} of ${infos.length}`, "faint")] : []),
    EMPTY,
    ...(averages.total === 0 ? [] : [title("Average rewards of the runs"), ...classLines(averages, width), EMPTY]),
    ...varyingLines(
      read.map(({ info }) => info),
      width,
    ),
  ];
}

/** Values of a setting that are shown. */
const VALUES = 6;

/** The settings in which the runs differ. */
function varyingLines(infos: readonly RunSummary[], width: number): readonly Line[] {
  const values = new Map<string, Map<string, number>>();
  for (const { settings } of infos) {
    for (const [name, value] of settings) {
      const own = values.get(name) ?? new Map<string, number>();
      own.set(value, (own.get(value) ?? 0) + 1);
      values.set(name, own);
    }
  }
  const varying = [...values].flatMap(([name, own]) => {
    const absent = infos.length - [...own.values()].reduce((sum, count) => sum + count, 0);
    const all = [...own, ...(absent > 0 ? [["(not set)", absent] as const] : [])];
    if (all.length < 2) return [];
    const texts = all.slice(0, VALUES).map(([value, count]) => `${value.slice(0, 60)} (${count})`);
    return [[name, texts.join(", ") + (all.length > VALUES ? `, … ${all.length - VALUES} more` : "")] as const];
  });
  return varying.length === 0 ? [] : [title("Settings that vary"), ...fields(varying, width)];
}

import { COVERAGE_CASES, playCoverage } from "./coverage.ts";
import { DRIFT_CASES, playDrift } from "./drift.ts";
import { GATE_CASES, playGate } from "./gate.ts";
import { LIVE_CASES, playLive } from "./live.ts";
import { playStopping, STOPPING_CASES } from "./stopping.ts";

/**
 * `npm run simulate:statistics [-- PLAYS [SEED]]`: plays runs whose truth is known, and prints how often intervals, rules to stop by,
 * gates and the detector of drift are right, as the tables of docs/statistics-simulated.md.
 */
const plays = Number(process.argv[2] ?? 2_000);
const seed = Number(process.argv[3] ?? 1);
if (!Number.isInteger(plays) || plays < 1 || !Number.isInteger(seed) || seed < 0) {
  console.error("usage: npm run simulate:statistics [-- PLAYS [SEED]]   both whole numbers, PLAYS from 1 on");
  process.exit(2);
}

const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;

function table(columns: readonly string[], rows: readonly (readonly (string | number)[])[]): void {
  console.log([columns, columns.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n"));
  console.log("");
}

table(
  ["examples", "attempts", "mean", "difficulty", "held the truth", "attempts taken as independent"],
  COVERAGE_CASES.map((each) => {
    const { examples, attempts, p, spread, covered, naive } = playCoverage(each, plays, seed);
    return [examples, attempts, p, spread === 0 ? "the same" : "of all sizes", percent(covered), percent(naive)];
  }),
);
table(
  ["a wrong answer takes", "done", "first ones without a gap: held", "off by", "all that is done: held", "off by", "plays with such a number"],
  LIVE_CASES.map((each) => {
    const { slower, at, prefix, naive, looks } = playLive(each, plays, seed);
    const shares = [prefix, naive].flatMap(({ covered, bias }) => [percent(covered), bias.toFixed(3)]);
    return [slower === 1 ? "as long" : `${slower} times as long`, percent(at), ...shares, percent(looks / plays)];
  }),
);
table(
  ["rule", "run of 1,000 examples", "ever wrong", "ended early", "median share of examples saved"],
  STOPPING_CASES.map((each) => {
    const { case: name, rule, missed, stopped, saved } = playStopping(each, plays, seed);
    return [`\`${rule}\``, name, percent(missed), percent(stopped), percent(saved)];
  }),
);
table(
  ["truth", "`--max-drop`", "examples", "attempts", "mean of the baseline", "pass", "fail", "undecided"],
  GATE_CASES.map((each) => {
    const { examples, attempts, p, drop, maxDrop, verdicts } = playGate(each, plays, seed);
    const size = each.examples === null ? `${examples} (planned)` : examples;
    return [drop === 0 ? "the same" : `${drop} worse`, maxDrop, size, attempts, p, ...[verdicts.pass, verdicts.fail, verdicts.undecided].map(percent)];
  }),
);
const [stable, dropped] = [false, true].map((isDropped) =>
  DRIFT_CASES.filter(({ drop }) => drop > 0 === isDropped).map((each) => playDrift(each, isDropped ? plays : Math.ceil(plays / 10), seed)),
);
table(
  ["examples", "attempts", "mean", "runs of the baseline", "false alarms in 100 runs"],
  (stable ?? []).map(({ examples, attempts, p, first, alarms }) => [examples, attempts, p, first, alarms.toFixed(2)]),
);
table(
  ["examples", "attempts", "mean", "runs of the baseline", "steady runs before", "median delay in runs", "within 5", "within 10", "within 20"],
  (dropped ?? []).map(({ examples, attempts, p, first, steady, delay, found }) => [
    examples,
    attempts,
    p,
    first,
    steady,
    delay ?? "over 40",
    ...found.map(percent),
  ]),
);

/**
 * Our comparison of mathematical answers beside Python's `math-verify`, called as verifiers' MathRubric calls it:
 *
 *   python3 -m venv venv && venv/bin/pip install verifiers==0.1.14 math-verify==0.9.0
 *   node tools/math-verify.ts venv/bin/python [--seed 1] [--golds FILE.jsonl] [--record]
 *
 * Draws some thousands of pairs of answers from the seed (`tools/verifiers/math-pairs.ts`), with `--golds` also rewritings of the field
 * `answer` of each line, and compares each both ways round. Prints the differences of known kinds by count, and the others one by one; exit
 * code 1 when there are others. `--record` keeps pairs, verdicts and kinds in test/fixtures/math-verify.tsv, which `npm test` holds ours to
 * without Python; pairs from `--golds` are never kept.
 */
import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { MathBoundError } from "../src/rubrics/math/budget.ts";
import { sameAnswer } from "../src/rubrics/math/same-answer.ts";
import { differenceOf } from "./verifiers/math-differences.ts";
import { goldPairs, type MathPair, mathPairs } from "./verifiers/math-pairs.ts";

const FIXTURE = join(import.meta.dirname, "../test/fixtures/math-verify.tsv");
const SCRIPT = join(import.meta.dirname, "verifiers/math_verdicts.py");
/** Those of MathRubric. */
const LIMITS = { maxChars: 50_000, maxSteps: 100_000 };

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { seed: { type: "string", default: "1" }, golds: { type: "string" }, record: { type: "boolean", default: false } },
});
const [python] = positionals;
if (python === undefined || !/^\d+$/.test(values.seed) || (values.record && values.golds !== undefined)) {
  console.error("usage: node tools/math-verify.ts PATH/TO/python [--seed N] [--golds FILE.jsonl | --record]");
  process.exit(2);
}

type Asked = readonly [expected: string, response: string];

/** math-verify's verdict on each: `1`, `0`, or `T` past its time limit. */
async function verdictsOf(asked: readonly Asked[]): Promise<string[]> {
  const child = spawn(resolve(python ?? ""), [SCRIPT], { stdio: ["pipe", "pipe", "ignore"] });
  child.stdin.end(JSON.stringify(asked));
  let text = "";
  for await (const chunk of child.stdout.setEncoding("utf8")) text += chunk;
  const lines = text.trimEnd().split("\n");
  if (lines.length !== asked.length) throw new Error(`math-verify gave ${lines.length} verdicts on ${asked.length} pairs`);
  return lines.map((line) => line.split(" ")[1] ?? "");
}

/** `E`: beyond the bounds. */
function ourVerdict(expected: string, response: string): string {
  try {
    return sameAnswer(expected, response, LIMITS) ? "1" : "0";
  } catch (thrown) {
    if (thrown instanceof MathBoundError) return "E";
    throw thrown;
  }
}

const answersIn = (file: string): string[] =>
  readFileSync(file, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => (JSON.parse(line) as { answer: string }).answer);

const seed = Number(values.seed);
const pairs: readonly MathPair[] = values.golds === undefined ? mathPairs(seed) : goldPairs(answersIn(values.golds), seed);
const [forth, back] = await Promise.all([
  verdictsOf(pairs.map(({ expected, response }) => [expected, response])),
  verdictsOf(pairs.map(({ expected, response }) => [response, expected])),
]);

const kinds = new Map<string, number>();
const unknown: string[] = [];
const lines = pairs.map(({ family, expected, response }, index) => {
  const theirs = `${forth[index]}${back[index]}`;
  const ours = ourVerdict(expected, response) + ourVerdict(response, expected);
  if (ours === theirs) return [expected, response, theirs].join("\t");
  const difference = differenceOf(expected, response, ours, theirs);
  if (difference === null) unknown.push(`${family}: ours ${ours}, theirs ${theirs}: ${expected}   and   ${response}`);
  const kind = difference === null ? "unknown" : `${difference.name} (${difference.right})`;
  kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  return [expected, response, theirs, difference?.name ?? "unknown"].join("\t");
});
const differing = [...kinds.values()].reduce((sum, count) => sum + count, 0);
console.log(`${pairs.length} pairs, both ways round: ${pairs.length - differing} with the same verdicts, ${differing} with others`);
for (const [kind, count] of [...kinds].sort(([, a], [, b]) => b - a)) console.log(`${String(count).padStart(5)} ${kind}`);
for (const line of unknown) console.log(line);
if (values.record) writeFileSync(FIXTURE, `${lines.join("\n")}\n`);
process.exitCode = unknown.length === 0 ? 0 : 1;

/**
 * `npm run bench [-- NAME... [--out FILE] [--rollouts N]]`: measures the built command against the scripted model server on loopback, prints a table and
 * writes JSON. Numbers are ratios within one run wherever the machine would decide otherwise.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { workplace } from "./edgewise-process.ts";
import { isMet, type Measure, tableOf } from "./measure.ts";
import type { Scenario } from "./scenario.ts";
import { bareLoop } from "./scenarios/bare-loop.ts";
import { coldStart } from "./scenarios/cold-start.ts";
import { comparing } from "./scenarios/compare.ts";
import { crowd } from "./scenarios/crowd.ts";
import { dashboard } from "./scenarios/dashboard.ts";
import { dispatcher } from "./scenarios/dispatcher.ts";
import { efficiency } from "./scenarios/efficiency.ts";
import { exporting } from "./scenarios/travel/export.ts";
import { hubPush } from "./scenarios/travel/hub-push.ts";
import { folder } from "./scenarios/folder.ts";
import { folders } from "./scenarios/folders.ts";
import { followers } from "./scenarios/followers.ts";
import { grid } from "./scenarios/grid.ts";
import { likelihood } from "./scenarios/likelihood.ts";
import { merging } from "./scenarios/merging.ts";
import { limits } from "./scenarios/limits.ts";
import { memory } from "./scenarios/memory.ts";
import { operations } from "./scenarios/operations.ts";
import { overhead } from "./scenarios/overhead.ts";
import { paging } from "./scenarios/paging.ts";
import { pushing } from "./scenarios/travel/pushing.ts";
import { python } from "./scenarios/python.ts";
import { runLoad } from "./scenarios/run-load.ts";
import { samplesPage } from "./scenarios/samples-page.ts";
import { scale } from "./scenarios/scale.ts";
import { schedules } from "./scenarios/schedules.ts";
import { spans } from "./scenarios/spans.ts";
import { throughput } from "./scenarios/throughput.ts";
import { turns } from "./scenarios/turns.ts";
import { walls } from "./scenarios/walls.ts";

/** In this order, one to a line. */
const SCENARIOS: Readonly<Record<string, Scenario>> = {
  "cold-start": coldStart,
  throughput,
  efficiency,
  memory,
  operations,
  overhead,
  likelihood,
  limits,
  folder,
  export: exporting,
  "hub-push": hubPush,
  pushing,
  compare: comparing,
  followers,
  dashboard,
  paging,
  grid,
  "samples-page": samplesPage,
  folders,
  dispatcher,
  crowd,
  "run-load": runLoad,
  turns,
  "bare-loop": bareLoop,
  schedules,
  scale,
  merging,
  spans,
  walls,
  python,
};
/** `bare-loop` alone is part of `throughput`; `crowd`, `folders`, `grid`, `limits`, `merging`, `pushing`, `python`, `samples-page`, `schedules`, `spans` and `walls` take minutes, and `scale` a quarter of an hour. */
const ASKED_FOR: readonly string[] = [
  "bare-loop",
  "crowd",
  "folders",
  "grid",
  "limits",
  "merging",
  "pushing",
  "python",
  "samples-page",
  "scale",
  "schedules",
  "spans",
  "walls",
];
const DEFAULT = Object.keys(SCENARIOS).filter((name) => !ASKED_FOR.includes(name));

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { out: { type: "string", default: "outputs/bench.json" }, rollouts: { type: "string", default: "1000000" } },
});
const rollouts = Number(values.rollouts);
if (!Number.isSafeInteger(rollouts) || rollouts < 1_000) {
  console.error(`--rollouts ${values.rollouts}: a whole number from 1,000 on is what scale is made for`);
  process.exit(2);
}
const unknown = positionals.filter((name) => !Object.hasOwn(SCENARIOS, name));
if (unknown.length > 0) {
  console.error(`unknown scenario ${unknown.join(", ")}; there are: ${Object.keys(SCENARIOS).join(", ")}`);
  process.exit(2);
}

const scratch = mkdtempSync(join(tmpdir(), "edgewise-bench-"));
const measures: Measure[] = [];
const failures: string[] = [];
for (const name of positionals.length > 0 ? positionals : DEFAULT) {
  console.error(`${name} …`);
  try {
    measures.push(...((await SCENARIOS[name]?.((place) => workplace(join(scratch, place)), { rollouts })) ?? []));
  } catch (error) {
    failures.push(name);
    console.error(`${name}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

const out = resolve(values.out);
mkdirSync(dirname(out), { recursive: true });
const machine = { cpus: cpus().length, model: cpus()[0]?.model ?? "", node: process.versions.node, platform: `${process.platform}-${process.arch}` };
writeFileSync(
  out,
  `${JSON.stringify({ time: new Date().toISOString(), machine, failed: failures, measures: measures.map((one) => ({ ...one, met: isMet(one) })) }, null, 2)}\n`,
);
console.log(`${tableOf(measures)}\n\nJSON: ${out}`);

// What was left behind explains a failure.
if (failures.length === 0) rmSync(scratch, { recursive: true, force: true });
else console.error(`failed: ${failures.join(", ")}; logs are in ${scratch}`);
process.exitCode = failures.length === 0 ? 0 : 1;

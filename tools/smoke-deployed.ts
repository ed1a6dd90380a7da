/**
 * `npm run smoke:deployed`: what only the real platform shows, on a deployment. Two runs at once call a probe (`tools/smoke/probe-worker.ts`) that takes
 * 30 s to answer: 500 requests each, 16 rollouts per example, the first longer than an invocation may last. Prints each number beside what to compare it
 * with, and ends with 1 where a hard rule is broken: rows missing or twice, a run that does not end, more requests at once than `max_concurrent`.
 *
 * `--local` is a dry run of the same on this machine, a hundredth as long; `-m MODEL -b URL` one small run of a real model instead.
 * EDGEWISE_URL and EDGEWISE_TOKEN name the deployment; KEY_VAR names a secret of the deployment, never a key.
 */
import { ServiceError, ServiceUnreachable } from "../src/cli/connection/http-client.ts";
import { findingsTable } from "./smoke/findings.ts";
import { readPlan, USAGE, UsageError } from "./smoke/plan.ts";
import { smoke } from "./smoke/smoke.ts";

try {
  const plan = readPlan(process.argv.slice(2), process.env);
  const { findings, broken } = await smoke(plan);
  console.log(findingsTable(findings));
  if (plan.kind === "local") console.log("A dry run: times are those of this machine and short. What holds here are the rules, not the numbers.");
  for (const problem of broken) console.log(`BROKEN ${problem}`);
  if (broken.length === 0) console.log("smoke: no hard rule is broken");
  process.exitCode = broken.length === 0 ? 0 : 1;
} catch (error) {
  if (error instanceof UsageError || (error as { code?: unknown }).code === "ERR_PARSE_ARGS_UNKNOWN_OPTION") {
    console.error(`${(error as Error).message}\n${USAGE}`);
    process.exitCode = 2;
  } else {
    const hint =
      error instanceof ServiceError && error.hint !== null ? `\n${error.hint}` : error instanceof ServiceUnreachable ? "\nIs EDGEWISE_URL right?" : "";
    console.error(`smoke: ${error instanceof Error ? error.message : String(error)}${hint}`);
    process.exitCode = 1;
  }
}

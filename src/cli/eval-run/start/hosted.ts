/** `eval run --hosted`: runs that are created at the service elsewhere and left to themselves, and which flags make sense there. */
import { randomBytes } from "node:crypto";
import { HOSTED_ONLY } from "../../../config/options/hosted-options.ts";
import { type CommonPart, partsAtOnce } from "../../../endpoint-limits/common-limit.ts";
import { printable } from "../../../report/text/printable.ts";
import { asUsage, EXIT, type ExitCode, usageError } from "../../terminal/cli-error.ts";
import type { EvalCommand } from "../wish/eval-wish.ts";
import { explain } from "../../service/explain.ts";
import { flagName, type GivenOptions } from "../../command-line/flags.ts";
import { openRemoteService } from "../../service/remote-service.ts";
import type { Service } from "../../service/service.ts";
import { sharingOf } from "../common-limit.ts";
import { withKeptEndpoints } from "./kept-endpoints.ts";
import { checkWish, datasetsOf, withDataset } from "../run-play.ts";
import { outputBase } from "../../results/results-folder.ts";
import { startRun } from "./start-run.ts";

/** Refuses flags that would have no effect. Throws a usage error that names the flag and what to type instead. */
export function checkHostedFlags(typed: GivenOptions, env: NodeJS.ProcessEnv): void {
  const given = <Name extends keyof GivenOptions>(names: readonly Name[]): Name | undefined => names.find((name) => typed[name] !== undefined);
  if (typed.hosted !== true) {
    const alone = given(HOSTED_ONLY);
    if (alone !== undefined) throw usageError(`${flagName(alone)} applies only to runs of a service elsewhere`, "Add --hosted.");
    return;
  }
  if (!env.EDGEWISE_URL) {
    throw usageError(
      "--hosted needs a service, and EDGEWISE_URL does not name one",
      "export EDGEWISE_URL=https://edgewise.YOUR-SUBDOMAIN.workers.dev EDGEWISE_TOKEN=…",
      "Without --hosted the run happens on this machine.",
    );
  }
  if (typed.resume !== undefined)
    throw usageError(`${flagName("resume")} makes no new run, and --hosted does`, "To go on with one of the service, leave out --hosted.");
  if (typed.follow === true) return;
  const useless = given(["poll_interval", "output_dir", "no_save", "fullscreen", "abbreviated_summary", "by"] as const);
  if (useless !== undefined) throw usageError(`${flagName(useless)} has no effect on a run that is not followed`, "Add --follow.");
}

/** What follows from the evaluations that a hosted command asks for: one can be followed, and none is gone on with. */
export function checkHostedEvals(typed: GivenOptions, evals: readonly { readonly given: GivenOptions; readonly place: string | null }[]): void {
  if (typed.hosted !== true) return;
  if (typed.follow === true && evals.length > 1) {
    throw usageError(`--follow follows one run, and this asks for ${evals.length}`, "Leave it out, and follow each: npx edgewise eval logs ID -f");
  }
  const resumed = evals.find(({ given }) => given.resume !== undefined && given.resume !== false);
  if (resumed !== undefined) throw usageError(`${resumed.place ?? "the evaluation"}: resume makes no new run, and --hosted does`);
}

/** Creates the runs, one request each, prints id and link of each, and returns. Runs created before one that is refused go on. */
export async function hostedRun(command: EvalCommand): Promise<ExitCode> {
  const { evals, environments, cwd, env, terminal } = command;
  for (const wish of evals) checkWish(wish, cwd, null);
  const datasets = await datasetsOf(evals, cwd);
  const service = await openRemoteService(env);
  const parts = await partsOf(command, service);
  for (const [index, { envId, reference, replicas, label, linkHints = [], ...wish }] of evals.entries()) {
    const part = parts[index];
    const dataset = datasets[index] ?? null;
    const given = { ...withDataset(wish.given, dataset), ...(part === undefined ? {} : { max_concurrent: part.max_concurrent }) };
    try {
      const common = part?.common_limit === undefined ? {} : { commonLimit: part.common_limit };
      const request = { envId, reference, given, replicas, ...common, dataset, base: outputBase(cwd, envId, given), cwd, envVersion: null };
      const { evaluation } = await startRun(service.client, request, new AbortController().signal);
      if (evals.length > 1) terminal.print(`${printable(label)}:`);
      terminal.print(`Evaluation ID: ${evaluation.evaluation_id}`);
      terminal.print(printable(evaluation.viewer_url));
      terminal.print(`Follow it: npx edgewise eval logs ${evaluation.evaluation_id} -f`);
    } catch (error) {
      throw explain(error, { service, env, wish: { envId, given, linkHints, environments: environments.map(({ id }) => id) } });
    }
  }
  return EXIT.completed;
}

/** What each gets of a common limit: nobody stays to hand out what becomes free. Empty where there is none. */
async function partsOf({ evals, maxConcurrentTotal, named }: EvalCommand, { client }: Service): Promise<readonly CommonPart[]> {
  if (maxConcurrentTotal === null) return [];
  // An endpoint that the service keeps may have several places.
  const sharing = sharingOf(await withKeptEndpoints(client, evals));
  return asUsage(() => partsAtOnce(maxConcurrentTotal, sharing, named))(randomBytes(8).toString("hex"));
}

import type { RunView } from "../../../durable-objects/run/control.ts";
import { isRunId } from "../../../r2-layout/keys.ts";
import { BASELINE_RULE, isBaselineName } from "../../config/baseline-name.ts";
import { canonicalJson } from "../../config/canonical-json.ts";
import { locationOf } from "../../config/options/options.ts";
import { formatStopRule, NO_STOP_RULE, parseStopRule } from "../../config/options/stop-rule.ts";
import type { RunConfig } from "../../config/plan/run-config.ts";
import { uploadDigestsIn } from "../../config/upload-digests.ts";
import type { EdgewiseError } from "../../errors/result.ts";
import { comparability, type ComparedFacts } from "../../metrics/comparison/comparability.ts";
import type { AppPorts } from "../app-ports.ts";
import { invalid } from "../errors.ts";
import { readTwice } from "../read-twice.ts";
import type { UnnamedConfig } from "./resolve.ts";

const refuse = (message: string): EdgewiseError => invalid(locationOf("stop_when"), message);

/** The rule as it is stored: a baseline by the id of its run, since its name may be another run's tomorrow. Throws `invalid_request`. */
export async function namedStopRule(ports: AppPorts, text: string): Promise<string> {
  if (text.trim() === NO_STOP_RULE) return NO_STOP_RULE;
  const rule = parseStopRule(text);
  return rule.kind === "versus" ? formatStopRule({ ...rule, baseline: await runOfBaseline(ports, rule.baseline) }) : formatStopRule(rule);
}

async function runOfBaseline(ports: AppPorts, name: string): Promise<string> {
  if (isRunId(name)) return name;
  if (!isBaselineName(name)) throw refuse(`${JSON.stringify(name)} is neither the id of a run nor the name of a baseline, which ${BASELINE_RULE}`);
  const found = await readTwice(
    () => ports.registry,
    (registry) => registry.baseline(name),
  );
  if (found === null) throw refuse(`there is no baseline ${name}: \`npx edgewise baseline list\` shows those there are`);
  return found.run_id;
}

/**
 * What a config says of the run that its rule holds it against; nothing where the rule names none. Throws `invalid_request` for a run that is not there, has
 * no rows to compare, or is of something else. Whether it has each of the examples is found when they are read.
 */
export async function stopBaselineOf(ports: AppPorts, config: UnnamedConfig): Promise<Partial<RunConfig>> {
  if (config.stop_when === undefined) return {};
  const stop_when = await namedStopRule(ports, config.stop_when);
  const rule = parseStopRule(stop_when);
  if (rule.kind !== "versus") return { stop_when };
  const view = await readTwice(
    () => ports.run(rule.baseline),
    (run) => run.view(),
  );
  if (view === null) throw refuse(`there is no run ${rule.baseline}: \`npx edgewise eval list\` shows those there are`);
  const problem = problemOf(view, config, await ports.envDigest(config));
  if (problem !== null) throw refuse(`run ${rule.baseline} is no baseline for it: ${problem}`);
  const { run_id, env_id, model } = view.config;
  return { stop_when, stop_baseline: { run_id, env_id, model, dataset_digest: view.dataset_digest } };
}

function problemOf(baseline: RunView, config: UnnamedConfig, envDigest: string | null): string | null {
  if (baseline.pushed !== undefined) return "it was pushed, and what scored it is not known";
  if (baseline.phase !== "settled") return "it has not ended: follow it to its end first";
  if (baseline.totals.rollouts === 0) return "it has no rows";
  const { refusals } = comparability(factsOf(baseline.config, baseline.env_digest, baseline.env_digests), factsOf(config, envDigest), false);
  const [refusal] = refusals;
  if (refusal !== undefined) return `${refusal.reason}. ${refusal.hint.replaceAll(" If they score alike, say so: --accept-code-change.", "")}`;
  const data = ({ env_args, extra_env_kwargs = {} }: Pick<RunConfig, "env_args" | "extra_env_kwargs">): string =>
    canonicalJson([env_args.dataset ?? null, uploadDigestsIn(env_args, extra_env_kwargs).sort()]);
  return data(baseline.config) === data(config) ? null : "it is of other data (env_args.dataset)";
}

const factsOf = (config: Pick<RunConfig, "env_id" | "env_version" | "env_args" | "extra_env_kwargs">, digest: string | null, codes = {}): ComparedFacts => ({
  env_id: config.env_id,
  env_version: config.env_version,
  env_digest: digest,
  codes: Math.max(1, Object.keys(codes).length),
  arguments: { ...config.env_args, ...config.extra_env_kwargs },
  source: null,
  cluster_by: null,
  run_id: null,
  rows_sha256: null,
  rescored: null,
  ended: true,
});

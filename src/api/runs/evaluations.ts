import { problemAt } from "../creation/rescore-source.ts";
import { Hono } from "hono";
import type { ResumeRequest, RunView } from "../../../durable-objects/run/control.ts";
import type { RunStanding } from "../../../durable-objects/registry/registry-control.ts";
import { configKey } from "../../../r2-layout/keys.ts";
import { prospectsOf } from "../../errors/leftovers.ts";
import { isPassing } from "../../errors/passing.ts";
import { batchField } from "../../config/plan/run-batch.ts";
import { cacheDaysProblem } from "../../config/plan/run-cache.ts";
import { placesOf, type RunConfig } from "../../config/plan/run-config.ts";
import type { RunStatus } from "../../config/run-status.ts";
import { namedSandbox } from "../../config/sandbox-names.ts";
import { shownConfig } from "../../config/plan/shown-config.ts";
import { allowedAccess } from "../../environments/definition/access.ts";
import { teamField } from "../../teams/team-name.ts";
import { isAttended } from "../access/access.ts";
import { portsFor } from "../access/team-of-request.ts";
import type { AppContext } from "../app-context.ts";
import type { AppPorts } from "../app-ports.ts";
import { check, parseBody, readJsonText } from "../body.ts";
import { heldBudgets, payForResume, spentOfRun } from "../budgets/run-budget.ts";
import { monitorOfRun } from "../monitors/monitors-of.ts";
import { checkEndpoint, checkHeartbeat } from "../creation/endpoint-access.ts";
import { writtenOut } from "../creation/named-limits.ts";
import { invalid, refused, unwrap } from "../errors.ts";
import { evaluationObject, listedEvaluation } from "./evaluation-object.ts";
import { unlessOlder } from "../older-object.ts";
import { readTwice } from "../read-twice.ts";
import { NO_STOP_RULE } from "../../config/options/stop-rule.ts";
import { namedStopRule } from "../creation/stop-baseline.ts";
import { checkBatch } from "./resume-batch.ts";
import { resumedWithin } from "./resume-within.ts";
import { runIdOf, runOf, viewOf } from "./run-of.ts";
import { listQuery } from "./list-schemas.ts";
import { emptyBody, type ResumeBody, resumeBody } from "../schemas.ts";
import { keeperOf } from "../secrets/custom-secrets.ts";
import { mustHave, orTakenBack, secretsOfResume } from "../secrets/secrets-of-resume.ts";
import { checkedEnvironment, keyOfPlace, type SecretsOfRun, sandboxesOf } from "../secrets/secrets-of-run.ts";

/** `/evaluations`: list, look at, interrupt, resume and delete runs. */
export const evaluations = new Hono<AppContext>();

evaluations.get("/", async (c) => {
  const { skip, limit, environment_name, suite_id, team_id, search, status, model, tag, created_by, sort, order } = check(listQuery, c.req.query(), "query");
  // No run of this service belongs to a suite.
  if (suite_id !== undefined) return c.json({ evaluations: [], total: 0, skip, limit });
  const ports = await portsFor(c, team_id);
  const query = {
    ...{ skip, limit, environment_name: environment_name ?? null },
    ...(sort === "created" && order === "desc" ? {} : { sort, order }),
    ...(search === undefined ? {} : { search }),
    ...(status === undefined ? {} : { statuses: status.split(",") as RunStatus[] }),
    ...(model === undefined ? {} : { model }),
    ...(tag === undefined ? {} : { tag }),
    ...(created_by === undefined ? {} : { created_by }),
  };
  const { runs, total } = await readTwice(
    () => ports.registry,
    (registry) => registry.list(query),
  );
  const { origin } = new URL(c.req.url);
  return c.json({ evaluations: runs.map((run) => listedEvaluation({ ...run, ...teamField(ports.team) }, origin)), total, skip, limit });
});

evaluations.get("/:id", async (c) => {
  const view = await viewOf(c);
  // Runs that work are asked for again and again, and have no notice.
  const standing: Partial<RunStanding> =
    view.phase !== "settled"
      ? {}
      : await readTwice(
          () => c.var.ports.registry,
          (registry) => unlessOlder<Partial<RunStanding>>(registry.standing(runIdOf(c)), {}),
        );
  const digest = view.pushed === undefined ? await digestNow(c.var.ports, view.config) : null;
  return c.json(evaluationObject(view, new URL(c.req.url).origin, digest, { ...standing, ...(await spentOfRun(c.var.ports, view.config)) }));
});

/** Null where it cannot be told now, as of an environment whose link has lapsed: a run is shown in any case. */
async function digestNow(ports: AppPorts, config: RunConfig): Promise<string | null> {
  try {
    return await ports.envDigest(config);
  } catch (thrown) {
    if (isPassing(thrown)) return null;
    throw thrown;
  }
}

evaluations.post("/:id/interrupt", async (c) => {
  parseBody(emptyBody, await readJsonText(c.req.raw));
  unwrap(await runOf(c).interrupt());
  return c.json({ message: "Evaluation interrupted; it waits to be resumed." });
});

evaluations.post("/:id/resume", async (c) => {
  const { ports } = c.var;
  const { facts, store } = ports;
  const body = parseBody(resumeBody, await readJsonText(c.req.raw));
  const view = await viewOf(c);
  if (view.pushed !== undefined)
    throw refused({ code: "illegal_transition", message: "The evaluation was pushed: nothing of it is made here, so there is nothing to resume." });
  const attended = isAttended(facts, c.req.raw);
  const baseUrl = body.api_base_url ?? body.expect.base_url ?? null;
  const endpoint = { base_url: baseUrl ?? view.config.base_url, api_key_var: body.api_key_var ?? view.config.api_key_var };
  const moved = endpoint.base_url === view.config.base_url ? undefined : endpoint.base_url;
  const places = moved === undefined && body.api_key_var === undefined ? placesOf(view.config) : [endpoint];
  const custom = body.custom_secrets ?? {};
  const has = await secretsOfResume(ports, view, body, places);
  if (!attended) checkEndpoint(facts, { api_base_url: moved, api_key_var: body.api_key_var }, endpoint, ["body"], has.secrets);
  checkHeartbeat(facts, body.heartbeat_url, ["body"]);
  const days = cacheDaysProblem(body, view.config.cache);
  if (days !== null) throw invalid(["body", "cache_days"], days);
  checkBatch(view, body, places);
  await checkLoading(ports, view, body, has);
  const envDigest = await ports.envDigest(view.config);
  const calls = mayCall(view, body, envDigest);
  if (calls) {
    await checkSandbox(ports, has, body.sandbox ?? view.config.sandbox);
    mustHave(view.config.secrets ?? [], has.secrets);
    if (view.config.rescored_from === undefined) for (const place of places) unwrap(keyOfPlace(ports, has.secrets, place.api_key_var, place.base_url));
  }
  const held = await heldBudgets(ports);
  const max_cost = body.max_cost ?? view.config.max_cost;
  const paid = { ...view.config, replicas: places, ...endpoint, budgets: held, ...(max_cost === undefined ? {} : { max_cost }) };
  const settleLimit = calls ? await payForResume(ports, view, paid, body.max_cost) : null;
  const kept = await (await keeperOf(ports, [custom]))(view.config.run_id, custom, view.generation + 1);
  if (kept !== null) throw refused(kept);
  const request: ResumeRequest = {
    secrets: has.secrets.names.length === 0 ? null : has.secrets.names,
    boot: facts.boot,
    attended,
    num_examples: body.num_examples ?? null,
    keep_errors: body.keep_errors ?? false,
    // A run made with another version of its environment is another evaluation, whatever the caller believes.
    expect: { env_version: (await ports.offered(view.config))?.version, ...body.expect },
    base_url: baseUrl,
    api_key_var: body.api_key_var ?? null,
    max_concurrent: body.max_concurrent ?? null,
    max_concurrent_generation: body.max_concurrent_generation ?? null,
    max_concurrent_scoring: body.max_concurrent_scoring ?? null,
    priority: body.priority ?? null,
    limits: (await writtenOut(ports, body.limits, ["body", "limits"])) ?? null,
    common_limit: body.common_limit ?? null,
    max_cost: body.max_cost ?? null,
    budgets: held,
    headers: body.headers ?? null,
    headers_from_state: body.headers_from_state ?? null,
    verbose: body.verbose ?? null,
    cache: body.cache ?? null,
    cache_days: body.cache_days ?? null,
    batch: body.batch ?? null,
    num_workers: body.num_workers ?? null,
    no_interleave_scoring: body.no_interleave_scoring ?? null,
    sandbox: body.sandbox ?? null,
    heartbeat_url: body.heartbeat_url ?? null,
    ...(body.monitor === undefined ? {} : { monitor: await monitorOfRun(ports, body.monitor) }),
    stall_minutes: body.stall_minutes ?? null,
    max_retries: body.max_retries ?? null,
    timeout_minutes: body.timeout_minutes ?? null,
    stop_when: body.stop_when === undefined ? null : await namedStopRule(ports, body.stop_when),
    dataset_name: body.dataset_name ?? null,
    env_digest: envDigest,
    accept_code_change: body.accept_code_change ?? false,
  };
  const resumed = await orTakenBack(ports, view, custom, resumedWithin(c, view, request, calls));
  await settleLimit?.();
  const { owed_rollouts, owed_scores = 0, warnings } = unwrap(resumed);
  const { config } = await viewOf(c);
  await store.putText(configKey(config.run_id), `${JSON.stringify(shownConfig(config))}\n`);
  return c.json({ evaluation_id: runIdOf(c), owed_rollouts, owed_scores, warnings });
});

evaluations.put("/:id/keep", async (c) => {
  parseBody(emptyBody, await readJsonText(c.req.raw));
  await viewOf(c);
  unwrap(await c.var.ports.registry.keep(runIdOf(c), true));
  return c.json({ message: "Evaluation kept: it is not removed for its age." });
});

evaluations.delete("/:id/keep", async (c) => {
  await viewOf(c);
  unwrap(await c.var.ports.registry.keep(runIdOf(c), false));
  return c.json({ message: "Evaluation not kept any more: it is removed when it is as old as its team says, with a notice before." });
});

evaluations.delete("/:id", async (c) => {
  unwrap(await runOf(c).remove());
  return c.json({ message: "Evaluation deleted." });
});

/** A run without a row may be resumed with other arguments of its environment, and any with batches: its environment is asked as at a creation. */
async function checkLoading(ports: AppPorts, { config, totals }: RunView, { expect, batch }: ResumeBody, has: SecretsOfRun): Promise<void> {
  const definition = await ports.offered(config);
  const loads = totals.rollouts === 0 && (expect.env_args !== undefined || expect.extra_env_kwargs !== undefined);
  const turns = batch === true && config.batch !== true;
  if (definition === null || !(loads || turns)) return;
  const { env_args = config.env_args, extra_env_kwargs = config.extra_env_kwargs ?? {} } = loads ? expect : {};
  const wanted = {
    env_args,
    extra_env_kwargs,
    independent_scoring: config.independent_scoring,
    ...batchField(batch ?? config.batch),
    model_keys: placesOf(config).map((place) => place.api_key_var),
    allowed: allowedAccess(config),
    chosen: config.sandbox ?? null,
  };
  const problem = await checkedEnvironment(ports, definition, wanted, has);
  if (problem === null) return;
  throw invalid(problem.option === "batch" ? ["body", "batch"] : ["body", "expect", ...problemAt(problem.option)], problem.message);
}

/** The sandboxes that the run has chosen can be had, here and now. */
async function checkSandbox(ports: AppPorts, has: SecretsOfRun, chosen: RunConfig["sandbox"]): Promise<void> {
  if (chosen === undefined) return;
  const named = namedSandbox(await sandboxesOf(ports, has, chosen));
  if ("problem" in named) throw invalid(["body", "sandbox"], named.problem);
}

/** False when a resume has no executor work, and so needs no key: everything is done, nothing is repaired or scored again, nothing grows. */
function mayCall(view: RunView, body: ResumeBody, envDigest: string | null): boolean {
  const { units, totals, config } = view;
  if (view.stopped_early !== undefined) return body.stop_when?.trim() === NO_STOP_RULE;
  const otherCode = envDigest !== null && view.env_digest !== null && envDigest !== view.env_digest;
  const { rollouts, scores } = prospectsOf({ missing: 0, errors: totals.errors }, otherCode);
  const repairs = body.keep_errors !== true && rollouts + scores > 0;
  const wanted = body.num_examples ?? config.num_examples;
  const grows = config.num_examples >= 1 && (wanted < 1 || wanted > config.num_examples);
  return view.phase !== "settled" || units.done < units.total || view.dataset_digest === null || repairs || grows;
}

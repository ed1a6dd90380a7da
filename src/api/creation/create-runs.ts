import type { ImportSource } from "../../../durable-objects/run/control.ts";
import { datasetKey } from "../../../r2-layout/keys.ts";
import { codeRefusal, codeVerdict } from "../../config/env-digest.ts";
import { rowOfLimit } from "../../config/endpoints/limit-rows.ts";
import { rowOfPrice } from "../../config/endpoints/price-rows.ts";
import { locationOf } from "../../config/options/options.ts";
import { NO_STOP_RULE } from "../../config/options/stop-rule.ts";
import { type RunRequest, resolveRun, type UnnamedConfig } from "./resolve.ts";
import { batchField } from "../../config/plan/run-batch.ts";
import { type JsonObject, placesOf, type RunConfig } from "../../config/plan/run-config.ts";
import { uploadDigestsIn } from "../../config/upload-digests.ts";
import { EdgewiseError, type Failure } from "../../errors/result.ts";
import type { TokenUse } from "../../teams/admission.ts";
import { allowedAccess } from "../../environments/definition/access.ts";
import { teamField } from "../../teams/team-name.ts";
import { MAX_MANIFEST_BYTES } from "../../limits.ts";
import type { AppPorts } from "../app-ports.ts";
import { budgetNamed, heldBudgets, mustBePayable, setRunBudget } from "../budgets/run-budget.ts";
import { spentBudgets } from "../budgets/spent-budgets.ts";
import { checkEndpoint, checkHeartbeat } from "./endpoint-access.ts";
import { monitorsOfRuns } from "../monitors/monitors-of.ts";
import { commonParts, mustBeAtOnePlace } from "./common-limit.ts";
import { hubPushOf } from "./hub-push.ts";
import { withNamedDataset } from "./named-dataset.ts";
import { withNamedEndpoint } from "./named-endpoint.ts";
import { writtenOut } from "./named-limits.ts";
import { pricesWrittenOut } from "./named-prices.ts";
import { findByReference } from "../environment-ids.ts";
import { InvalidRequest, invalid, logUnexpected, refused, unwrap } from "../errors.ts";
import { type CreateBody, HOSTED_FIELDS } from "../schemas.ts";
import { type CustomSecrets, keeperOf, secretFields } from "../secrets/custom-secrets.ts";
import { checkedEnvironment, declaredBy, keyOfPlace, secretsOfRun } from "../secrets/secrets-of-run.ts";
import { ineffective, problemAt, type Rescoring, rescoringOf } from "./rescore-source.ts";
import { randomIds, SPARE_IDS } from "./run-ids.ts";
import { stopBaselineOf } from "./stop-baseline.ts";
import { startRun } from "./start-run.ts";

/** One set of settings, and the environments it is for. */
export interface CreationPart {
  readonly body: CreateBody;
  /** Where a config file says it; null for a request that has only this. */
  readonly place: string | null;
}

export interface Creation {
  /** At least one; one that goes on with a folder is alone. */
  readonly parts: readonly CreationPart[];
  /** Requests in flight of all of its runs together, as a file of several parts says it; null or absent = what the body of the one part says. */
  readonly maxConcurrentTotal?: number | null;
  /** The same key with the same `bodyDigest` is the same creation. */
  readonly idempotencyKey: string | null;
  readonly bodyDigest: string;
  readonly attended: boolean;
  /** Of the one run that it makes; absent = it is nobody's. */
  readonly schedule?: RunConfig["schedule"];
  readonly evaluator?: RunConfig["evaluator"];
  /** By whom, and by whose token. */
  readonly user: string;
  readonly token: TokenUse | null;
}

/**
 * Creates one run per environment of each part and gives their ids, in that order. Everything that can be refused is refused before anything
 * is stored; then the ids are reserved together, and the runs created one by one. A creation that breaks off in the middle
 * is finished by the same request under the same idempotency key, without doubles; one without a key is taken back, since
 * nobody could find its runs.
 */
export async function createRuns(ports: AppPorts, creation: Creation): Promise<readonly string[]> {
  const configs: UnnamedConfig[] = [];
  /** Of each of them, in the same order. */
  const custom: CustomSecrets[] = [];
  const watched: (string | undefined)[] = [];
  for (const part of creation.parts) {
    const ofPart = await planned(ports, part, creation.attended);
    configs.push(...ofPart.map((config) => ({ ...config, ...makerOf(creation) })));
    watched.push(...ofPart.map(() => part.body.eval_config.monitor));
    custom.push(...ofPart.map(() => part.body.eval_config.custom_secrets ?? {}));
  }
  const keep = await keeperOf(ports, custom);
  const resumed = creation.parts.find(({ body }) => body.resume_from !== undefined)?.body.resume_from;
  const source = await importSource(ports, resumed, configs[0]);
  const monitors = await monitorsOfRuns(ports, watched);

  const now = ports.now();
  const maxConcurrentTotal = creation.maxConcurrentTotal ?? creation.parts[0]?.body.max_concurrent_total ?? null;
  const partsOf = maxConcurrentTotal === null ? () => [] : commonParts(maxConcurrentTotal, configs);
  const anyName = partsOf("");
  const wanted = configs.map(({ max_concurrent }, index) => anyName[index]?.max_concurrent ?? max_concurrent);
  const {
    run_ids,
    existing,
    deleted,
    rollouts = wanted,
  } = unwrap(
    await ports.registry.reserve({
      ...teamField(ports.team),
      candidates: resumed === undefined ? randomIds(configs.length + SPARE_IDS) : [resumed.run_id],
      count: configs.length,
      idempotency_key: creation.idempotencyKey,
      body_digest: creation.bodyDigest,
      uploads: uploadsOf(configs, source),
      rollouts: wanted,
      token: creation.token,
      now,
    }),
  );
  // The first of them names the creation: the same request under the same idempotency key gives the same.
  const parts = partsOf(run_ids[0] ?? "");
  const ours: string[] = [];
  for (const [index, config] of configs.entries()) {
    const runId = run_ids[index];
    if (runId === undefined || deleted.includes(runId)) continue;
    // Reserved by an earlier request that may have got no further.
    const done = existing && (await ports.run(runId).view()) !== null;
    const asked = wanted[index] ?? config.max_concurrent;
    const max_concurrent = rollouts[index] ?? asked;
    const named = { ...config, ...parts[index], ...monitors[index], max_concurrent, ...teamField(ports.team), run_id: runId, created_at: now };
    const spent = done ? null : await spentBudgets(ports, named);
    if (!done && spent === null) await setRunBudget(ports, named);
    const beginning = { source, ...(max_concurrent === asked ? {} : { loweredFrom: asked }) };
    const failure = done ? null : (spent ?? (await keep(runId, custom[index] ?? {})) ?? (await startRun(ports, named, beginning, existing)));
    if (failure !== null) throw await brokenOff(ports, creation, { failure, started: ours, reserved: run_ids, existing });
    ours.push(runId);
  }
  return run_ids;
}

/** Who made the run, and whatever made it by itself. */
const makerOf = ({ user, schedule, evaluator }: Creation): Pick<UnnamedConfig, "created_by" | "schedule" | "evaluator"> => ({
  created_by: user,
  ...(schedule === undefined ? {} : { schedule }),
  ...(evaluator === undefined ? {} : { evaluator }),
});

/** What creations would measure, checked as they are, with nothing created: one config per environment of the body. */
export const plannedConfigs = (ports: AppPorts, body: CreateBody, attended: boolean): Promise<readonly UnnamedConfig[]> => plan(ports, body, attended);

/** What is wrong with one of several parts is told with its place. */
async function planned(ports: AppPorts, { body, place }: CreationPart, attended: boolean): Promise<readonly UnnamedConfig[]> {
  try {
    return await plan(ports, body, attended);
  } catch (error) {
    if (place === null || !(error instanceof EdgewiseError)) throw error;
    if (error instanceof InvalidRequest)
      throw new InvalidRequest(error.issues.map(({ loc: [root = "body", ...path], msg }) => ({ loc: [root, place, ...path], msg })));
    throw new EdgewiseError(error.code, `${place}: ${error.message}`, error.hint === undefined ? {} : { hint: error.hint });
  }
}

/** The configs of all runs of one part. Throws for whatever is wrong with any of them. */
async function plan(ports: AppPorts, asked: CreateBody, attended: boolean): Promise<readonly UnnamedConfig[]> {
  const { facts } = ports;
  const useless = asked.rescore === undefined ? [] : ineffective(asked.eval_config);
  if (useless[0] !== undefined)
    throw invalid(["body", "eval_config", useless[0]], "says how rollouts are made, and those that are scored again are there: leave it out");
  const rescoring = await rescoringOf(ports, asked);
  const { body: placed, endpoint } = await withNamedEndpoint(ports, await withNamedDataset(ports, rescoring?.body ?? asked));
  const limits = await writtenOut(ports, placed.eval_config.limits, ["body", "eval_config", "limits"]);
  const prices = await pricesWrittenOut(ports, placed.eval_config.prices, ["body", "eval_config", "prices"]);
  const named = { ...(limits === undefined ? {} : { limits: limits.map(rowOfLimit) }), ...(prices === undefined ? {} : { prices: prices.map(rowOfPrice) }) };
  const body = { ...placed, eval_config: { ...placed.eval_config, ...named } };
  // What is kept was looked at when it was added; since then the service may have other rules.
  const place = endpoint === null ? ["body", "eval_config"] : ["body", "endpoint", endpoint];
  const configs: UnnamedConfig[] = [];
  const held = await heldBudgets(ports);
  checkHeartbeat(facts, body.eval_config.heartbeat_url, ["body", "eval_config"]);
  for (const [index, reference] of body.environment_ids.entries()) {
    const found = await findByReference(ports, reference);
    if (!found.ok) throw refused({ ...found.error, message: `environment_ids.${index}: ${found.error.message}` });
    const resolution = resolveRun(requestOf(body), { environment: found.value, attended, baseUrl: facts.baseUrl, keyVar: facts.keyVar });
    if (!resolution.ok) throw new InvalidRequest(resolution.issues);
    const { config } = resolution;
    mustBeAtOnePlace(config);
    const { api_base_url, api_key_var, custom_secrets: custom = {} } = body.eval_config;
    const replicas = body.eval_config.replicas ?? [];
    const { env_args, extra_env_kwargs = {}, independent_scoring } = config;
    const places = placesOf(config);
    const model_keys = places.map((each) => each.api_key_var);
    const needs = { environment: config.env_id, declared: declaredBy(ports, found.value), modelKeys: model_keys, named: [env_args, extra_env_kwargs], custom };
    const has = await secretsOfRun(ports, needs);
    const { secrets, variables } = has;
    if (!attended && rescoring === null) {
      checkEndpoint(facts, { api_base_url, api_key_var }, config, place, secrets);
      for (const [at, replica] of replicas.entries())
        checkEndpoint(facts, { api_key_var: undefined, ...replica }, places[at] ?? config, [...place, "replicas", at], secrets);
    }
    const problem = await checkedEnvironment(
      ports,
      found.value,
      {
        ...{ env_args, extra_env_kwargs, independent_scoring, model_keys, allowed: allowedAccess(config), chosen: config.sandbox ?? null },
        ...batchField(config.batch),
        ...rubricOf(rescoring),
      },
      has,
    );
    if (problem !== null) throw invalid(problemAt(problem.option), problem.message);
    // No model is called for rollouts that are there.
    if (rescoring === null) for (const { api_key_var: name, base_url } of places) unwrap(keyOfPlace(ports, secrets, name, base_url));
    const rescored = rescoring === null ? {} : { rescored_from: rescoring.source };
    const paid = { ...config, ...rescored, ...(held.length === 0 ? {} : { budgets: held }) };
    mustBePayable({ ...paid, ...teamField(ports.team) });
    if (config.max_cost !== undefined) budgetNamed(ports, "run");
    configs.push({
      ...paid,
      ...(found.value.isIsolated === true && config.published === undefined && config.linked === undefined ? { wall: found.value.source } : {}),
      ...secretFields(secrets.names, variables),
      ...(await hubPushOf(ports, body.eval_config)),
      ...(await stopBaselineOf(ports, config)),
    });
  }
  return configs;
}

function requestOf(body: CreateBody): RunRequest {
  const { custom_secrets: _, endpoint_id: __, ...evalConfig } = body.eval_config;
  const takesOver = body.resume_from !== undefined || body.rescore !== undefined;
  if (takesOver && evalConfig.order === "permuted")
    throw invalid(["body", "eval_config", "order"], "must be data: rows that are there already keep their order");
  if (takesOver && (evalConfig.stop_when ?? NO_STOP_RULE).trim() !== NO_STOP_RULE)
    throw invalid(locationOf("stop_when"), "rows that are there keep their order, which is no random one: leave the rule out");
  const hosted: JsonObject = {};
  for (const name of HOSTED_FIELDS) {
    const value = evalConfig[name];
    if (value !== undefined) hosted[name] = value;
  }
  if (body.team_id !== undefined && body.team_id !== null) hosted.team_id = body.team_id;
  return {
    ...evalConfig,
    ...(takesOver ? { order: "data" as const } : {}),
    model: body.inference_model,
    name: body.name,
    dataset_name: body.dataset_name,
    hosted,
    // What was begun goes on in its shape, whatever its environment writes now.
    results_shape: body.resume_from === undefined ? body.rescore?.results_shape : (body.resume_from.results_shape ?? "0.1.13"),
  };
}

const rubricOf = (rescoring: Rescoring | null): { readonly rubric?: string } =>
  rescoring?.source.rubric === undefined ? {} : { rubric: rescoring.source.rubric };

const uploadsOf = (configs: readonly UnnamedConfig[], source: ImportSource | null): readonly string[] =>
  uploadDigestsIn(source?.results, ...configs.map(({ env_args, extra_env_kwargs, rescored_from }) => [env_args, extra_env_kwargs, rescored_from?.results]));

async function importSource(ports: AppPorts, resumed: CreateBody["resume_from"], config: UnnamedConfig | undefined): Promise<ImportSource | null> {
  if (resumed === undefined || config === undefined) return null;
  const { results, in_parts, dataset_digest, keep_errors, num_examples, env_digests, accept_code_change = false } = resumed;
  const bytes = await ports.store.size(datasetKey(results));
  if (bytes === null) throw invalid(["body", "resume_from", "results"], "No such upload: PUT /datasets/{sha256} first");
  if (in_parts === true && bytes > MAX_MANIFEST_BYTES) throw invalid(["body", "resume_from", "results"], "is too large to be the manifest of a folder");
  const codes = env_digests === undefined ? {} : await codesOf(ports, config, env_digests, accept_code_change);
  return {
    results,
    ...(in_parts === true ? { in_parts } : {}),
    dataset_digest,
    keep_errors,
    ...(num_examples === undefined ? {} : { num_examples }),
    ...codes,
  };
}

/** The digests of a folder's rows, and behind them that of the code that goes on with it, if it is another. Throws `resume_mismatch` where that is another and not accepted. */
async function codesOf(
  ports: AppPorts,
  config: UnnamedConfig,
  known: readonly string[],
  accepted: boolean,
): Promise<Pick<ImportSource, "env_digests" | "code_changed">> {
  const pinned = known.at(-1) ?? null;
  const offered = await ports.envDigest(config);
  // What of the folder is missing is known only when the data has been read; so it counts as some.
  const verdict = codeVerdict({ pinned, offered, accepted, generates: true });
  if (verdict === "refused") throw refused({ code: "resume_mismatch", ...codeRefusal(config.env_id, pinned ?? "", offered ?? "") });
  return verdict === "changed" && offered !== null ? { env_digests: [...known, offered], code_changed: true } : { env_digests: known };
}

interface Break {
  readonly failure: Failure;
  /** Runs that are there. */
  readonly started: readonly string[];
  readonly reserved: readonly string[];
  readonly existing: boolean;
}

/** The answer for a creation that broke off, after what must not be left behind is gone. */
async function brokenOff(ports: AppPorts, { idempotencyKey }: Creation, { failure, started, reserved, existing }: Break): Promise<EdgewiseError> {
  const repeatable = idempotencyKey !== null;
  if (repeatable && started.length > 0) {
    const message = `${failure.message} ${started.length} of ${reserved.length} runs are created.`;
    return refused({ ...failure, message, hint: "Send the same request with the same Idempotency-Key again: it goes on here." });
  }
  for (const runId of started) await attemptTo("cancel", ports.run(runId).cancel());
  // What another request with this key holds stays, unless the Run itself said no; what became a run stays in any case.
  if (!existing || failure.code !== "storage_unavailable") {
    for (const runId of reserved) if (!started.includes(runId)) await attemptTo("release", ports.registry.release(runId));
  }
  if (started.length === 0) return refused(failure);
  return refused({ ...failure, message: `${failure.message} The ${started.length} runs created before it are cancelled.` });
}

/** What fails here leaves an id or a run behind; the failure that led here is what the caller must see. */
async function attemptTo(what: string, work: Promise<unknown>): Promise<void> {
  await work.catch((error: unknown) => logUnexpected(what, error));
}

import type { PushedFacts } from "../../pushed/pushed-facts.ts";
import type { Json, JsonObject, RunConfig } from "../../config/plan/run-config.ts";
import type { TokenUse } from "../../teams/admission.ts";
import { teamField } from "../../teams/team-name.ts";
import { runFolder } from "../../../r2-layout/keys.ts";
import type { AppPorts } from "../app-ports.ts";
import { bareName, ENVIRONMENT_ID } from "../environment-ids.ts";
import { invalid, refused, unwrap } from "../errors.ts";
import { randomIds, SPARE_IDS } from "../creation/run-ids.ts";
import { startRun } from "../creation/start-run.ts";
import type { PushBody } from "./push-schemas.ts";

/** Where neither the body nor its metadata says it. */
const UNKNOWN = "unknown";

/** Creates an evaluation that samples will be pushed to, and returns its id. */
export async function createPushed(
  ports: AppPorts,
  body: PushBody,
  known: { readonly idempotencyKey: string | null; readonly bodyDigest: string; readonly user: string; readonly token: TokenUse | null },
): Promise<string> {
  const unnamed = configOf(body);
  const now = ports.now();
  const { run_ids, existing, deleted } = unwrap(
    await ports.registry.reserve({
      ...teamField(ports.team),
      candidates: randomIds(1 + SPARE_IDS),
      count: 1,
      idempotency_key: known.idempotencyKey,
      body_digest: known.bodyDigest,
      rollouts: [1],
      token: known.token,
      now,
    }),
  );
  const [runId = ""] = run_ids;
  if (deleted.includes(runId))
    throw refused({ code: "idempotency_conflict", message: "The evaluation of this Idempotency-Key was deleted.", hint: "Use another key." });
  if (existing && (await ports.run(runId).view()) !== null) return runId;
  const config: RunConfig = { ...unnamed, created_by: known.user, ...teamField(ports.team), run_id: runId, created_at: now };
  const failure = await startRun(ports, config, { source: null, pushed: factsOf(body) }, existing);
  if (failure === null) return runId;
  if (!existing) await ports.registry.release(runId);
  throw refused(failure);
}

/** What of the settings of a run is known, for its files and lists; what nobody said stays empty. */
export function configOf(body: PushBody): Omit<RunConfig, "run_id" | "created_at"> {
  const { metadata = {} } = body;
  const env_id = environmentOf(body);
  const model = body.model_name ?? textOf(metadata.model) ?? UNKNOWN;
  try {
    runFolder(env_id, model, "00000000");
  } catch {
    throw invalid(["body", "model_name"], "must be usable as a folder name");
  }
  return {
    version: 1,
    origin: "pushed",
    name: body.name,
    env_id,
    env_version: textOf(objectOf(metadata.version_info).env_version) ?? "",
    env_args: objectOf(metadata.env_args),
    model,
    base_url: textOf(metadata.base_url) ?? "",
    api_key_var: "",
    api_client_type: "openai_chat_completions",
    num_examples: countOf(metadata.num_examples) ?? 0,
    rollouts_per_example: Math.max(1, countOf(metadata.rollouts_per_example) ?? 1),
    max_concurrent: 1,
    sampling_args: objectOf(metadata.sampling_args),
    independent_scoring: false,
    max_retries: 0,
    timeout_minutes: null,
    state_columns: [],
    hosted: body.team_id === undefined || body.team_id === null ? {} : { team_id: body.team_id },
    attended: false,
  };
}

function environmentOf({ environments = [], dataset, metadata = {} }: PushBody): string {
  const [first] = environments;
  if (first !== undefined) return bareName(first.id);
  const named = textOf(metadata.env_id) ?? textOf(metadata.env) ?? dataset;
  if (named === undefined) return UNKNOWN;
  if (ENVIRONMENT_ID.test(named) && named.length <= 200) return bareName(named);
  throw invalid(["body", "metadata", "env_id"], "must be an environment id: name, owner/name or owner/name@version");
}

export const factsOf = (body: PushBody): PushedFacts => ({
  version: 1,
  name: body.name,
  model_name: body.model_name ?? null,
  dataset: body.dataset ?? null,
  description: body.description ?? null,
  framework: body.framework ?? null,
  task_type: body.task_type ?? null,
  tags: body.tags ?? [],
  environments: (body.environments ?? []).map(({ id }) => id),
  version_id: body.environments?.[0]?.version_id ?? null,
  run_id: body.run_id ?? null,
  suite_id: body.suite_id ?? null,
  metadata: (body.metadata ?? {}) as JsonObject,
  metrics: (body.metrics ?? {}) as JsonObject,
  is_public: body.is_public ?? false,
});

const textOf = (value: Json | undefined): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);
const countOf = (value: Json | undefined): number | undefined => (typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined);
const objectOf = (value: Json | undefined): JsonObject => (typeof value === "object" && value !== null && !Array.isArray(value) ? value : {});

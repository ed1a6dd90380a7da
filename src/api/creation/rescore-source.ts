import { datasetKey, outputKey } from "../../../r2-layout/keys.ts";
import type { RescoredFrom } from "../../config/plan/rescored-from.ts";
import { locationOf } from "../../config/options/options.ts";
import type { Json, JsonObject, RunConfig } from "../../config/plan/run-config.ts";
import type { EnvironmentProblem } from "../../environments/definition/definition.ts";
import { EdgewiseError } from "../../errors/result.ts";
import { MAX_MANIFEST_BYTES } from "../../limits.ts";
import type { AppPorts } from "../app-ports.ts";
import { bareName } from "../environment-ids.ts";
import { invalid } from "../errors.ts";
import { readTwice } from "../read-twice.ts";
import type { CreateBody } from "../schemas.ts";

/** A creation that scores again, with what it leaves open filled in from its source. */
export interface Rescoring {
  readonly body: CreateBody;
  readonly source: RescoredFrom;
}

const AT = ["body", "rescore"];

/** Null for a creation that makes rollouts of its own. Refuses sources that are not there, have not settled, or are of another team. */
export async function rescoringOf(ports: AppPorts, body: CreateBody): Promise<Rescoring | null> {
  const { rescore } = body;
  if (rescore === undefined) return null;
  const env = bareName(body.environment_ids[0] ?? "");
  if ((body.eval_config.num_examples ?? EVERY_EXAMPLE) > 0)
    throw invalid(["body", "eval_config", "num_examples"], "is told by the rows that are scored again: leave it out");
  const found = rescore.results === undefined ? await ofRun(ports, body, rescore, env) : await ofUpload(ports, body, rescore, env);
  return { ...found, body: { ...found.body, eval_config: { ...found.body.eval_config, num_examples: EVERY_EXAMPLE } } };
}

/**
 * The source's own number says how many examples it has, and not which: one that was scored again itself, stopped early or pushed may have any of the data
 * set. So rows are looked up in all of it, which is read no further than to the last of them.
 */
const EVERY_EXAMPLE = -1;

type Wish = NonNullable<CreateBody["rescore"]>;

/** `own`: the environment that made the rows. */
const wishedFor = ({ rubric, errors_only, examples }: Wish, env: string, own: string): Pick<RescoredFrom, "examples" | "errors_only" | "rubric"> => ({
  examples: examples ?? (env === own ? "data" : "rows"),
  ...(errors_only === true ? { errors_only } : {}),
  ...(rubric === undefined ? {} : { rubric }),
});

async function ofRun(ports: AppPorts, body: CreateBody, wish: Wish, env: string): Promise<Rescoring> {
  const { run_id: id = "" } = wish;
  const view = await readTwice(
    () => ports.run(id),
    (stub) => stub.view(),
  );
  if (view === null) throw new EdgewiseError("not_found", `Evaluation ${id} not found.`);
  if (view.phase !== "settled")
    throw new EdgewiseError("run_busy", `The results of run ${id} are not complete yet.`, {
      hint: "Follow the run to its end, or stop it, then score it again.",
    });
  const { config } = view;
  if (body.inference_model !== undefined && body.inference_model !== config.model)
    throw invalid(["body", "inference_model"], `is the source's where its rollouts are scored again: ${config.model}`);
  const file = await ports.store.read(outputKey(config.env_id, config.model, config.run_id, "metadata.json"));
  if (file === null) throw new EdgewiseError("storage_unavailable", `The results of run ${id} are missing in storage.`);
  const metadata = (await new Response(file).json()) as { readonly edgewise?: { readonly rows_digest?: { readonly sha256?: string } } };
  return {
    body: { ...body, inference_model: config.model, eval_config: { ...ofConfig(config, env), ...body.eval_config } },
    source: {
      run_id: id,
      env_id: config.env_id,
      env_digest: view.env_digest,
      rows_sha256: metadata.edgewise?.rows_digest?.sha256 ?? null,
      ...wishedFor(wish, env, config.env_id),
    },
  };
}

/** What the rows are made of, and what they are scored by where that is the same environment. */
function ofConfig(config: RunConfig, env: string): CreateBody["eval_config"] {
  const { rollouts_per_example, sampling_args, state_columns, shuffle_seed, base_url, cluster_by } = config;
  return {
    rollouts_per_example,
    sampling_args,
    state_columns: [...state_columns],
    ...(shuffle_seed === undefined ? {} : { shuffle: true, shuffle_seed }),
    ...(config.independent_scoring ? { independent_scoring: true } : {}),
    ...(cluster_by === undefined ? {} : { cluster_by }),
    api_base_url: base_url,
    api_key_var: config.api_key_var,
    ...(env === config.env_id ? { env_args: config.env_args, extra_env_kwargs: config.extra_env_kwargs ?? {} } : {}),
  } satisfies Record<string, Json | undefined> as CreateBody["eval_config"];
}

async function ofUpload(ports: AppPorts, body: CreateBody, wish: Wish, env: string): Promise<Rescoring> {
  const { results = "", source = {} } = wish;
  const bytes = await ports.store.size(datasetKey(results));
  if (bytes === null) throw invalid([...AT, "results"], "No such upload: PUT /datasets/{sha256} first");
  if (bytes > MAX_MANIFEST_BYTES) throw invalid([...AT, "results"], "is too large to be the manifest of a folder");
  if (body.inference_model === undefined) throw invalid(["body", "inference_model"], "must name the model that made the rows");
  const { run_id = null, env_id = env, env_digest = null, rows_sha256 = null } = source;
  return { body, source: { run_id, env_id, env_digest, rows_sha256, results, ...wishedFor(wish, env, env_id) } };
}

/** Where a creation says what an environment has a problem with. */
export const problemAt = (option: EnvironmentProblem["option"]): readonly string[] => (option === "rubric" ? [...AT, "rubric"] : locationOf(option));

/** Settings that say how rollouts are made: where none is, they would have no effect. */
const OF_GENERATION = [
  "api_client_type",
  "headers",
  "headers_from_state",
  "max_concurrent_generation",
  "common_limit",
  "max_retries",
  "replicas",
  "endpoint_id",
  "batch",
] as const satisfies readonly (keyof CreateBody["eval_config"])[];

/** What of a request would have no effect. */
export const ineffective = (evalConfig: CreateBody["eval_config"]): readonly string[] =>
  OF_GENERATION.filter((name) => (evalConfig as Readonly<JsonObject>)[name] !== undefined);

/** `-R` without a path: the unfinished run that measures what is asked for now, or what came nearest to it. */
import { createBody } from "../../../config/plan/creation-body.ts";
import { differencesOf } from "../../../config/plan/evaluation-settings.ts";
import { isDead } from "../../../errors/leftovers.ts";
import type { JsonObject } from "../../../config/plan/run-config.ts";
import type { AskedEvaluation, Evaluation } from "../../connection/api-types.ts";
import { type ServiceClient, ServiceError } from "../../connection/http-client.ts";
import { type FoundFolder, foldersOfEnvironment, isUnfinished, settingsOfFolder } from "../../results/resume-folder.ts";
import { restingRun } from "../../runs/next-step.ts";
import { CliError } from "../../terminal/cli-error.ts";
import { isWorking, knownRun, type RunWish } from "../wish/run-wish.ts";

export interface SoughtRun {
  /** Null = there is none. */
  readonly found: FoundFolder | null;
  /** How many examples are asked for now; below 1 = all. */
  readonly num_examples: number;
  /** What came nearest, and why it was passed over; null where a run was found, or none was there. */
  readonly passedOver: string | null;
}

/**
 * The newest run in the results whose every setting is as it is asked for now, given or by default, and which has something left to do;
 * it may have fewer examples than are asked for. Stricter than the Python library, since what nobody named must be the same evaluation.
 */
export async function unfinishedRun(client: ServiceClient, { base, envId, reference, given, replicas }: RunWish): Promise<SoughtRun> {
  const asked = await askedEvaluation(client, createBody(reference, given, replicas));
  let nearest: { readonly found: FoundFolder; readonly reasons: readonly string[]; readonly distance: number } | null = null;
  for (const found of foldersOfEnvironment(base, envId)) {
    const reasons = await reasonsAgainst(client, found, asked, given.keep_errors === true);
    if (reasons.length === 0) return { found, num_examples: asked.num_examples, passedOver: null };
    // Equal settings are nearer than any others, whatever is against going on.
    const distance = reasons.filter(isDifference).length;
    if (nearest === null || distance < nearest.distance) nearest = { found, reasons, distance };
  }
  const passedOver = nearest === null ? null : `the nearest is ${nearest.found.runId ?? nearest.found.path}: ${nearest.reasons.join("; ")}`;
  return { found: null, num_examples: asked.num_examples, passedOver };
}

const FINISHED = "it is finished";
const DEAD = "it ended FAILED before its first rollout, and would again";
const isDifference = (reason: string): boolean => reason !== FINISHED && reason !== DEAD;

async function askedEvaluation(client: ServiceClient, body: JsonObject): Promise<AskedEvaluation> {
  try {
    const [asked] = (await client.settings(body)).evaluations;
    if (asked !== undefined) return asked;
    throw new Error("the service did not say what the evaluation would measure");
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== "not_found") throw error;
    throw new CliError("-R/--resume without a folder: the service is of an older version, and cannot say which run measures the same", {
      exitCode: 2,
      hints: ["Name the folder or the id of the run."],
    });
  }
}

/** What speaks against going on with a run; empty = nothing. The service is asked only about runs whose folder says nothing against it. */
async function reasonsAgainst(client: ServiceClient, found: FoundFolder, asked: AskedEvaluation, keepErrors: boolean): Promise<readonly string[]> {
  const { metadata, runId } = found;
  if (metadata?.shuffled) return ["its examples were shuffled by the Python library"];
  if (metadata !== null) {
    const told = againstSettings(settingsOfFolder(metadata), metadata.num_examples, asked);
    if (told.length > 0) return told;
  }
  const known = runId === null ? null : await knownRun(client, runId);
  if (known !== null) return await againstKnown(known, found, asked, keepErrors);
  if (metadata === null) return ["it has no metadata.json, and the service does not know it"];
  const examples = asked.num_examples < 1 ? metadata.num_examples : asked.num_examples;
  return (await isUnfinished(found, { num_examples: examples, keep_errors: keepErrors })) ? [] : [FINISHED];
}

async function againstKnown(known: Evaluation, found: FoundFolder, asked: AskedEvaluation, keepErrors: boolean): Promise<readonly string[]> {
  const { edgewise, metadata, eval_config } = known;
  if (isDead(restingRun(known), edgewise.failure?.code ?? null)) return [DEAD];
  const own = Number(eval_config.num_examples ?? metadata.num_examples);
  const reasons = edgewise.settings === undefined ? [] : againstSettings(edgewise.settings, metadata.num_examples, asked);
  if (reasons.length > 0) return reasons;
  const grows = own >= 1 && (asked.num_examples < 1 || asked.num_examples > own);
  // A run that works is joined as it is.
  if (isWorking(known)) return grows ? [`it is working, on ${own} examples`] : [];
  if (grows || !edgewise.settled || edgewise.owed_rollouts > 0 || (!keepErrors && (edgewise.resumable?.scores ?? 0) > 0)) return [];
  return (await isUnfinished(found, { keep_errors: keepErrors })) ? [] : [FINISHED];
}

/** `examples`: of the run, below 1 = all. */
function againstSettings(settings: JsonObject, examples: number, asked: AskedEvaluation): readonly string[] {
  const { env_version, ...wanted } = asked.settings;
  // A folder of the Python library does not name the version.
  const compared = settings.env_version === undefined ? wanted : { ...wanted, env_version };
  const reasons = differencesOf(settings, compared);
  // What was drawn from the whole data set cannot grow.
  const fits = asked.num_examples < 1 || (examples >= 1 && (settings.shuffle_seed === null ? examples <= asked.num_examples : examples === asked.num_examples));
  return fits ? reasons : [...reasons, ...differencesOf({ num_examples: examples }, { num_examples: asked.num_examples })];
}

/** What a command asks for of a run, what it gets, and whether the service knows one. */
import type { WrongAverage } from "../../../metrics/stated-averages.ts";
import type { ReplicaBody } from "../../../config/endpoints/endpoint-choice.ts";
import { ROLLOUT_ERRORS } from "../../../errors/codes.ts";
import type { JsonObject, RunConfig } from "../../../config/plan/run-config.ts";
import type { GivenOptions } from "../../command-line/flags.ts";
import type { Evaluation } from "../../connection/api-types.ts";
import { type ServiceClient, ServiceError } from "../../connection/http-client.ts";
import type { RowCounts } from "../../results/row-counts.ts";
import type { LocalDataset } from "../../datasets/dataset-upload.ts";
import type { RescoreWish } from "./eval-wish.ts";
import type { EarlyRows } from "../early-rows.ts";

/** What is asked for, with data set files replaced by their digests. */
export interface RunWish {
  readonly envId: string;
  /** How a new run asks for the environment: maybe with owner and version. */
  readonly reference: string;
  readonly given: GivenOptions;
  /** Several places that serve the model; empty = the one in `given`. */
  readonly replicas?: readonly ReplicaBody[];
  readonly rescore?: RescoreWish | undefined;
  /** What other runs of the command keep to with it; absent = none does. */
  readonly commonLimit?: RunConfig["common_limit"];
  readonly dataset: LocalDataset | null;
  /** Base of the results, where `-R` without a path looks. */
  readonly base: string;
  readonly cwd: string;
  /** The state folder of this machine; null or absent where the service is elsewhere. */
  readonly stateFolder?: string | null;
  /** `KEY_VARS` of this command's environment, which may bind keys to hosts. */
  readonly keyVars?: string | undefined;
  /** The folder whose addresses the user has agreed to (unnamed-places.ts). */
  readonly agreed?: string | null;
  /** Rows of folders that were read while the service started; absent = none were. */
  readonly early?: EarlyRows;
  /** Version of the environment in this installation; null when it has none of that name, or the service is elsewhere. */
  readonly envVersion: string | null;
  /** Looks at the endpoint before anything is asked of it: gives warnings, throws where it cannot serve; absent = none does. */
  readonly preflight?: (config: JsonObject, model: string) => Promise<readonly string[]>;
}

export interface StartedRun {
  readonly evaluation: Evaluation;
  /** Where its results go on; null = the usual place. */
  readonly folder: string | null;
  /** Events up to here happened before this command. */
  readonly after: number;
  readonly how: "created" | "resumed" | "joined" | "nothing owed";
  readonly owed: number | null;
  /** Of what is owed, rollouts that are only scored again. */
  readonly scores?: number;
  readonly warnings: readonly string[];
  /** Whether folder or service was further, in words; null or absent where there is nothing to say of it. */
  readonly said?: string | null;
  /** Of a new run where one was to be gone on with: what came nearest, and why it was passed over. */
  readonly passedOver?: string | null;
  /** Of a folder that was taken over: averages that it stated and its rows contradict. */
  readonly wrongAverages?: readonly WrongAverage[];
  /** Of such a folder: what was counted when its rows were read. */
  readonly rows?: Readonly<RowCounts>;
}

/** Null: the service knows no such run. */
export async function knownRun(client: ServiceClient, runId: string): Promise<Evaluation | null> {
  try {
    return await client.run(runId);
  } catch (error) {
    if (error instanceof ServiceError && error.status === 404) return null;
    throw error;
  }
}

/** What ends a take-over for the folder's sake, or for its data set's. */
const UNUSABLE: readonly string[] = ["resume_mismatch", "dataset_changed"];

/** What the model server did says nothing against the folder. */
const isOfEndpoint = (code: string): boolean => code === "endpoint_unavailable" || Object.hasOwn(ROLLOUT_ERRORS, code);

/** Whether the folder has to be taken over anew: that failed, or was ended before anything came of it. Any other run goes on with what was uploaded. */
export function isFailedTakeOver({ edgewise }: Evaluation): boolean {
  const code = edgewise.failure?.code ?? "";
  return edgewise.settled && edgewise.importing === true && (UNUSABLE.includes(code) || (edgewise.done_rollouts === 0 && !isOfEndpoint(code)));
}

export const isWorking = ({ edgewise }: Evaluation): boolean => !edgewise.suspended && (edgewise.phase === "preparing" || edgewise.phase === "open");

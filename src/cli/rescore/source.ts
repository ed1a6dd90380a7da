/** What a run or folder says of itself, as far as scoring its rollouts again goes. */
import { OPTIONS } from "../../config/options/options.ts";
import type { JsonObject, ResultsShape } from "../../config/plan/run-config.ts";
import type { RunFacts } from "../../exports/run-facts.ts";
import type { GivenOptions } from "../command-line/flags.ts";
import type { OpenedRun } from "../exports/opened-run.ts";
import { ownSampling, shapeOf } from "../results/resume-folder.ts";

type Fields = Readonly<Record<string, unknown>>;
const fieldsOf = (value: unknown): Fields => (typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {});
const textOf = (value: unknown): string | null => (typeof value === "string" && value !== "" ? value : null);

export interface RescoreSource {
  readonly facts: RunFacts;
  readonly env_digest: string | null;
  readonly rows_sha256: string | null;
  readonly extra_env_kwargs: JsonObject;
  readonly shape: ResultsShape;
  /** What the new run has of the source; `rollouts_per_example` where it is known. */
  readonly given: GivenOptions;
}

export function sourceOf({ facts, metadata }: OpenedRun): RescoreSource {
  const file = fieldsOf(metadata);
  const own = fieldsOf(file.edgewise);
  const { sha256 } = fieldsOf(own.rows_digest);
  const { shuffle_seed: seed } = own;
  const columns = Array.isArray(file.state_columns) ? file.state_columns.filter((name): name is string => typeof name === "string") : [];
  return {
    facts,
    env_digest: textOf(own.env_digest),
    rows_sha256: textOf(sha256),
    extra_env_kwargs: fieldsOf(own.extra_env_kwargs) as JsonObject,
    shape: shapeOf(file),
    given: {
      model: facts.model,
      api_base_url: addressOf(facts.base_url),
      // Those that have rows, whichever of the data set they are.
      num_examples: -1,
      ...(facts.rollouts_per_example === null ? {} : { rollouts_per_example: facts.rollouts_per_example }),
      sampling_args: ownSampling(facts.sampling_args),
      ...(columns.length === 0 ? {} : { state_columns: columns }),
      ...(typeof seed === "number" ? { shuffle: true, shuffle_seed: seed } : {}),
      ...(facts.cluster_by === undefined ? {} : { cluster_by: facts.cluster_by }),
      ...(fieldsOf(own.settings).independent_scoring === true ? { independent_scoring: true } : {}),
    },
  };
}

/** Where the rollouts were made, for people: nothing is called there. The Python library joins the addresses of replicas. */
function addressOf(joined: string | null): string {
  const address = OPTIONS.api_base_url.schema.safeParse(joined?.split(",")[0]);
  return address.success ? address.data : OPTIONS.api_base_url.default;
}

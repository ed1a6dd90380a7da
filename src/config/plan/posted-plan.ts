import { EdgewiseError } from "../../errors/result.ts";
import { createBody, withTimeout } from "./creation-body.ts";
import { chooseEndpointOrLeave } from "../endpoints/endpoint-choice.ts";
import { readRegistry } from "../endpoints/endpoint-registry.ts";
import { evalLabels, nameOfLabel } from "./eval-labels.ts";
import { planEvals } from "./eval-plan.ts";
import type { Option } from "../options/option.ts";
import { OPTION_NAMES, OPTIONS, type OptionName } from "../options/options.ts";
import type { JsonObject } from "./run-config.ts";
import { isTable } from "./toml-keys.ts";

/** One creation that a posted config file comes to. */
export interface PostedEval {
  /** Body of `POST /hosted-evaluations`, not checked as a whole. */
  readonly body: JsonObject;
  readonly label: string;
  /** Where the file says it. */
  readonly place: string;
}

/** Options that are written out as others before anything is created. */
const WRITTEN_OUT: readonly OptionName[] = ["provider", "endpoint_id", "max_tokens", "temperature", "timeout"];
/** Options about processes that a service has none of: the evaluation is the same without them. */
const WITHOUT_EFFECT: readonly OptionName[] = ["disable_env_server"];
/** What errors call the file. */
const FILE = "body";

/**
 * A config file as a request carries it: the parsed file as one JSON object, with the entries of a registry beside it (`endpoint`, `limit`, `price`). Throws
 * `invalid_request` as `planEvals` and `readRegistry` do, and for settings that only a command line has a use for.
 * `most`: evaluations that it may come to.
 */
export function postedEvals(
  document: unknown,
  most: number,
): { readonly evals: readonly PostedEval[]; readonly maxConcurrentTotal: number | null; readonly warnings: readonly string[] } {
  if (!isTable(document)) throw new EdgewiseError("invalid_request", `${FILE}: must be an object with eval or ablation`);
  const { endpoint, limit, price, ...rest } = document;
  const registry = readRegistry({ endpoint, limit, price }, FILE);
  const { evals, maxConcurrentTotal } = planEvals(rest, FILE, most);
  const ineffective = WITHOUT_EFFECT.filter((name) => evals.some(({ given }) => given[name] === true));
  const warnings = [...registry.warnings, ...ineffective.map((name) => `${FILE}: ${name} has no effect: it is about processes that a command starts`)];
  const labels = evalLabels(evals);
  const posted = evals.map(({ envId, given, place }, index): PostedEval => {
    const refuse = (problem: string): never => {
      throw new EdgewiseError("invalid_request", `${FILE}: ${place}: ${problem}`);
    };
    const local = OPTION_NAMES.find(
      (name) => given[name] !== undefined && (OPTIONS[name] as Option).http === null && ![...WRITTEN_OUT, ...WITHOUT_EFFECT].includes(name),
    );
    if (local !== undefined) refuse(`${local} belongs to a command line: over HTTP it has no effect`);
    const chosen = inPlace(place, () => chooseEndpointOrLeave(given, registry));
    const label = labels[index] ?? envId;
    return { body: createBody(envId, withTimeout({ ...chosen.given, ...nameOfLabel(envId, label, given) }), chosen.replicas), label, place };
  });
  return { evals: posted, maxConcurrentTotal, warnings };
}

function inPlace<T>(place: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof EdgewiseError)) throw error;
    throw new EdgewiseError(error.code, `${FILE}: ${place}: ${error.message}`, error.hint === undefined ? {} : { hint: error.hint });
  }
}

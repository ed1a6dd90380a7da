import { keyPlaceProblem, keyVarProblem } from "../../config/endpoints/key-vars.ts";
import { addressProblem } from "../../config/endpoints/called-place.ts";
import { RunSecrets } from "../../secrets/run-secrets.ts";
import type { AppFacts } from "../app-ports.ts";
import { type FieldIssue, InvalidRequest } from "../errors.ts";

/** Endpoint and key as a request names them; undefined = it does not. */
export interface WantedEndpoint {
  readonly api_base_url: string | undefined;
  readonly api_key_var: string | undefined;
}

/**
 * Refuses a request that would have the service call a place only the service can reach, or send a key where it does not belong.
 * Not for the user of the local service, who names variables and addresses of their own machine (`attended`).
 * `resolved` is what the run would have; `root` is the place of the fields in the request. A key that is one of `secrets` goes where that says.
 */
export function checkEndpoint(
  facts: AppFacts,
  { api_base_url, api_key_var }: WantedEndpoint,
  resolved: { readonly base_url: string; readonly api_key_var: string },
  root: FieldIssue["loc"],
  secrets: Pick<RunSecrets, "placeProblem"> = RunSecrets.NONE,
): void {
  const issues: FieldIssue[] = [];
  const refuse = (field: keyof WantedEndpoint, msg: string | null): void => {
    if (msg !== null) issues.push({ loc: [...root, field], msg });
  };
  if (api_base_url !== undefined && api_base_url !== facts.baseUrl && !facts.local) refuse("api_base_url", addressProblem(api_base_url));
  const ofSecret = secrets.placeProblem(resolved.api_key_var, resolved.base_url);
  if (api_key_var !== undefined && ofSecret === undefined) refuse("api_key_var", keyVarProblem(facts.keyVars, api_key_var));
  const named = api_base_url !== undefined || api_key_var !== undefined;
  if (issues.length === 0 && named) refuse("api_key_var", ofSecret === undefined ? keyPlaceProblem(facts, resolved.api_key_var, resolved.base_url) : ofSecret);
  if (issues.length > 0) throw new InvalidRequest(issues);
}

/** The same for an address that is only called, without a key: deployed, it must be a public one. `root` is the place of the field. */
export function checkHeartbeat({ local }: Pick<AppFacts, "local">, url: string | undefined, root: FieldIssue["loc"]): void {
  const problem = url === undefined || local ? null : addressProblem(url);
  if (problem !== null) throw new InvalidRequest([{ loc: [...root, "heartbeat_url"], msg: problem }]);
}

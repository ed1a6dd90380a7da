import { hubTarget } from "../../config/hub-name.ts";
import type { RunConfig } from "../../config/plan/run-config.ts";
import { parseUrl } from "../../config/endpoints/addresses.ts";
import { grantHint, grantProblem, HUB_TOKEN, hubGrants } from "../../secrets/hub-grants.ts";
import type { AppPorts } from "../app-ports.ts";
import { InvalidRequest } from "../errors.ts";
import type { CreateBody } from "../schemas.ts";

/** Where a run is to be pushed when it has settled, checked against what the team's token was created for. Throws `invalid_request`. */
export async function hubPushOf(
  ports: AppPorts,
  { save_to_hf_hub, hf_hub_dataset_name, hf_hub_public }: CreateBody["eval_config"],
): Promise<Pick<RunConfig, "hub_push">> {
  const refuse = (field: string, msg: string): InvalidRequest => new InvalidRequest([{ loc: ["body", "eval_config", field], msg }]);
  if (save_to_hf_hub !== true) return {};
  const { hub } = ports.facts;
  if (hub === null)
    throw refuse("save_to_hf_hub", "is not possible here: this deployment has no queue for exports; deploy it with the wrangler.toml of this version");
  const target = hubTarget(hf_hub_dataset_name ?? "");
  if (!target.ok) throw refuse("hf_hub_dataset_name", target.error.message);
  const { secrets } = await ports.registry.secretsFor({ environment: "", run: null, names: [HUB_TOKEN] });
  const secret = secrets.find(({ name, from }) => name === HUB_TOKEN && from === "global");
  const host = parseUrl(hub)?.hostname ?? hub;
  const isPublic = hf_hub_public === true;
  if (secret === undefined)
    throw refuse("save_to_hf_hub", `needs a secret ${HUB_TOKEN} of the team: ${grantHint(host, target.value.owner ?? "NAMESPACE", isPublic)}`);
  const grants = hubGrants(secret.hosts, hub);
  const [only, ...others] = [...new Set(grants.map(({ namespace }) => namespace))];
  const owner = target.value.owner ?? (others.length === 0 ? only : undefined);
  if (owner === undefined)
    throw refuse(
      "hf_hub_dataset_name",
      only === undefined
        ? `cannot be pushed to: ${HUB_TOKEN} of the team was created for no namespace of the Hub. ${grantHint(host, "NAMESPACE", isPublic)}`
        : `must be owner/name: ${HUB_TOKEN} of the team is for ${[only, ...others].join(", ")}`,
    );
  const problem = grantProblem(grants, owner, isPublic);
  if (problem !== null) throw refuse("hf_hub_dataset_name", `cannot be pushed to: ${problem}. ${grantHint(host, owner, isPublic)}`);
  return { hub_push: { owner, name: target.value.name, ...(isPublic ? { public: true as const } : {}) } };
}

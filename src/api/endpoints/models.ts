import { Hono } from "hono";
import { OPTIONS } from "../../config/options/options.ts";
import { isAttended } from "../access/access.ts";
import type { AppContext } from "../app-context.ts";
import type { AppPorts } from "../app-ports.ts";
import { check } from "../body.ts";
import { checkEndpoint, type WantedEndpoint } from "../creation/endpoint-access.ts";
import { placesOfRow } from "../creation/named-endpoint.ts";
import { invalid } from "../errors.ts";
import { administered } from "../people/directory-of.ts";
import { secretsOfRun } from "../secrets/secrets-of-run.ts";
import { modelsQuery } from "./endpoint-schemas.ts";
import { type ModelPlace, offeredModels } from "./offered-models.ts";

/** `/models`: what a run could name as its model, where it would be called. */
export const models = new Hono<AppContext>();

models.get("/", async (c) => {
  const { team_id, ...asked } = check(modelsQuery, c.req.query(), "query");
  const ports = c.var.ports.inTeam(await administered(c, team_id));
  const { place, named } = await placeOf(ports, asked);
  const needs = { environment: "", declared: [], modelKeys: [place.api_key_var], named: [], custom: {} };
  const { secrets } = await secretsOfRun(ports, needs);
  // As of a creation: nothing is called, and no key sent, that a run would not call or send.
  if (!isAttended(ports.facts, c.req.raw)) checkEndpoint(ports.facts, named, place, ["query"], secrets);
  const { names, more, problem } = await offeredModels(ports, secrets, place);
  return c.json({ data: names, more, problem }, 200, { "cache-control": "no-store" });
});

type Asked = Omit<ReturnType<typeof modelsQuery.parse>, "team_id">;

/** Where a creation with these would call its model. Of an endpoint with replicas its first one: all serve the same. */
async function placeOf(ports: AppPorts, { endpoint_id, ...given }: Asked): Promise<{ readonly place: ModelPlace; readonly named: WantedEndpoint }> {
  const { api_base_url, api_key_var, api_client_type = OPTIONS.api_client_type.default } = given;
  if (endpoint_id === undefined) {
    const place = { base_url: api_base_url ?? ports.facts.baseUrl, api_key_var: api_key_var ?? ports.facts.keyVar, api_client_type, headers: {} };
    return { place, named: { api_base_url, api_key_var } };
  }
  if (Object.values(given).some((value) => value !== undefined)) throw invalid(["query", "endpoint_id"], "names the place of the model already: give it alone");
  const [entry] = await placesOfRow(ports, { endpoint_id }, ["query"]);
  if (entry === undefined) throw invalid(["query", "endpoint_id"], "has no entry");
  const place = { ...entry, api_client_type: entry.api_client_type ?? OPTIONS.api_client_type.default };
  return { place, named: { api_base_url: entry.base_url, api_key_var: entry.api_key_var } };
}

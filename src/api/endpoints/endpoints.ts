import { type Context, Hono } from "hono";
import type { EndpointWrite, StoredEndpoint } from "../../../durable-objects/registry/endpoint-control.ts";
import { type EndpointEntry, readRegistry } from "../../config/endpoints/endpoint-registry.ts";
import type { JsonObject } from "../../config/plan/run-config.ts";
import { EdgewiseError } from "../../errors/result.ts";
import { isAttended } from "../access/access.ts";
import type { AppContext } from "../app-context.ts";
import type { AppPorts } from "../app-ports.ts";
import { check, parseBody, readJsonText } from "../body.ts";
import { checkEndpoint } from "../creation/endpoint-access.ts";
import { modelSecretsIn } from "../secrets/secrets-of-run.ts";
import { invalid, unwrap } from "../errors.ts";
import { administered } from "../people/directory-of.ts";
import { readTwice } from "../read-twice.ts";
import { addBody, endpointPath, endpointQuery, entryRules, replaceBody } from "./endpoint-schemas.ts";

/** `/endpoints`: the registry of endpoints.toml, kept by the service for a team. */
export const endpoints = new Hono<AppContext>();

const shown = ({ endpoint_id, entries, created_at, updated_at, updated_by }: StoredEndpoint) => ({
  endpoint_id,
  model: entries[0]?.model ?? "",
  api_client_type: entries[0]?.api_client_type ?? null,
  replicas: entries.map(({ base_url, api_key_var, headers }) => ({ api_base_url: base_url, api_key_var, headers })),
  created_at: new Date(created_at).toISOString(),
  updated_at: new Date(updated_at).toISOString(),
  updated_by,
});

const notFound = (): EdgewiseError => new EdgewiseError("not_found", "Endpoint not found.", { hint: "`npx edgewise endpoint list` shows those there are." });

async function portsOf(c: Context<AppContext>): Promise<AppPorts> {
  const { team_id } = check(endpointQuery, c.req.query(), "query");
  return c.var.ports.inTeam(await administered(c, team_id));
}

const idIn = (c: Context<AppContext>): string => check(endpointPath, c.req.param(), "path").endpoint;

endpoints.get("/", async (c) => {
  const ports = await portsOf(c);
  const all = await readTwice(
    () => ports.registry,
    (registry) => registry.listEndpoints(),
  );
  return c.json({ data: all.map(shown) });
});

endpoints.get("/:endpoint", async (c) => {
  const ports = await portsOf(c);
  const id = idIn(c);
  const found = await readTwice(
    () => ports.registry,
    (registry) => registry.endpoint(id),
  );
  if (found === null) throw notFound();
  return c.json({ data: shown(found) });
});

endpoints.post("/", async (c) => {
  const ports = await portsOf(c);
  const { endpoint } = parseBody(addBody, await readJsonText(c.req.raw));
  const entries = await checkedEntries(c, ports, endpoint);
  await c.var.audit.begin(ports);
  c.var.audit.made(...new Set(entries.map(({ endpoint_id }) => endpoint_id)));
  const written = unwrap(await ports.registry.writeEndpoints({ entries, how: "add", user: c.var.caller.user }));
  return c.json({ data: written.map(shown) });
});

endpoints.put("/:endpoint", async (c) => {
  const ports = await portsOf(c);
  const id = idIn(c);
  const { endpoint } = parseBody(replaceBody, await readJsonText(c.req.raw));
  const other = endpoint.findIndex(({ endpoint_id }) => endpoint_id !== undefined && endpoint_id !== id);
  if (other >= 0) throw invalid(["body", "endpoint", other, "endpoint_id"], "is another one than the path names");
  const entries = await checkedEntries(
    c,
    ports,
    endpoint.map((entry) => ({ ...entry, endpoint_id: id })),
  );
  await c.var.audit.begin(ports);
  const [written] = unwrap(await ports.registry.writeEndpoints({ entries, how: "replace", user: c.var.caller.user }));
  if (written === undefined) throw notFound();
  return c.json({ data: shown(written) });
});

endpoints.delete("/:endpoint", async (c) => {
  const ports = await portsOf(c);
  const id = idIn(c);
  await c.var.audit.begin(ports);
  if (!(await ports.registry.deleteEndpoint(id))) throw notFound();
  return c.json({ message: "Endpoint deleted; runs that were made with it keep what it named." });
});

/** What is kept is held to the rules of a request; one that the service would not call is refused now, and not by each run. */
async function checkedEntries(c: Context<AppContext>, ports: AppPorts, rows: readonly JsonObject[]): Promise<EndpointWrite["entries"]> {
  const { facts } = ports;
  const secrets = await modelSecretsIn(ports, rows);
  const attended = isAttended(facts, c.req.raw);
  return rows.map((row, index) => {
    const place = ["body", "endpoint", index] as const;
    const { entries, warnings } = readRegistry({ endpoint: [row] }, place.join("."));
    const [warning] = warnings;
    if (warning !== undefined) throw new EdgewiseError("invalid_request", warning);
    const [[endpoint_id, [entry]] = ["", []]] = entries;
    if (entry === undefined) throw invalid(place, "is no entry");
    const { model, base_url: api_base_url, api_key_var, headers } = entry;
    check(entryRules, { endpoint_id, model, api_base_url, api_key_var, headers }, place.join("."));
    if (!attended) checkEndpoint(facts, { api_base_url, api_key_var }, entry, place, secrets);
    return { endpoint_id, entry: entry satisfies EndpointEntry };
  });
}

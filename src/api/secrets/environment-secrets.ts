import { type Context, Hono } from "hono";
import type { SecretFacts, VariableFacts } from "../../../durable-objects/registry/secrets/secret-control.ts";
import { portsFor } from "../access/team-of-request.ts";
import type { AppContext } from "../app-context.ts";
import type { AppPorts } from "../app-ports.ts";
import { check, parseBody, readJsonText } from "../body.ts";
import { bareName, ENVIRONMENT_ID, findByReference } from "../environment-ids.ts";
import { unwrap } from "../errors.ts";
import { readTwice } from "../read-twice.ts";
import { drawId, sealerOf } from "./sealing.ts";
import { environmentSecretBody, environmentSecretChange, teamIdQuery, variableBody, variableChange } from "./secret-schemas.ts";

/** `/environmentshub/{environment}/secrets` and `/variables`: what a team gives one environment. Values of secrets come in, and never out. */
export const environmentSecrets = new Hono<AppContext>();

interface About {
  readonly ports: AppPorts;
  /** Its id. */
  readonly environment: string;
}

const iso = (at: number): string => new Date(at).toISOString();
const shown = ({ id, name, description, created_at, updated_at }: Pick<SecretFacts, "id" | "name" | "description" | "created_at" | "updated_at">) => ({
  ...{ id, name, description, createdAt: iso(created_at), updatedAt: iso(updated_at) },
});
const own = (facts: SecretFacts) => ({ ...shown(facts), source: "environment" as const });
const variable = (facts: VariableFacts) => ({ ...shown(facts), value: facts.value });

/** The environment that the path names, of the caller's team. */
async function about(c: Context<AppContext>): Promise<About> {
  const { teamId } = check(teamIdQuery, c.req.query(), "query");
  const ports = await portsFor(c, teamId);
  const named = c.req.param("environment") ?? "";
  const found = await findByReference(ports, named);
  // Where a command starts the local service for this alone, it does not know environments of one's own.
  if (!found.ok && ports.facts.local && ENVIRONMENT_ID.test(named)) return { ports, environment: bareName(named) };
  return { ports, environment: unwrap(found).id };
}

/** The same for what changes something: in the audit of that team. */
async function changing(c: Context<AppContext>): Promise<About> {
  const found = await about(c);
  await c.var.audit.begin(found.ports);
  return found;
}

environmentSecrets.get("/:environment/secrets", async (c) => {
  const { ports, environment } = await about(c);
  const [all, links] = await readTwice(
    () => ports.registry,
    (registry) => Promise.all([registry.listSecrets(environment), registry.listLinks(environment)]),
  );
  return c.json({ data: [...all.map(own), ...links.map(({ secret }) => ({ ...shown(secret), source: "global" as const }))] });
});

environmentSecrets.post("/:environment/secrets", async (c) => {
  const { name, value, description } = parseBody(environmentSecretBody, await readJsonText(c.req.raw));
  const { ports, environment } = await changing(c);
  const id = drawId();
  c.var.audit.made(id);
  const seal = await sealerOf(ports);
  const made = await ports.registry.createSecret({
    ...{ id, environment, name, description: description ?? null, hosts: [], created_by: c.var.caller.user },
    ...(await seal(id, value)),
  });
  return c.json({ data: own(unwrap(made)) }, 201);
});

environmentSecrets.patch("/:environment/secrets/:secret", async (c) => {
  const { value, ...change } = parseBody(environmentSecretChange, await readJsonText(c.req.raw));
  const { ports, environment } = await changing(c);
  const id = c.req.param("secret");
  const sealed = value === undefined ? undefined : await (await sealerOf(ports))(id, value);
  return c.json({ data: own(unwrap(await ports.registry.changeSecret(id, environment, { ...change, value: sealed }))) });
});

environmentSecrets.delete("/:environment/secrets/:secret", async (c) => {
  const { ports, environment } = await changing(c);
  unwrap(await ports.registry.deleteSecret(c.req.param("secret"), environment));
  return c.json({ message: "Secret deleted." });
});

environmentSecrets.post("/:environment/secrets/link/:secret", async (c) => {
  const { ports, environment } = await changing(c);
  const { id, secret, created_at } = unwrap(await ports.registry.linkSecret(c.req.param("secret"), environment, drawId()));
  return c.json({ data: { id, secretId: secret.id, secretName: secret.name, environmentId: environment, createdAt: iso(created_at) } });
});

environmentSecrets.delete("/:environment/secrets/link/:secret", async (c) => {
  const { ports, environment } = await changing(c);
  unwrap(await ports.registry.unlinkSecret(c.req.param("secret"), environment));
  return c.json({ message: "Secret unlinked." });
});

environmentSecrets.get("/:environment/variables", async (c) => {
  const { ports, environment } = await about(c);
  const all = await readTwice(
    () => ports.registry,
    (registry) => registry.listVariables(environment),
  );
  return c.json({ data: all.map(variable) });
});

environmentSecrets.post("/:environment/variables", async (c) => {
  const { name, value, description } = parseBody(variableBody, await readJsonText(c.req.raw));
  const { ports, environment } = await changing(c);
  const id = drawId();
  c.var.audit.made(id);
  return c.json({ data: variable(unwrap(await ports.registry.createVariable({ id, environment, name, value, description: description ?? null }))) }, 201);
});

environmentSecrets.patch("/:environment/variables/:variable", async (c) => {
  const change = parseBody(variableChange, await readJsonText(c.req.raw));
  const { ports, environment } = await changing(c);
  return c.json({ data: variable(unwrap(await ports.registry.changeVariable(c.req.param("variable"), environment, change))) });
});

environmentSecrets.delete("/:environment/variables/:variable", async (c) => {
  const { ports, environment } = await changing(c);
  unwrap(await ports.registry.deleteVariable(c.req.param("variable"), environment));
  return c.json({ message: "Variable deleted." });
});

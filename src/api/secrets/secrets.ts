import { type Context, Hono } from "hono";
import type { SecretFacts } from "../../../durable-objects/registry/secrets/secret-control.ts";
import { EdgewiseError } from "../../errors/result.ts";
import { portsFor } from "../access/team-of-request.ts";
import type { AppContext } from "../app-context.ts";
import type { AppPorts } from "../app-ports.ts";
import { check, parseBody, readJsonText } from "../body.ts";
import { unwrap } from "../errors.ts";
import { readTwice } from "../read-twice.ts";
import { rotateSlice } from "./rotate.ts";
import { drawId, sealerOf } from "./sealing.ts";
import { rotateBody, secretBody, secretChange, teamIdQuery } from "./secret-schemas.ts";

/** `/secrets`: those of a team. Their values come in, and never out. */
export const secrets = new Hono<AppContext>();

const iso = (at: number): string => new Date(at).toISOString();
const shown = ({ created_at, created_by, updated_at, environment: _, ...facts }: SecretFacts) => ({
  ...facts,
  createdAt: iso(created_at),
  createdBy: created_by,
  updatedAt: iso(updated_at),
});

const portsOfQuery = (c: Context<AppContext>): Promise<AppPorts> => portsFor(c, check(teamIdQuery, c.req.query(), "query").teamId);

/** The same for what changes something: in the audit of that team. */
async function changing(c: Context<AppContext>): Promise<AppPorts> {
  const ports = await portsOfQuery(c);
  await c.var.audit.begin(ports);
  return ports;
}

secrets.get("/", async (c) => {
  const ports = await portsOfQuery(c);
  const all = await readTwice(
    () => ports.registry,
    (registry) => registry.listSecrets(null),
  );
  return c.json({ data: all.map(shown) });
});

secrets.post("/", async (c) => {
  const { name, value, description, hosts, teamId } = parseBody(secretBody, await readJsonText(c.req.raw));
  const ports = await portsFor(c, teamId);
  await c.var.audit.begin(ports);
  const id = drawId();
  c.var.audit.made(id);
  const seal = await sealerOf(ports);
  const made = await ports.registry.createSecret({
    ...{ id, environment: null, name, description: description ?? null, hosts: [...new Set(hosts ?? [])], created_by: c.var.caller.user },
    ...(await seal(id, value)),
  });
  return c.json({ data: shown(unwrap(made)) }, 201);
});

/** One slice of a change of the master key, of all teams. */
secrets.post("/rotate", async (c) => {
  const from = parseBody(rotateBody, await readJsonText(c.req.raw));
  return c.json({ data: await rotateSlice(c.var.ports, from) });
});

secrets.get("/:secret", async (c) => {
  const ports = await portsOfQuery(c);
  const found = await readTwice(
    () => ports.registry,
    (registry) => registry.getSecret(c.req.param("secret"), null),
  );
  if (found === null) throw new EdgewiseError("not_found", "There is no such secret.", { hint: "`npx edgewise secret list` shows those there are." });
  return c.json({ data: shown(found) });
});

secrets.patch("/:secret", async (c) => {
  const { value, hosts, ...change } = parseBody(secretChange, await readJsonText(c.req.raw));
  const ports = await changing(c);
  const id = c.req.param("secret");
  const sealed = value === undefined ? undefined : await (await sealerOf(ports))(id, value);
  const changed = await ports.registry.changeSecret(id, null, { ...change, ...(hosts === undefined ? {} : { hosts: [...new Set(hosts)] }), value: sealed });
  return c.json({ data: shown(unwrap(changed)) });
});

secrets.delete("/:secret", async (c) => {
  const ports = await changing(c);
  unwrap(await ports.registry.deleteSecret(c.req.param("secret"), null));
  return c.json({ message: "Secret deleted." });
});

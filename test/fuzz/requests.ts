import { openApiDocument } from "../../src/api/openapi.ts";
import type { Random } from "../simulation/world/random.ts";
import { type Door, openDoor } from "../support/door/fake-ports.ts";
import { damaged, deepJson, noise, value } from "./hostile.ts";

type Schema = Readonly<Record<string, unknown>>;
interface Operation {
  readonly path: string;
  readonly method: string;
  readonly parameters: readonly { readonly name: string; readonly in: string; readonly schema: Schema }[];
  readonly body: Schema | null;
}

/** Answers that last until something happens: what they wait for does not come here. */
const WAITS = /\/events$/;

const document = openApiDocument("1.2.3") as unknown as {
  paths: Record<string, Record<string, { parameters?: Operation["parameters"]; requestBody?: { content?: Record<string, { schema?: Schema }> } }>>;
};
const OPERATIONS: readonly Operation[] = Object.entries(document.paths).flatMap(([path, methods]) =>
  WAITS.test(path)
    ? []
    : Object.entries(methods).map(([method, { parameters = [], requestBody }]) => ({
        path,
        method: method.toUpperCase(),
        parameters,
        body: requestBody?.content?.["application/json"]?.schema ?? null,
      })),
);

/** A value as a schema wants it, but for what is drawn to be anything else. */
function drawn(random: Random, schema: Schema, levels = 6): unknown {
  if (random.chance(0.08) || levels === 0) return value(random);
  if (Array.isArray(schema.enum)) return random.pick(schema.enum as unknown[]);
  const either = (schema.anyOf ?? schema.oneOf) as readonly Schema[] | undefined;
  if (either !== undefined) return drawn(random, random.pick(either), levels - 1);
  switch (schema.type) {
    case "object": {
      const known = Object.entries((schema.properties ?? {}) as Record<string, Schema>);
      const chosen = known.filter(() => random.chance(0.4)).map(([name, each]) => [name, drawn(random, each, levels - 1)] as const);
      return Object.fromEntries([...chosen, ...(random.chance(0.1) ? [[noise(random, 64), value(random)] as const] : [])]);
    }
    case "array": {
      const length = random.chance(0.05) ? random.int(0, 300) : random.int(0, 4);
      return Array.from({ length }, () => drawn(random, (schema.items ?? {}) as Schema, levels - 1));
    }
    case "integer":
    case "number":
      return random.pick([0, 1, 5, -1, Number(schema.minimum ?? 0), Number(schema.maximum ?? 100), Number(schema.maximum ?? 100) + 1, 1e300]);
    case "boolean":
      return random.chance(0.5);
    case "string":
      return random.pick(["gsm8k", "arithmetic", "m", "0000abcd", "f".repeat(64), "http://127.0.0.1:1/v1", "{}", "", noise(random, 512)]);
    default:
      return value(random);
  }
}

/** A sweep, which the schema knows as a table of anything. */
const sweep = (random: Random): unknown => ({
  ablation: [
    {
      env_id: "gsm8k",
      sweep: Object.fromEntries(
        ["temperature", "max_tokens", "num_examples", "top_p"].map((key) => [key, Array.from({ length: random.int(0, 3_000) }, (_, at) => at)]),
      ),
    },
  ],
});

const text = (random: Random): string => encodeURIComponent(random.chance(0.5) ? "0000abcd" : String(value(random, 0)).toWellFormed().slice(0, 2_000)) || "x";

function bodyOf(random: Random, { body, path }: Operation): string | Uint8Array | undefined {
  if (body === null) return random.chance(0.1) ? noise(random, 1_024).toWellFormed() : undefined;
  if (random.chance(0.05)) return deepJson(random);
  if (path.endsWith("evaluation-configs") && random.chance(0.5)) return JSON.stringify(sweep(random));
  const sent = JSON.stringify(drawn(random, body)) ?? "null";
  return random.chance(0.1) ? damaged(random, new TextEncoder().encode(sent)) : sent;
}

/** A door is used by many requests, as a service is, and begun anew before what was made through it is much. */
const REQUESTS_PER_DOOR = 200;
let door: Door | null = null;
let left = 0;

/** Every request is answered, and none as a fault of the service. */
export async function answersRequest(random: Random): Promise<void> {
  if (door === null || left-- === 0) [door, left] = [openDoor(), REQUESTS_PER_DOOR];
  const operation = random.pick(OPERATIONS);
  const path = operation.path.replace("/api/v1", "").replace(/\{\w+\}/g, () => text(random));
  const query = operation.parameters
    .filter((parameter) => parameter.in === "query" && random.chance(0.4))
    .map(({ name, schema }) => `${name}=${encodeURIComponent(String(drawn(random, schema)).toWellFormed().slice(0, 500))}`);
  const url = query.length === 0 ? path : `${path}?${query.join("&")}`;
  const body = ["GET", "HEAD"].includes(operation.method) ? undefined : bodyOf(random, operation);
  const response = await door.call(operation.method, url, body, random.chance(0.1) ? { "idempotency-key": "k" } : {});
  const said = await response.text();
  if (response.status >= 500) throw new Error(`${operation.method} ${url}: ${response.status} ${said.slice(0, 500)}`);
}

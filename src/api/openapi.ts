import { Hono } from "hono";
import { z } from "zod";
import { OUTPUT_FILES } from "../../r2-layout/keys.ts";
import type { AppContext } from "./app-context.ts";
import type { Operation } from "./operation.ts";
import { OPERATIONS } from "./operations.ts";
import { errorBody } from "./response-schemas.ts";
import { WIRE } from "./schemas.ts";

/** `/openapi.json`: the routes and schemas of this service, made from the zod schemas that check requests. */
export const openapi = new Hono<AppContext>();

openapi.get("/", (c) => c.json(openApiDocument(c.var.ports.facts.version)));

type Schema = Record<string, unknown>;
const ref = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` });

/** Errors that any request may meet: no token, one that lacks a scope or asks too often, and a service that cannot do its work now. */
const EVERYWHERE = [401, 403, 429, 500, 503];
const MEANINGS: Readonly<Record<string, string>> = {
  200: "Done",
  201: "Stored, or made",
  202: "Begun: ask again after `Retry-After`",
  206: "The part that was asked for",
  401: "No token, or a wrong one",
  402: "A budget of the team or of a key is spent; `Retry-After` says when its day or month begins anew",
  403: "The token lacks the scope that the operation needs",
  404: "No such thing",
  409: "Not in this state, or a conflict",
  413: "Too large",
  415: "Not JSON",
  416: "Behind the end of the file",
  422: "Something in the request is wrong; `detail` says where",
  429: "A limit of the team or token is reached; `Retry-After` says when to ask again",
  500: "A fault of the service; its log has the cause",
  503: "Try again",
};

/** An OpenAPI 3.1 document. */
export function openApiDocument(version: string): Schema {
  const paths: Record<string, Schema> = {};
  for (const operation of OPERATIONS) {
    const path = `/api/v1${operation.path}`;
    paths[path] = { ...paths[path], [operation.method]: describe(operation) };
  }
  return {
    openapi: "3.1.0",
    info: { title: "Edgewise", version, description: "Evaluations of language models: create, follow, read, stop. Unknown fields are refused at every level." },
    servers: [{ url: "/" }],
    security: [{ token: [] }],
    paths,
    components: {
      securitySchemes: {
        token: {
          type: "http",
          scheme: "bearer",
          description: "EDGEWISE_TOKEN, or a token of a team (createToken); the local service needs one only when EDGEWISE_TOKEN is set.",
        },
      },
      schemas: { Json: jsonSchema(z.json()), Error: jsonSchema(errorBody) },
    },
  };
}

function describe({ id, path, summary, query, headers = {}, body, answers, errors }: Operation): Schema {
  const parameters = [...pathParameters(path), ...(query === undefined ? [] : queryParameters(query)), ...headerParameters(headers)];
  const good = Object.entries(answers).map(([status, answer]) => [status, { description: MEANINGS[status], content: contentOf(answer) }]);
  const bad = [...EVERYWHERE, ...errors].sort().map((status) => [String(status), { description: MEANINGS[status], content: ERROR }]);
  return {
    operationId: id,
    summary,
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined ? {} : { requestBody: { required: true, content: contentOf(body) } }),
    responses: Object.fromEntries([...good, ...bad]),
  };
}

const ERROR: Schema = { "application/json": { schema: ref("Error") } };

const contentOf = (content: z.ZodType | readonly string[]): Schema =>
  content instanceof z.ZodType ? { "application/json": { schema: jsonSchema(content) } } : Object.fromEntries(content.map((media) => [media, {}]));

const PATH_PARAMETERS: Readonly<Record<string, Schema>> = {
  id: { pattern: "^[0-9a-f]{8}$" },
  file: { enum: OUTPUT_FILES },
  path: { pattern: "^(README\\.md|data/train-\\d{5}-of-\\d{5}\\.parquet)$" },
  sha256: { pattern: "^[0-9a-f]{64}$" },
  example: { pattern: "^\\d{1,9}$" },
  rollout: { pattern: "^\\d{1,9}$" },
  version: { pattern: "^@." },
  token: { pattern: "^[0-9a-f]{12}$" },
  dataset: { pattern: "^[A-Za-z0-9_][A-Za-z0-9_.-]{0,95}$" },
  endpoint: { pattern: "^[A-Za-z0-9][\\w.:/@+-]{0,127}$" },
  secret: { pattern: "^[0-9a-f]{12}$" },
  variable: { pattern: "^[0-9a-f]{12}$" },
  team: { pattern: "^[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?$" },
  user: { pattern: "^[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?$" },
};

const pathParameters = (path: string): Schema[] =>
  [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => ({ name, in: "path", required: true, schema: { type: "string", ...PATH_PARAMETERS[name] } }));

function queryParameters(query: z.ZodObject): Schema[] {
  return Object.entries(query.shape).map(([name, schema]) => {
    // A default has the type of what the text means, so zod leaves it out of what is sent.
    const usual = schema instanceof z.ZodDefault ? { default: schema.def.defaultValue } : {};
    return { name, in: "query", required: false, schema: { ...jsonSchema(schema as z.ZodType), ...usual } };
  });
}

const headerParameters = (headers: Readonly<Record<string, string>>): Schema[] =>
  Object.entries(headers).map(([name, description]) => ({ name, in: "header", required: false, description, schema: { type: "string" } }));

/**
 * The JSON Schema of what a client sends. Two things zod cannot know: a number in a query is a text for it (`WIRE`), and its
 * references point into the schema, where those of OpenAPI point into the document; the one recursive schema is that of any JSON.
 */
function jsonSchema(schema: z.ZodType): Schema {
  const made = z.toJSONSchema(schema, {
    io: "input",
    override: ({ zodSchema, jsonSchema: result }) => {
      const wire = WIRE.get(zodSchema);
      if (wire !== undefined) for (const key of Object.keys(result)) delete result[key as keyof typeof result];
      Object.assign(result, wire ?? {});
    },
  }) as Schema;
  const { $schema: _, $defs: __, ...own } = made;
  return withJson(own) as Schema;
}

/** References within the schema, all of them to any JSON, as references into the document. */
function withJson(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withJson);
  if (typeof value !== "object" || value === null) return value;
  if ("$ref" in value) return ref("Json");
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, withJson(member)]));
}

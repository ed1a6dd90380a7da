import type { JsonObject } from "../config/plan/run-config.ts";
import type { ByteSource, DatasetHost } from "../datasets/host.ts";
import { datasetRows } from "../datasets/rows.ts";
import type { DatasetSpec } from "../datasets/spec.ts";
import { webDatasetHost } from "../datasets/web-host.ts";
import { rowSource } from "../environments/definition/dataset-source.ts";
import type { EnvironmentDefinition } from "../environments/definition/definition.ts";
import type { RowSource } from "../environments/definition/examples.ts";
import type { Environment } from "../environments/kinds/environment.ts";
import type { OpenEnvConnect } from "../environments/openenv/openenv-server.ts";
import type { Sandbox } from "../environments/sandbox/sandbox.ts";
import type { Client } from "../rollouts/types.ts";

export interface TestEnvironmentOptions {
  /** Arguments of the environment, as `-a` has them. */
  readonly args?: JsonObject;
  /** Options set after loading, as `-x` has them. */
  readonly extra?: JsonObject;
  /** Rows in place of the data set, under the names the environment has for its columns; without them reading a data set is an error. */
  readonly rows?: readonly JsonObject[];
  /** Rows of further data sets that the environment reads (`rows` of its loader's context), by the name it reads them by. */
  readonly further?: Readonly<Record<string, readonly JsonObject[]>>;
  /** Values of the keys that the environment declares. */
  readonly keys?: Readonly<Record<string, string>>;
  /** What the environment is given when it asks for a model of its own (a judge). */
  readonly client?: Client;
  /** Where its sandboxes are made; default: it is given none. */
  readonly sandbox?: Sandbox;
  /** What answers for OpenEnv servers; default: those that run. */
  readonly openEnv?: OpenEnvConnect;
}

/** Loads an environment for a test: no network, no variables of the process. Throws like a run does at creation. */
export function testEnvironment(
  definition: EnvironmentDefinition,
  { args = {}, extra = {}, rows, further = {}, keys = {}, client, sandbox, openEnv }: TestEnvironmentOptions = {},
): Environment {
  const own = rows === undefined ? args : { ...args, dataset: ROWS };
  const datasets = rowsHost(rows ?? null);
  const rowsOf = (spec: DatasetSpec): RowSource => {
    const given = further[spec.dataset];
    return given === undefined ? () => datasetRows(spec, datasets) : rowSource(given);
  };
  const models = client === undefined ? {} : { client: () => client };
  const servers = openEnv === undefined ? {} : { openEnv };
  const sandboxes = sandbox === undefined ? {} : { sandbox: () => sandbox };
  return definition.load(own, { datasets, rows: rowsOf, key: (name) => keys[name] ?? null, ...models, ...sandboxes, ...servers }, extra);
}

/** A reference that leads to the rows of the test. */
const ROWS = `sha256:${"0".repeat(64)}`;

/** A host whose uploads have these rows, and which has no network. */
function rowsHost(rows: readonly JsonObject[] | null): DatasetHost {
  const bytes = new TextEncoder().encode((rows ?? []).map((row) => `${JSON.stringify(row)}\n`).join(""));
  const source: ByteSource = {
    name: "the rows of the test",
    open: () => Promise.resolve(new Blob([bytes]).stream()),
    size: () => Promise.resolve(bytes.byteLength),
    read: (start, end) => Promise.resolve(bytes.slice(start, end).buffer),
  };
  return webDatasetHost({
    fetch: () => Promise.reject(new Error("tests read no network: testEnvironment(definition, { rows: [...] })")),
    sleep: () => Promise.resolve(),
    upload: () => Promise.resolve(rows === null ? null : source),
  });
}

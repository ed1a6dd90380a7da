import type { JsonObject } from "../config/run-config.ts";
import type { ByteSource, DatasetHost } from "../datasets/host.ts";
import { webDatasetHost } from "../datasets/web-host.ts";
import type { EnvironmentDefinition } from "../environments/definition.ts";
import type { Environment } from "../environments/environment.ts";
import type { Client } from "../environments/types.ts";

export interface TestEnvironmentOptions {
  /** Arguments of the environment, as `-a` has them. */
  readonly args?: JsonObject;
  /** Options set after loading, as `-x` has them. */
  readonly extra?: JsonObject;
  /** Rows in place of the data set, under the names the environment has for its columns; without them reading a data set is an error. */
  readonly rows?: readonly JsonObject[];
  /** Values of the keys that the environment declares. */
  readonly keys?: Readonly<Record<string, string>>;
  /** What the environment is given when it asks for a model of its own (a judge). */
  readonly client?: Client;
}

/** Loads an environment for a test: no network, no variables of the process. Throws like a run does at creation. */
export function testEnvironment(
  definition: EnvironmentDefinition,
  { args = {}, extra = {}, rows, keys = {}, client }: TestEnvironmentOptions = {},
): Environment {
  const own = rows === undefined ? args : { ...args, dataset: ROWS };
  return definition.load(
    own,
    { datasets: rowsHost(rows ?? null), key: (name) => keys[name] ?? null, ...(client === undefined ? {} : { client: () => client }) },
    extra,
  );
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

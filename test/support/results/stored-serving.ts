/** Alerts, monitors and evaluators of the local service as versions stored them: `test/fixtures/stored-state/serving/`, one file for each set of versions of their tables. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { packFiles, unpackFiles, versionIn } from "./packed-state.ts";

const FOLDER = fileURLToPath(new URL("../../fixtures/stored-state/serving/", import.meta.url));
const TABLES = ["alert-book", "monitor", "evaluator"];

/** What the door showed then, as far as tests look at it. */
export interface StoredServing {
  /** What its messages are signed with; and messages that were taken. */
  readonly alert: { readonly name: string; readonly definition: object; readonly secret: string; readonly messages: readonly { readonly id: string }[] };
  /** `beat_path`: of the address that its job calls. */
  readonly monitors: readonly {
    readonly name: string;
    readonly state: string;
    readonly beat_path: string;
    readonly history: readonly { readonly at: string; readonly type: string }[];
  }[];
  readonly evaluator: {
    readonly name: string;
    readonly definition: { readonly evaluations: readonly object[] };
    readonly records: readonly object[];
    readonly series: object;
    readonly advice: object;
  };
}

/** Name of the file that holds what this code stores. */
export const CURRENT_SERVING = `${TABLES.map((name) => `${name}-${versionIn(`${name}/${name}-store.ts`, "SCHEMA")}`).join(".")}.json.br`;
export const storedServing = (): readonly string[] => readdirSync(FOLDER).filter((name) => name.endsWith(".json.br"));

/** Secrets are opened with the key beside the state, which is of that state alone. */
const keyOf = (stateFolder: string): string => join(stateFolder, "master-key");
interface Facts {
  readonly serving: StoredServing;
  readonly key: string;
}

/** Returns bytes written. */
export function packServing(stateFolder: string, serving: StoredServing): number {
  mkdirSync(FOLDER, { recursive: true });
  return packFiles(`${FOLDER}${CURRENT_SERVING}`, stateFolder, { serving, key: readFileSync(keyOf(stateFolder), "utf8") } satisfies Facts);
}

/** Lays them where a service of `stateFolder` finds them. */
export function unpackServing(name: string, stateFolder: string): StoredServing {
  const { serving, key } = unpackFiles<Facts>(`${FOLDER}${name}`, stateFolder);
  writeFileSync(keyOf(stateFolder), key, { mode: 0o600 });
  return serving;
}

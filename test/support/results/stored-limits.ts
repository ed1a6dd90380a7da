/** What Limiters of the local service have stored, and limits that it keeps, as versions stored them: `test/fixtures/stored-state/limits/`, one file for each set of versions. */
import { mkdirSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { packFiles, unpackFiles, versionIn } from "./packed-state.ts";

const FOLDER = fileURLToPath(new URL("../../fixtures/stored-state/limits/", import.meta.url));

/** What the door showed then, as far as tests look at it. */
export interface StoredLimits {
  readonly limiter: {
    readonly limiter_id: string;
    readonly api_base_url: string;
    readonly model_class: string;
    readonly given: readonly string[];
    readonly state: { readonly limits: readonly { readonly kind: string; readonly limit: number; readonly source: string }[] };
  };
  readonly given: { readonly name: string; readonly limits: readonly object[] };
}

/** Name of the file that holds what this code stores. */
export const CURRENT_LIMITS = `limiter-${versionIn("limiter/limiter-store.ts", "SCHEMA")}.given-${versionIn("registry/limiters/limiter-store.ts", "GIVEN_LIMIT_VERSION")}.json.br`;
export const storedLimits = (): readonly string[] => {
  mkdirSync(FOLDER, { recursive: true });
  return readdirSync(FOLDER).filter((name) => name.endsWith(".json.br"));
};

/** Returns bytes written. */
export function packLimits(stateFolder: string, stored: StoredLimits): number {
  mkdirSync(FOLDER, { recursive: true });
  return packFiles(`${FOLDER}${CURRENT_LIMITS}`, stateFolder, { stored });
}

/** Lays them where a service of `stateFolder` finds them. */
export const unpackLimits = (name: string, stateFolder: string): StoredLimits => unpackFiles<{ stored: StoredLimits }>(`${FOLDER}${name}`, stateFolder).stored;

/**
 * State of the local service as a version stored it, in one file: `test/fixtures/stored-state/`. A file is named after the versions that are
 * in it and never made again: `npm run keep:state` makes the one of today's, when a version was raised.
 */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { HEAD_VERSION } from "../../../durable-objects/run/state/head.ts";
import { ORDER_SCHEMA_VERSION } from "../../../durable-objects/run/state/schema.ts";
import { packFiles, unpackFiles, versionIn } from "./packed-state.ts";

const FOLDER = fileURLToPath(new URL("../../fixtures/stored-state/", import.meta.url));

/** A run in it, as the door showed it then. */
export interface StoredRun {
  readonly id: string;
  readonly examples: number;
  readonly rollouts: number;
  /** `working`: the service was killed while it had open units. */
  readonly stood: "settled" | "suspended" | "working";
  readonly done_rollouts: number;
  /** `results.jsonl` of a settled run. */
  readonly results: string | null;
}

const REGISTRY = versionIn("registry/registry-store.ts", "REGISTRY_SCHEMA");
const DISPATCHER = versionIn("dispatcher/offer-store.ts", "DISPATCHER_SCHEMA");

/** Name of the file that holds what this code stores. */
export const CURRENT_STATE = `run-${ORDER_SCHEMA_VERSION}.head-${HEAD_VERSION}.registry-${REGISTRY}.dispatcher-${DISPATCHER}.json.br`;
export const storedStates = (): readonly string[] => readdirSync(FOLDER).filter((name) => name.endsWith(".json.br"));

/** Returns bytes written. */
export const packState = (stateFolder: string, runs: readonly StoredRun[]): number => packFiles(join(FOLDER, CURRENT_STATE), stateFolder, { runs });

/** Lays it where a service of `stateFolder` finds it. */
export const unpackState = (name: string, stateFolder: string): readonly StoredRun[] =>
  unpackFiles<{ readonly runs: readonly StoredRun[] }>(join(FOLDER, name), stateFolder).runs;

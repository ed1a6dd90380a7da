/** Schedules of the local service as a version stored them: `test/fixtures/stored-state/schedules/`, one file for each version of their tables. */
import { mkdirSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { packFiles, unpackFiles, versionIn } from "./packed-state.ts";

const FOLDER = fileURLToPath(new URL("../../fixtures/stored-state/schedules/", import.meta.url));

/** As the door showed it then, as far as tests look at it. */
export interface StoredSchedule {
  readonly name: string;
  readonly definition: { readonly eval: Readonly<Record<string, unknown>> } & Readonly<Record<string, unknown>>;
  readonly paused: { readonly reason: string } | null;
  readonly series: readonly { readonly due_at: string; readonly run_id: string | null; readonly status: string | null }[];
  readonly events: readonly { readonly seq: number; readonly type: string }[];
  readonly pinned_dataset_digest: string | null;
  readonly env_digest: string | null;
}

/** Name of the file that holds what this code stores. */
export const CURRENT_SCHEDULES = `schedule-${versionIn("schedule/schedule-store.ts", "SCHEMA")}.json.br`;
export const storedSchedules = (): readonly string[] => readdirSync(FOLDER).filter((name) => name.endsWith(".json.br"));

/** Returns bytes written. */
export function packSchedules(stateFolder: string, schedules: readonly StoredSchedule[]): number {
  mkdirSync(FOLDER, { recursive: true });
  return packFiles(`${FOLDER}${CURRENT_SCHEDULES}`, stateFolder, { schedules });
}

/** Lays them where a service of `stateFolder` finds them. */
export const unpackSchedules = (name: string, stateFolder: string): readonly StoredSchedule[] =>
  unpackFiles<{ readonly schedules: readonly StoredSchedule[] }>(`${FOLDER}${name}`, stateFolder).schedules;

import { basename } from "node:path";
import { isRunId } from "../../../r2-layout/keys.ts";
import { configOf, factsOf } from "../../api/pushes/create-pushed.ts";
import type { PushBody } from "../../api/pushes/push-schemas.ts";
import type { JsonObject, RunConfig } from "../../config/plan/run-config.ts";
import { type RunFacts, runFacts } from "../../exports/run-facts.ts";
import type { PushedFacts } from "../../pushed/pushed-facts.ts";
import { bodyOf } from "../push/pushed-folder.ts";
import { type FoundRun, readMetadata } from "../view/find-runs.ts";

/** What a folder says of itself beside its rows. */
export interface FolderFacts {
  /** `metadata.json`, or what stands in its place. */
  readonly metadata: JsonObject;
  /** Null where it cannot be read. */
  readonly run: RunFacts | null;
  /** Why. */
  readonly problem: string | null;
  /** Its `edgewise`; empty in folders of other programs. */
  readonly own: JsonObject;
  readonly config: Omit<RunConfig, "run_id" | "created_at">;
  readonly pushed: PushedFacts;
  /** When the run began, as far as can be told: the time that it took before its metadata were written; never before there was such a time. Unix milliseconds. */
  readonly began: number;
}

export const objectIn = (value: unknown): JsonObject => (typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : {});

const UNKNOWN = "unknown";

/** Reads it now. Never throws for what is in the folder. */
export function folderFacts({ path, shownPath, envId, model, changed }: FoundRun): FolderFacts {
  const read = readMetadata(path);
  const metadata = "problem" in read ? {} : objectIn(read.value);
  const run = runFacts(metadata);
  const problem = "problem" in read ? read.problem : run === null ? "metadata.json names no environment and model: it is not the metadata of a run" : null;
  // What is known by the names of folders.
  const named = run ?? { env_id: envId, model };
  const body: PushBody = { ...(bodyOf({ facts: named, metadata, name: "" }, false) as PushBody), model_name: named.model, description: shownPath };
  const own = objectIn(metadata.edgewise);
  const { name } = metadata;
  const settings = objectIn(own.settings);
  const title = [settings.name, name].find((text): text is string => typeof text === "string" && text !== "");
  const seconds = typeof metadata.time_ms === "number" ? metadata.time_ms / 1000 : typeof metadata.time === "number" ? metadata.time : 0;
  return {
    metadata,
    run,
    problem,
    own,
    config: { ...configFrom(body), ...(typeof own.env_version === "string" ? { env_version: own.env_version } : {}), ...clusterOf(run) },
    // Folders that are named as runs are, are told apart by that; others by where they are.
    pushed: { ...factsOf(body), name: title ?? (isRunId(basename(path)) ? null : shownPath) },
    began: Math.max(0, changed - Math.max(0, seconds) * 1000),
  };
}

const clusterOf = (run: RunFacts | null): Pick<RunConfig, "cluster_by"> => (run?.cluster_by === undefined ? {} : { cluster_by: run.cluster_by });

/** The settings of a run whose names may be those of no folder: files here are where they are. */
function configFrom(body: PushBody): Omit<RunConfig, "run_id" | "created_at"> {
  try {
    return configOf(body);
  } catch {
    return configOf({ ...body, model_name: UNKNOWN });
  }
}

/** A task folder of Harbor as a task of a benchmark: pure; who reads the files is not known here. */
import type { JsonObject } from "../config/plan/run-config.ts";
import { parseTomlText } from "../config/plan/toml-document.ts";
import { EdgewiseError } from "../errors/result.ts";

/** The file beside `task.toml` that names the function which verifies a task without a container. */
export const HARBOR_VERIFIER_FILE = "evsys_verifier.json";

/** The files of a task folder that are read, as they stand; null = it has none. */
export interface HarborFiles {
  /** Name of the folder. */
  readonly name: string;
  readonly taskToml: string;
  readonly instruction: string | null;
  readonly verifier: string | null;
}

/**
 * A line of `tasks.jsonl`. With a function beside it, a task of text is verified by that; any other one has the verifier `harbor`, its script in a container, which
 * is not run here. Throws `dataset_unreadable` that names the file.
 */
export function harborTask({ name, taskToml, instruction, verifier }: HarborFiles): JsonObject {
  const { metadata = {}, task = {} } = parsed(name, "task.toml", () => parseTomlText(taskToml, "task.toml")) as { metadata?: JsonObject; task?: JsonObject };
  const task_id = typeof task.name === "string" ? task.name : name;
  if (verifier === null || instruction === null) return { task_id, instruction: instruction ?? "", verifier: { kind: "harbor" }, metadata };
  const spec = parsed(name, HARBOR_VERIFIER_FILE, () => JSON.parse(verifier) as JsonObject);
  return { task_id, instruction, verifier: { ...spec, kind: "in_process" }, metadata };
}

function parsed<T>(name: string, file: string, parse: () => T): T {
  try {
    return parse();
  } catch (thrown) {
    throw new EdgewiseError("dataset_unreadable", `Harbor task ${name}: ${file} cannot be read: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
  }
}

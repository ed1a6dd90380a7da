import { ownFrame } from "../errors/own-frames.ts";
import { EdgewiseError, failureOf } from "../errors/result.ts";

const FILE_ERRORS: ReadonlySet<unknown> = new Set(["ENOENT", "ENOTDIR", "EISDIR", "EACCES", "EPERM", "EROFS"]);

/**
 * What to tell the author of an environment that tried to read a file while running: in the Worker there is none, and the runtime only
 * says that this one is missing. Null for every other error.
 */
export function fileProblem(thrown: unknown): string | null {
  if (typeof thrown !== "object" || thrown === null || !("code" in thrown) || !FILE_ERRORS.has(thrown.code)) return null;
  return "environments cannot read local files while they run: data comes by reference (the argument dataset), or is imported with the code";
}

const MEND = "Mend the environment's code, and begin again.";

/** The environment's code broke outside of a rollout, while it was loaded or made its examples. */
export function environmentFailed(what: string, thrown: unknown): EdgewiseError {
  const hint = fileProblem(thrown) ?? MEND;
  const place = ownFrame(thrown);
  return new EdgewiseError("environment_failed", `${what}: ${failureOf(thrown).message}${place === null ? "" : ` (${place})`}`, {
    cause: thrown,
    hint,
  });
}

/** Commands as they are typed, for messages that say how to go on. */
import { relative } from "node:path";
import type { JsonObject } from "../../config/plan/run-config.ts";
import { quoted } from "../../report/text/shell-word.ts";

/** A path as one would type it: relative when it is below the current folder. */
export function shortPath(path: string, cwd: string): string {
  const below = relative(cwd, path);
  return below === "" || below.startsWith("..") ? path : below;
}

/** `what`: the results folder, or the run's id where nothing was saved. The key variable is not part of a results folder. */
export function resumeCommand(environment: string, what: string, keyName: string | undefined, envArgs: JsonObject = {}): string {
  const key = keyName === undefined ? [] : ["-k", keyName];
  const args = Object.keys(envArgs).length === 0 ? [] : ["-a", quoted(JSON.stringify(envArgs))];
  return ["npx", "edgewise", "eval", "run", quoted(environment), ...args, ...key, "-R", quoted(what)].join(" ");
}

export const stopCommand = (runId: string): string => `npx edgewise eval stop ${runId}`;

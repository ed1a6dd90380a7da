import type { Context } from "hono";
import type { RunControl, RunView } from "../../../durable-objects/run/control.ts";
import { isRunId } from "../../../r2-layout/keys.ts";
import { EdgewiseError } from "../../errors/result.ts";
import type { AppContext } from "../app-context.ts";
import { readTwice } from "../read-twice.ts";

const notFound = (): EdgewiseError => new EdgewiseError("not_found", "Evaluation not found.");

/** The id in the path; no other text gets near a storage key or names an object. */
export function runIdOf(c: Context<AppContext>): string {
  const id = c.req.param("id") ?? "";
  if (!isRunId(id)) throw notFound();
  return id;
}

export const runOf = (c: Context<AppContext>): RunControl => c.var.ports.run(runIdOf(c));

export const readRun = <T>(c: Context<AppContext>, read: (run: RunControl) => Promise<T>): Promise<T> => readTwice(() => runOf(c), read);

/** 404 for a run that was never created, or was deleted. */
export const viewOf = async (c: Context<AppContext>): Promise<RunView> => found(await readRun(c, (run) => run.view()));

/** The answer of a call that gives null for such a run. */
export function found<T>(answer: T | null): T {
  if (answer === null) throw notFound();
  return answer;
}

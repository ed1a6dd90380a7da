import type { Context } from "hono";
import type { RunControl, RunView } from "../../durable-objects/run/control.ts";
import { isRunId } from "../../r2-layout/keys.ts";
import { EdgewiseError } from "../errors/result.ts";
import type { AppContext } from "./app-context.ts";
import { expectedFailure } from "./errors.ts";

const notFound = (): EdgewiseError => new EdgewiseError("not_found", "Evaluation not found.");

/** The id in the path; no other text gets near a storage key or names an object. */
export function runIdOf(c: Context<AppContext>): string {
  const id = c.req.param("id") ?? "";
  if (!isRunId(id)) throw notFound();
  return id;
}

export const runOf = (c: Context<AppContext>): RunControl => c.var.ports.run(runIdOf(c));

/** Milliseconds before a call that met a restart is made again: the object is back by then. */
const AGAIN_MS = 50;

/**
 * Calls an object for reading; once more through a fresh stub when it broke off, as it does when the object is restarted: clients
 * that follow a run end at the first error. What the object itself answers with, refusals included, stands.
 */
export async function readTwice<Stub, T>(stub: () => Stub, read: (stub: Stub) => Promise<T>): Promise<T> {
  try {
    return await read(stub());
  } catch (thrown) {
    const overloaded = (thrown as { readonly overloaded?: unknown } | null)?.overloaded === true;
    if (overloaded || (expectedFailure(thrown)?.code ?? "storage_unavailable") !== "storage_unavailable") throw thrown;
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
    return read(stub());
  }
}

export const readRun = <T>(c: Context<AppContext>, read: (run: RunControl) => Promise<T>): Promise<T> => readTwice(() => runOf(c), read);

/** 404 for a run that was never created, or was deleted. */
export const viewOf = async (c: Context<AppContext>): Promise<RunView> => found(await readRun(c, (run) => run.view()));

/** The answer of a call that gives null for such a run. */
export function found<T>(answer: T | null): T {
  if (answer === null) throw notFound();
  return answer;
}

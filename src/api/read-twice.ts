import { expectedFailure } from "./errors.ts";

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

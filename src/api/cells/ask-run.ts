import type { Context } from "hono";
import type { RunControl } from "../../../durable-objects/run/control.ts";
import { EdgewiseError } from "../../errors/result.ts";
import type { AppContext } from "../app-context.ts";
import { lacksMethod } from "../errors.ts";
import { readRun } from "../runs/run-of.ts";

/** Asks the run of the path for what versions of before did not know. An object that a version of before still runs says `storage_unavailable`: it is another one in a moment. */
export async function askRun<T>(c: Context<AppContext>, ask: (run: RunControl) => Promise<T>): Promise<T> {
  try {
    return await readRun(c, ask);
  } catch (thrown) {
    if (!lacksMethod(thrown)) throw thrown;
    throw new EdgewiseError("storage_unavailable", "The run is still served by a version of before, which knows nothing of this.", {
      hint: "Try again in a minute.",
    });
  }
}

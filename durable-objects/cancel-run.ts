import type { RunControl } from "./run/control.ts";

/** One that is over, or gone, is as good. Throws what else keeps it from being cancelled. */
export async function cancelRun(run: Pick<RunControl, "cancel">): Promise<void> {
  const cancelled = await run.cancel();
  if (!cancelled.ok && cancelled.error.code !== "illegal_transition" && cancelled.error.code !== "not_found") throw new Error(cancelled.error.message);
}

import type { Sandbox } from "../environments/sandbox/sandbox.ts";
import { withSandboxRetries } from "../environments/sandbox/sandbox-retry.ts";
import type { DriverHost } from "./driver.ts";
import { epochIn } from "./labels.ts";

const DELETED_AT_ONCE = 100;

/** The grant that looks for what others left, and the others that live. */
export interface LookingGrant {
  readonly epoch: number;
  readonly live: readonly number[];
}

/**
 * Ends sandboxes of a run (`labels`) that were made under grants which ended before this one began: their executors were killed, or could not end them.
 * Gives how many there were. Of a provider that knows no labels nothing is found: there they end by their own time limit.
 */
export async function removeLeftovers(
  driver: Sandbox,
  labels: readonly string[],
  { epoch, live }: LookingGrant,
  { sleep }: Pick<DriverHost, "sleep">,
): Promise<number> {
  const listed = (await withSandboxRetries(async () => driver.list?.(labels), sleep, null)) ?? [];
  const left = listed.filter((each) => {
    const made = epochIn(each.labels);
    return made !== null && made < epoch && !live.includes(made);
  });
  for (let at = 0; at < left.length; at += DELETED_AT_ONCE) {
    const ids = left.slice(at, at + DELETED_AT_ONCE).map(({ id }) => id);
    await withSandboxRetries(() => driver.delete(ids), sleep, null);
  }
  return left.length;
}

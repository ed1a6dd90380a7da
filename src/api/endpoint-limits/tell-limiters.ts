import type { LimitedPlace } from "../../../durable-objects/limiter/limiter-control.ts";
import type { GivenLimit } from "../../config/endpoints/given-limit.ts";
import { givenAmounts, isOf } from "../../endpoint-limits/given-limit.ts";
import { EdgewiseError } from "../../errors/result.ts";
import { DEFAULT_TEAM, teamField } from "../../teams/team-name.ts";
import type { AppPorts } from "../app-ports.ts";
import { logUnexpected } from "../errors.ts";
import { someAtOnce } from "../some-at-once.ts";

/**
 * Tells the Limiters of the places of `changed` (what was given before, and what is given now) what holds from now on. One that has not been called
 * yet, or is not at work, asks when it begins. Throws where some could not be told.
 */
export async function tellLimiters(ports: AppPorts, changed: readonly GivenLimit[]): Promise<void> {
  const limiters = (await ports.registry.listLimiters()).filter(({ place }) => changed.some((limit) => isOf(limit, place)));
  const missed = (await someAtOnce(limiters, ({ name, place }) => told(ports, name, place))).filter((done) => !done).length;
  if (missed > 0)
    throw new EdgewiseError("storage_unavailable", `It is kept, and ${missed} of the ${limiters.length} limiters that it is for could not be told yet.`, {
      hint: "Send the same again: those that know it lose nothing.",
    });
}

async function told(ports: AppPorts, name: string, place: LimitedPlace): Promise<boolean> {
  const { team } = ports;
  try {
    const held = await ports.registry.heldLimits({ ...teamField(team), place });
    const limiter = ports.limiter(name);
    await limiter?.give(team, givenAmounts(held.team, place));
    // What the owner gives for the service's key is for all who use it.
    if (team === DEFAULT_TEAM) await limiter?.give(null, givenAmounts(held.everybody, place));
    return true;
  } catch (thrown) {
    logUnexpected("limiter", thrown);
    return false;
  }
}

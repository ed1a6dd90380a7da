import type { Context } from "hono";
import { may } from "../../teams/caller.ts";
import type { AppContext } from "../app-context.ts";
import { logUnexpected } from "../errors.ts";
import { checkAccess } from "./access.ts";
import { routeAnswering } from "./route-access.ts";

/** Between two looks at who follows a stream. What is known of a token is of the isolate (`Principals`), so that few of them ask the Directory. */
const LOOK_MS = 1_000;

/**
 * Frames for as long as the caller may have them: a stream is one request of many seconds, and who has lost the token, the scope or the team meanwhile is told
 * no more than with a new request, which also says why. Where that cannot be asked the stream ends too, and the viewer comes back.
 */
export async function* whileAllowed<Frame>(c: Context<AppContext>, frames: AsyncGenerator<Frame>): AsyncGenerator<Frame> {
  const { now } = c.var.ports;
  let lookedAt = now();
  for await (const frame of frames) {
    if (now() - lookedAt >= LOOK_MS) {
      if (!(await isAllowed(c))) return;
      lookedAt = now();
    }
    yield frame;
  }
}

async function isAllowed(c: Context<AppContext>): Promise<boolean> {
  const { ports, principals } = c.var;
  const found = routeAnswering(c);
  try {
    const access = await checkAccess(c.req.raw, ports, principals);
    if (!access.ok || found === null || !may(access.value, found.access.right)) return false;
    return access.value.teams.includes(ports.team);
  } catch (error) {
    logUnexpected("stream", error);
    return false;
  }
}

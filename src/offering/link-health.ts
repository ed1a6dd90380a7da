import type { Env } from "../env.ts";
import { isPassing } from "../errors/passing.ts";
import { failureOf } from "../errors/result.ts";
import type { LinkServer, ServerHealth } from "../links/link-server.ts";
import { linkHealth } from "./linked-environment.ts";

/** How an environment server is now. Never rejects. */
export async function healthOfServer(env: Env, server: LinkServer): Promise<ServerHealth> {
  try {
    return { state: "healthy", problem: null, ...(await linkHealth(env, server)) };
  } catch (thrown) {
    const state = isPassing(thrown) ? "unreachable" : "refused";
    return { state, problem: failureOf(thrown).message, protocol: null, environment: null, version: null, conversations: null, units: null };
  }
}

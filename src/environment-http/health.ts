import { z } from "zod";
import { readText } from "../clients/transport/response-body.ts";
import { parseShallow } from "../config/json-depth.ts";
import type { EnvironmentFetch } from "../environments/definition/definition.ts";
import { HTTP_HEALTH_MS, KIB } from "../limits.ts";
import { PROTOCOL_VERSION } from "../environment-protocol/values.ts";
import { type EnvironmentPlace, EnvironmentServer, isRefused } from "./environment-server.ts";

const HEALTH = z.object({
  protocol: z.number(),
  environment: z.string().max(200),
  version: z.string().max(200),
  /** Under way there: conversations, and units in them. */
  conversations: z.int().min(0),
  units: z.int().min(0),
});

/** How an environment's server says it is. */
export type Health = z.infer<typeof HEALTH>;

/** Asks the environment's server at `place` how it is. Rejects with `environment_failed`, which passes where the server may come back. */
export async function healthOf(place: EnvironmentPlace, fetch: EnvironmentFetch, ms = HTTP_HEALTH_MS): Promise<Health> {
  const server = new EnvironmentServer(place, fetch);
  const answer = await server.ask("GET", "/health", { signal: AbortSignal.timeout(ms) });
  if (isRefused(answer)) throw server.failure(answer);
  if (answer.status !== 200) throw server.failure(await server.refusal(answer));
  const said = await parsedHealth(answer);
  if (said === null) throw server.failure({ message: "does not say how it is: it is no environment server, or something stands before it", passing: false });
  if (said.protocol !== PROTOCOL_VERSION)
    throw server.failure({
      message: `speaks version ${said.protocol} of the protocol of environments; this service speaks ${PROTOCOL_VERSION}`,
      passing: false,
    });
  return said;
}

/** Null where it is no such answer. */
async function parsedHealth(answer: Response): Promise<Health | null> {
  try {
    return HEALTH.parse(parseShallow(await readText(answer, 16 * KIB)));
  } catch {
    return null;
  }
}

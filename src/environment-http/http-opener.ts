import type { EnvironmentFetch } from "../environments/definition/definition.ts";
import type { WallOpener } from "../walled/walled-environment.ts";
import { type EnvironmentPlace, EnvironmentServer } from "./environment-server.ts";
import { HttpChannel, type HttpPatience } from "./http-channel.ts";

export interface HttpOpenerOptions extends HttpPatience {
  /** For whoever asks without a way of its own (`WallGrant.outward`). */
  readonly fetch: EnvironmentFetch;
}

/** Opens conversations with the environment's server at `place`, one for each that asks. Rejects with `environment_failed`, which passes where the server may come back. */
export const httpOpener =
  (place: EnvironmentPlace, { fetch, ...patience }: HttpOpenerOptions): WallOpener =>
  ({ outward = fetch }) =>
    HttpChannel.open(new EnvironmentServer(place, outward), patience);

/** Opens at the first place that can be reached; where none can, rejects with what the first one said. */
export const firstOpener = (places: readonly EnvironmentPlace[], options: HttpOpenerOptions): WallOpener => {
  const openers = places.map((place) => httpOpener(place, options));
  return async (grant) => {
    let failed: unknown = null;
    for (const open of openers) {
      try {
        return await open(grant);
      } catch (thrown) {
        failed ??= thrown;
      }
    }
    throw failed;
  };
};

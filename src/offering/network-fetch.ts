import type { Env } from "../env.ts";
import type { EnvironmentFetch } from "../environments/definition/definition.ts";

/** Before code of environments is loaded, which may have another one. */
const platformFetch = fetch;

/** Requests to the outside: in the local service through the process that started it. */
export const networkFetch =
  ({ NETWORK }: Pick<Env, "NETWORK">): EnvironmentFetch =>
  (url, init) =>
    NETWORK === undefined ? platformFetch(url, init) : NETWORK.fetch(url, init);

import { shownUrl } from "../clients/secrets.ts";
import { numberVar } from "../../durable-objects/timing.ts";
import { type Env, isLocal } from "../env.ts";
import type { EnvironmentPlace } from "../environment-http/environment-server.ts";
import { type Health, healthOf } from "../environment-http/health.ts";
import { firstOpener, httpOpener } from "../environment-http/http-opener.ts";
import { sameCode } from "../environment-http/same-code.ts";
import { SpreadHosted } from "../environment-http/spread-hosted.ts";
import type { EnvironmentFacts } from "../environments/definition/describe.ts";
import type { OfferedEnvironment, OfferedFacts } from "../environments/definition/offered.ts";
import { readFacts } from "../environments/definition/read-facts.ts";
import { EdgewiseError } from "../errors/result.ts";
import { LINKED_DESCRIBING_MS, LINKED_OPENING_MS, MAX_WAITING_CHARACTERS, WALLED_SILENCE_MS } from "../limits.ts";
import { networkFetch } from "./network-fetch.ts";
import { steadyNow } from "../steady-clock.ts";
import { describeWalled, walledEnvironment } from "../walled/walled-environment.ts";

/** What is called by a link: processes with the same code, and the token that they ask for. */
export interface LinkedPlaces {
  /** The link's name, which runs call the environment by. */
  readonly name: string;
  /** At least one, without a slash at the end. */
  readonly urls: readonly string[];
  readonly token: string;
  /** What they said of it when the link was made. */
  readonly facts: OfferedFacts;
}

const mostWaiting = (env: Env): number => (isLocal(env) ? Number.POSITIVE_INFINITY : MAX_WAITING_CHARACTERS);

/**
 * An environment whose code runs in processes that are reached by HTTP. Where it is used it throws `environment_failed`, which passes where a server may come
 * back; what breaks in the middle of an example is `sandbox_error` in its rows.
 */
export function linkedEnvironment(env: Env, { name, urls, token, facts }: LinkedPlaces): OfferedEnvironment {
  const http = { fetch: networkFetch(env), mostWaiting: mostWaiting(env) };
  const options = {
    silenceMs: numberVar("WALLED_SILENCE_MS", env.WALLED_SILENCE_MS, WALLED_SILENCE_MS),
    openingMs: LINKED_OPENING_MS,
  };
  const places = urls.map((url): EnvironmentPlace => ({ url, token }));
  const called = { ...facts, id: name };
  const at = places.map((place) => {
    const open = sameCode(httpOpener(place, http), { name, url: place.url, facts });
    return { shown: shownUrl(place.url), offered: walledEnvironment(called, open, options) };
  });
  const [only] = at;
  const any = walledEnvironment(called, firstOpener(places, http), options);
  return {
    ...any,
    isIsolated: false,
    load: async (args, context, extra) => {
      if (only === undefined) throw new EdgewiseError("internal", `the link ${name} has no address`);
      if (at.length === 1) return await only.offered.load(args, context, extra);
      return await SpreadHosted.open(
        at.map(({ shown, offered }) => ({ shown, load: () => offered.load(args, context, extra) })),
        { now: steadyNow, random: Math.random, warn: (message) => context.print?.("WARNING", () => message) },
      );
    },
  };
}

/** What the environment at `place` says of itself, with what its code was made from. Throws `environment_failed` for a server that is none, cannot be reached or says what cannot be. */
export async function describeLinked(env: Env, place: EnvironmentPlace): Promise<EnvironmentFacts & { readonly source: string }> {
  const said = await describeWalled(httpOpener(place, { fetch: networkFetch(env) }), { openingMs: LINKED_DESCRIBING_MS });
  return { ...readFacts(said, "the environment server"), source: said.source };
}

/** How the environment's server at `place` is. Rejects with `environment_failed`, which passes where it may come back. */
export const linkHealth = (env: Env, place: EnvironmentPlace): Promise<Health> => healthOf(place, networkFetch(env));

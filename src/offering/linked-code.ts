import { registryStub } from "../../durable-objects/stubs.ts";
import type { LinkedPin } from "../config/plan/linked-pin.ts";
import { type Env, masterKeysIn } from "../env.ts";
import type { OfferedEnvironment } from "../environments/definition/offered.ts";
import { orLater } from "../errors/or-later.ts";
import { EdgewiseError, type Result } from "../errors/result.ts";
import { BRING_BACK, chosenLink, filledArgs, type SealedLink } from "../links/link.ts";
import { open } from "../secrets/envelope.ts";
import { steadyNow } from "../steady-clock.ts";
import { DEFAULT_TEAM } from "../teams/team-name.ts";
import { linkedEnvironment } from "./linked-environment.ts";

/**
 * The environment at the other end of a link, as runs of the team have it. Rejects, with an error that may pass, where nothing is linked under the name now, or the link cannot
 * be looked up: its server may be started again, and be linked again, while the run waits.
 */
export async function linkedTo(env: Env, team: string = DEFAULT_TEAM, { name, digest }: LinkedPin): Promise<OfferedEnvironment> {
  const link = chosenLink(await linksIn(env, team, name), steadyNow(), digest);
  if (link === null)
    throw new EdgewiseError("environment_failed", `Nothing is linked as ${name}: the process that plays this environment is not known to the service.`, {
      hint: BRING_BACK(name),
      passing: true,
    });
  const token = orLater(await tokenOf(env, team, link));
  const environment = linkedEnvironment(env, { ...link, token });
  const { args, ...facts } = link.facts;
  return { ...environment, ...facts, id: name, isIsolated: false, resolveArgs: async (given) => filledArgs(args, given), hides: () => [token] };
}

/** The token of a link's server. Fails as `open`. */
export async function tokenOf(env: Env, team: string, { id, sealed, name }: SealedLink): Promise<Result<string>> {
  const keys = await masterKeysIn(env);
  return keys.ok ? open(keys.value, { team, id }, sealed, `of the link ${name}`) : keys;
}

async function linksIn(env: Env, team: string, name: string): Promise<readonly SealedLink[]> {
  try {
    return await registryStub(env, team).environmentLinks(name);
  } catch (cause) {
    throw new EdgewiseError("storage_unavailable", `The link ${name} cannot be looked up now.`, { cause, passing: true });
  }
}

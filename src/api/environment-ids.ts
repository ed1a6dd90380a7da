import type { EnvironmentFacts } from "./creation/resolve.ts";
import { fail, ok, type Result } from "../errors/result.ts";
import { OWNER } from "../teams/caller.ts";
import type { AppPorts } from "./app-ports.ts";

/** What may stand in an environment id: `name`, `owner/name`, `owner/name@version`. */
export const ENVIRONMENT_ID = /^[A-Za-z0-9][\w.-]*(?:\/[A-Za-z0-9][\w.-]*)?(?:@[\w.+-]+)?$/;

/** The id of a run's environment, whichever way it was asked for: without our owner in front and the version behind. */
export function bareName(reference: string): string {
  const [path = ""] = reference.split("@");
  return path.startsWith(`${OWNER}/`) ? path.slice(OWNER.length + 1) : path;
}

/** An environment by its bare name, with the owner in front, or with its version behind; the id the lookup gives is the bare name. */
export async function findByReference(ports: Pick<AppPorts, "findEnvironment" | "environmentIds">, reference: string): Promise<Result<EnvironmentFacts>> {
  const [, version] = reference.split("@");
  const environment = await ports.findEnvironment(bareName(reference), version);
  const shown = JSON.stringify(reference.slice(0, 200));
  if (environment === null) return fail("environment_not_found", `There is no environment ${shown}.`, `This service has ${ports.environmentIds.join(", ")}.`);
  if (version === undefined || version === environment.version) return ok(environment);
  return fail(
    "environment_not_found",
    `There is no environment ${shown}: this service has ${environment.id}@${environment.version}.`,
    "Leave the version out.",
  );
}

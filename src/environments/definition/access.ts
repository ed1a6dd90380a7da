import type { RunConfig } from "../../config/plan/run-config.ts";

/** What an environment may ask for beyond its models and data, by the option of a run that allows it. */
export const ACCESS_OPTIONS = { sandbox: "allow_sandbox_access", instances: "allow_instances_access" } as const;
export type Access = keyof typeof ACCESS_OPTIONS;
const ALL = Object.keys(ACCESS_OPTIONS) as readonly Access[];

const THINGS: Readonly<Record<Access, string>> = { sandbox: "a sandbox", instances: "instances" };

/** What a run allows its environment. Whoever sits at the terminal of a run needs to say nothing. */
export const allowedAccess = ({ hosted, attended }: Pick<RunConfig, "hosted" | "attended">): readonly Access[] =>
  attended ? ALL : ALL.filter((access) => hosted[ACCESS_OPTIONS[access]] === true);

/** Why an environment may not run, and the option that says so; null when it asks for nothing that is not allowed. */
export function accessProblem({ id, access }: { readonly id: string; readonly access: readonly Access[] }, allowed: readonly Access[]) {
  const missing = ALL.find((wanted) => access.includes(wanted) && !allowed.includes(wanted));
  if (missing === undefined) return null;
  const option = ACCESS_OPTIONS[missing];
  const message = `environment ${id} asks for ${THINGS[missing]}, and the run does not allow it: set ${option} (--${option.replaceAll("_", "-")})`;
  return { option, message };
}

/** Drivers of sandboxes, as runs and environments name them (docs/sandboxes.md). */
export const SANDBOX_NAMES = ["local", "docker", "prime", "e2b", "cloudflare"] as const;
export type SandboxName = (typeof SANDBOX_NAMES)[number];

export const isSandboxName = (name: string): name is SandboxName => (SANDBOX_NAMES as readonly string[]).includes(name);

/** Variables or secrets that hold the keys of a driver, by name. Like a model's they are read by the service, and go to no environment whose sandboxes they pay for. */
export const SANDBOX_KEYS: Readonly<Record<SandboxName, readonly string[]>> = {
  local: [],
  docker: [],
  prime: ["PRIME_API_KEY"],
  e2b: ["E2B_API_KEY"],
  cloudflare: [],
};

/**
 * Whose sandboxes a run may have, as its service says before an environment is loaded; plain data. An environment's own wish wins over
 * `usual`, and `chosen` over both.
 */
export interface SandboxChoice {
  /** The run's own (`--sandbox`); null = none. */
  readonly chosen: SandboxName | null;
  /** The service's; null = it has none, or several and no word of which. */
  readonly usual: SandboxName | null;
  /** Why a driver cannot be had here, and what to do about it; null = it can. */
  readonly problems: Readonly<Record<SandboxName, string | null>>;
}

export type NamedSandbox = { readonly name: SandboxName } | { readonly problem: string };

/** The driver that an environment gets which asks for `wanted`, or for any; or why it gets none, for a person. */
export function namedSandbox({ chosen, usual, problems }: SandboxChoice, wanted?: string): NamedSandbox {
  if (wanted !== undefined && !isSandboxName(wanted))
    return {
      problem: `the environment asks for sandboxes of ${JSON.stringify(wanted.slice(0, 100))}, which there are not: known are ${SANDBOX_NAMES.join(", ")}`,
    };
  const name = chosen ?? wanted ?? usual;
  if (name !== null) return problems[name] === null ? { name } : { problem: `sandboxes of ${name} cannot be had: ${problems[name]}` };
  const here = SANDBOX_NAMES.filter((each) => problems[each] === null);
  if (here.length > 0) return { problem: `the service has sandboxes of ${here.join(" and ")}: say which (--sandbox, or SANDBOX of the service)` };
  const elsewhere = SANDBOX_NAMES.map((each) => `${each}: ${problems[each] ?? ""}`).join("; ");
  return { problem: `the environment asks for a sandbox, and this service has none (${elsewhere})` };
}

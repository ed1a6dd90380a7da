import type { AppPorts } from "../../../src/api/app-ports.ts";
import type { EnvironmentFacts } from "../../../src/api/creation/resolve.ts";
import { envDigestOf } from "../../../src/config/env-digest.ts";

const ENVIRONMENT: EnvironmentFacts = {
  id: "gsm8k",
  version: "0.1.0",
  description: "Sums",
  source: "0.1.0",
  defaults: {},
  check: ({ env_args }) => (env_args.bad === undefined ? null : { option: "env_args", message: "bad is not an argument" }),
};

/** Those of a door, where a test names no others. */
export const ENVIRONMENTS = [ENVIRONMENT, { ...ENVIRONMENT, id: "reverse-text", version: "0.2.0" }];

/** Of every environment of a door, until a test says otherwise. */
export const DIGEST_OF_CODE = envDigestOf("c".repeat(64));

/** What a door finds of these. */
export const environmentPorts = (
  environments: readonly EnvironmentFacts[],
  codes: { readonly digest: string },
): Pick<AppPorts, "findEnvironment" | "offered" | "describe" | "envDigest" | "environmentIds"> => {
  const find = (wanted: string): EnvironmentFacts | null => environments.find(({ id }) => id === wanted) ?? null;
  return {
    findEnvironment: async (name) => find(name),
    offered: async ({ env_id }) => find(env_id),
    describe: async () => ({ id: "described", version: "0.1.0", description: "", defaults: {}, keys: [], args: [] }),
    envDigest: async ({ env_id }) => (find(env_id) === null ? null : codes.digest),
    environmentIds: environments.map(({ id }) => id),
  };
};

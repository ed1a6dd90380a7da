import type { AppPorts } from "../../../src/api/app-ports.ts";
import type { EnvironmentFacts } from "../../../src/api/creation/resolve.ts";
import { envDigestOf } from "../../../src/config/env-digest.ts";
import { EdgewiseError, ok } from "../../../src/errors/result.ts";
import type { LinkedFacts } from "../../../src/links/link.ts";

const ENVIRONMENT: EnvironmentFacts = {
  id: "gsm8k",
  version: "0.1.0",
  description: "Sums",
  source: "0.1.0",
  defaults: {},
  describedArgs: () => [{ name: "difficulty", schema: { type: "string" }, required: false, default: "medium", description: "how hard" }],
  check: ({ env_args }) => (env_args.bad === undefined ? null : { option: "env_args", message: "bad is not an argument" }),
};

/** Those of a door, where a test names no others. */
export const ENVIRONMENTS = [ENVIRONMENT, { ...ENVIRONMENT, id: "reverse-text", version: "0.2.0" }];

/** Of every environment of a door, until a test says otherwise. */
export const DIGEST_OF_CODE = envDigestOf("c".repeat(64));

/** Environment servers that there are, by their addresses. */
const serving = (version: string, source: string): LinkedFacts => ({
  ...{ id: "wiki-search", version, description: "Searches.", defaults: { num_examples: 7 }, keys: [], source },
  args: [{ name: "depth", schema: { type: "integer" }, required: false, default: 2, description: null }],
});
export const SERVERS: Readonly<Record<string, LinkedFacts>> = {
  "http://127.0.0.1:9001": serving("1.0.0", "a".repeat(64)),
  "http://127.0.0.1:9002": serving("1.0.0", "a".repeat(64)),
  "http://127.0.0.1:9003": serving("1.1.0", "b".repeat(64)),
  "https://env.example/base": serving("1.0.0", "a".repeat(64)),
};

/** What a door finds of these. */
export const environmentPorts = (
  environments: readonly EnvironmentFacts[],
  codes: { readonly digest: string },
): Pick<AppPorts, "findEnvironment" | "offered" | "describe" | "describeServer" | "healthOf" | "tokenOf" | "envDigest" | "environmentIds"> => {
  const find = (wanted: string): EnvironmentFacts | null => environments.find(({ id }) => id === wanted) ?? null;
  return {
    findEnvironment: async (name) => find(name),
    offered: async ({ env_id, linked }) => (linked === undefined ? find(env_id) : { ...ENVIRONMENT, id: env_id, version: "1.0.0", source: linked.digest }),
    describe: async () => ({ id: "described", version: "0.1.0", description: "", defaults: {}, keys: [], args: [] }),
    describeServer: async ({ url }) => {
      const facts = SERVERS[url];
      if (facts === undefined) throw new EdgewiseError("environment_failed", "cannot be reached", { passing: true });
      return facts;
    },
    healthOf: async ({ url }) => {
      const facts = SERVERS[url];
      const nothing = { protocol: null, environment: null, version: null, conversations: null, units: null };
      if (facts === undefined) return { state: "unreachable", problem: "cannot be reached", ...nothing };
      return { state: "healthy", problem: null, protocol: 1, environment: facts.id, version: facts.version, conversations: 0, units: 0 };
    },
    tokenOf: async () => ok("the token of the server"),
    envDigest: async ({ env_id }) => (find(env_id) === null ? null : codes.digest),
    environmentIds: environments.map(({ id }) => id),
  };
};

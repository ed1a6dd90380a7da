import type { SecretsFound } from "../../../durable-objects/registry/secrets/secret-control.ts";
import type { JsonObject } from "../../config/plan/run-config.ts";
import { lookUpSecret, resolveKey, type EndpointKey } from "../../config/endpoints/secrets.ts";
import type { EnvironmentProblem, EnvironmentRequest } from "../../environments/definition/definition.ts";
import { SANDBOX_KEYS, type SandboxChoice, type SandboxName } from "../../config/sandbox-names.ts";
import { mask } from "../../errors/masking.ts";
import { EdgewiseError, failureOf, type Result } from "../../errors/result.ts";
import { keySources } from "../../published/keys-of-published.ts";
import { namesIn, openSecrets, RunSecrets, type SecretNeeds } from "../../secrets/run-secrets.ts";
import type { AppPorts } from "../app-ports.ts";
import type { EnvironmentFacts } from "../creation/resolve.ts";
import { lacksMethod, refused, unwrap } from "../errors.ts";
import { readTwice } from "../read-twice.ts";

/** What a run of an environment asks of its team's secrets and variables. */
export interface RunNeeds extends SecretNeeds {
  readonly environment: string;
  /** A run that is there already: its own count too. */
  readonly run?: string;
  /** Arguments, which may name the key of a judge. */
  readonly named: readonly (JsonObject | undefined)[];
  /** Given with the request: these are the run's own. */
  readonly custom: Readonly<Record<string, string>>;
}

export interface SecretsOfRun {
  readonly secrets: RunSecrets;
  /** The same with those that sandboxes may be paid for with, which the run is not made with: they are looked up when it makes some. */
  readonly payers: RunSecrets;
  readonly variables: Readonly<Record<string, string>>;
}

const NONE: SecretsFound = { secrets: [], variables: {} };

/** What a run may have. Throws `missing_key` where secrets cannot be opened. */
export async function secretsOfRun(ports: AppPorts, needs: RunNeeds): Promise<SecretsOfRun> {
  const { environment, run = null, declared, modelKeys, named, custom } = needs;
  const names = new Set([...declared, ...modelKeys, ...namesIn(...named)]);
  const payers = Object.values(SANDBOX_KEYS).flat();
  const { secrets: found, variables } = await readTwice(
    () => ports.registry,
    (registry) => registry.secretsFor({ environment, run, names: [...new Set([...names, ...payers])] }).catch(ofBefore),
  );
  const own = Object.entries(custom).map(([name, value]) => ({ id: name, name, from: "run" as const, hosts: [], value }));
  const stored = found.filter(({ name, from }) => from !== "run" || !Object.hasOwn(custom, name));
  const opened = stored.length === 0 ? [] : unwrap(await openSecrets(unwrap(await ports.masterKeys()), ports.team, stored));
  const wanted = opened.filter(({ name, from }) => from !== "global" || names.has(name));
  return { secrets: new RunSecrets([...own, ...wanted], needs), payers: new RunSecrets([...own, ...opened], needs), variables };
}

/** A Registry that the version before still runs keeps no secrets. */
function ofBefore(thrown: unknown): SecretsFound {
  if (lacksMethod(thrown)) return NONE;
  throw thrown;
}

/** Secrets of the team that these name as keys of models. */
export async function modelSecretsIn(ports: AppPorts, named: readonly JsonObject[]): Promise<RunSecrets> {
  return (await secretsOfRun(ports, { environment: "", declared: [], modelKeys: [], named, custom: {} })).secrets;
}

/** The key for one place: a secret of the run or team, or a variable of the service. Fails with `missing_key`. */
export const keyOfPlace = (ports: AppPorts, secrets: RunSecrets, name: string, baseUrl: string): Result<EndpointKey> =>
  secrets.keyOf(ports.keys, name, baseUrl) ?? resolveKey(ports.keys, name, baseUrl);

/** Keys whose values the environment is given of what its run's team keeps. */
export const declaredBy = (
  ports: Pick<AppPorts, "team" | "facts">,
  { keys = [], ...pins }: Pick<EnvironmentFacts, "keys" | "published" | "linked">,
): readonly string[] => (keySources(pins, ports.team, ports.facts.local).team ? keys : []);

/** Whose sandboxes a run with these secrets may have. */
export const sandboxesOf = (ports: AppPorts, { payers }: Pick<SecretsOfRun, "payers">, chosen: SandboxName | null): Promise<SandboxChoice> =>
  ports.sandboxChoice(chosen, async (name, host) => payers.sandboxKey(name, host) ?? lookUpSecret(ports.keys, name));

/** What keeps a run from using an environment, which is loaded for this with what it would get. Nothing of that is in what is said. Throws as `EnvironmentFacts.check`. */
export function checkedEnvironment(
  ports: AppPorts,
  environment: EnvironmentFacts,
  request: EnvironmentRequest & { readonly chosen: SandboxName | null },
  has: SecretsOfRun,
): Promise<EnvironmentProblem | null> {
  const { secrets, payers, variables } = has;
  const { chosen, ...asked } = request;
  for (const name of environment.keys ?? []) {
    const withheld = secrets.withheld(name);
    if (withheld !== null) throw new EdgewiseError("missing_key", `${withheld}.`);
  }
  const { given } = secrets;
  const { service } = keySources(environment, ports.team, ports.facts.local);
  const lookUp = (name: string): string | null => given[name] ?? (service ? lookUpSecret(ports.keys, name) : null);
  return ports.hiding([...payers.values, ...(environment.hides?.() ?? [])], async () => {
    try {
      const sandbox = await sandboxesOf(ports, has, chosen);
      const problem = await environment.check({ ...asked, sandbox, secrets: given, variables }, lookUp);
      return problem === null ? null : { ...problem, message: mask(problem.message) };
    } catch (thrown) {
      if (!(thrown instanceof EdgewiseError)) throw thrown;
      const { message, hint, ...failure } = failureOf(thrown);
      throw refused({ ...failure, message: mask(message), ...(hint === undefined ? {} : { hint: mask(hint) }) });
    }
  });
}

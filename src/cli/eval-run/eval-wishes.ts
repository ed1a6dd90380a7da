/** From what was typed, environments or a config file, to the evaluations that are run. */
import { readFileSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { withTimeout } from "../../config/creation-body.ts";
import { chooseEndpoint } from "../../config/endpoint-choice.ts";
import { type EndpointRegistry, emptyRegistry, readRegistry } from "../../config/endpoint-registry.ts";
import { evalLabels } from "../../config/eval-labels.ts";
import { type EvalPlan, planEvals } from "../../config/eval-plan.ts";
import type { Option } from "../../config/option.ts";
import { OPTION_NAMES, OPTIONS, type OptionName } from "../../config/options.ts";
import { limitsOf, sharesAtOnce } from "../../config/shares.ts";
import { parseTomlText } from "../../config/toml-document.ts";
import { EdgewiseError } from "../../errors/result.ts";
import { reasonOf, usageError } from "../terminal/cli-error.ts";
import { wantedEnvironments } from "../environments/local-environments.ts";
import type { EvalCommand, EvalWish } from "./eval-wish.ts";
import { checkHostedEvals, checkHostedFlags } from "./hosted.ts";
import { flagName, type GivenOptions } from "../command-line/flags.ts";
import type { Surroundings } from "../service/service.ts";

export interface EvalWishes extends Pick<EvalCommand, "named" | "evals" | "maxConcurrentTotal" | "environments" | "worker"> {
  readonly warnings: readonly string[];
}

/** What `eval run NAMED` with these flags asks for: the evaluations of a config file, or one for each environment. Throws usage errors. */
export async function evalWishes(named: string, typed: GivenOptions, surroundings: Pick<Surroundings, "cwd" | "env">): Promise<EvalWishes> {
  const { cwd, env } = surroundings;
  checkHostedFlags(typed, env);
  const file = named.endsWith(".toml");
  const { evals, maxConcurrentTotal, warnings } = asUsage(() => (file ? filePlan(named, typed, cwd) : typedPlan(named, typed)));
  checkHostedEvals(typed, evals);
  const registries = new Registries(cwd);
  const chosen = evals.map(({ place, given }) =>
    asUsage(() => {
      const { endpoints_path, ...settings } = given;
      const registry = registries.at(endpoints_path);
      if (given.endpoint_id !== undefined && !registry.file.endsWith(".toml")) {
        throw new EdgewiseError("invalid_request", `endpoint_id is looked up in a TOML registry, and ${registry.file} is none`);
      }
      const { given: written, replicas } = chooseEndpoint(settings, registry);
      return { given: withTimeout(written), replicas };
    }, place),
  );
  const names = evals.map(({ envId, given }) => ({ name: envId, envDir: given.env_dir_path }));
  const { wanted, environments, worker } = await wantedEnvironments(names, surroundings);
  const labels = evalLabels(wanted.map(({ envId }, index) => ({ envId, given: evals[index]?.given ?? {} })));
  const wishes = wanted.flatMap((environment, index): EvalWish[] => {
    const settings = chosen[index];
    return settings === undefined ? [] : [{ ...environment, ...settings, label: labels[index] ?? environment.envId }];
  });
  if (wishes.length === 0) throw usageError(`${named} asks for no evaluation: a list that is swept is empty`);
  checkFolders(wishes);
  return {
    named,
    evals: typed.hosted === true && maxConcurrentTotal !== null ? asUsage(() => sharedOut(wishes, maxConcurrentTotal, named)) : wishes,
    maxConcurrentTotal,
    environments,
    worker,
    warnings: [...warnings, ...registries.warnings],
  };
}

/** A folder is that of one run. */
function checkFolders(wishes: readonly EvalWish[]): void {
  const folders = wishes.flatMap(({ given }) => (typeof given.resume === "string" ? [given.resume] : []));
  const twice = folders.find((folder, index) => folders.indexOf(folder) < index);
  if (twice !== undefined) throw usageError(`${twice} is the folder of one run, and several evaluations are to go on with it`, "Go on with it by itself.");
}

/** Runs that are left to themselves keep to a common limit by their own. */
function sharedOut(wishes: readonly EvalWish[], total: number, place: string): readonly EvalWish[] {
  const shares = sharesAtOnce(total, limitsOf(wishes), place);
  return wishes.map((wish, index) => ({ ...wish, given: { ...wish.given, max_concurrent: shares[index] ?? 1 } }));
}

interface Plan extends Pick<EvalPlan, "maxConcurrentTotal" | "warnings"> {
  readonly evals: readonly { readonly envId: string; readonly given: GivenOptions; readonly place: string | null }[];
}

function typedPlan(named: string, typed: GivenOptions): Plan {
  const ids = named.split(",").map((id) => id.trim());
  if (ids.includes("")) throw usageError(`${JSON.stringify(named)} names an environment without a name`, "Several: edgewise eval run gsm8k,reverse-text");
  const { max_concurrent_total = null, ...given } = typed;
  return { evals: ids.map((envId) => ({ envId, given, place: null })), maxConcurrentTotal: max_concurrent_total, warnings: [] };
}

/** What a config file says; of the flags only those that belong to the terminal have a say beside it, with --hosted all. */
function filePlan(named: string, typed: GivenOptions, cwd: string): Plan {
  const path = resolve(cwd, named);
  const plan = planEvals(parseTomlText(readConfig(path, named), named), named);
  const given = OPTION_NAMES.filter((name) => typed[name] !== undefined);
  const beside = (name: OptionName): boolean => typed.hosted === true || (OPTIONS[name] as Option).besideToml;
  const { max_concurrent_total = plan.maxConcurrentTotal, ...kept } = Object.fromEntries(
    given.filter(beside).map((name) => [name, typed[name]]),
  ) as GivenOptions;
  const ignored = given.filter((name) => !beside(name));
  return {
    maxConcurrentTotal: max_concurrent_total,
    evals: plan.evals.map((each) => ({ ...each, given: { ...withoutEndpoint(atFile(each.given, path), kept), ...kept }, place: `${named}: ${each.place}` })),
    warnings: [...plan.warnings, ...ignored.map((name) => `${flagName(name)} has no effect beside a config file: set ${name} in ${named}`)],
  };
}

/** A model that wins over the file's names the endpoint's too. */
function withoutEndpoint({ endpoint_id, ...given }: GivenOptions, kept: GivenOptions): GivenOptions {
  return endpoint_id === undefined || kept.model !== undefined ? given : { ...given, endpoint_id };
}

/** A registry that the file names lies beside the file. */
const atFile = (given: GivenOptions, path: string): GivenOptions =>
  given.endpoints_path === undefined ? given : { ...given, endpoints_path: resolve(dirname(path), given.endpoints_path) };

function readConfig(path: string, named: string): string {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined) throw usageError(`the config file ${path} does not exist`);
  if (!stat.isFile()) throw usageError(`the config file ${path} is not a file`);
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw usageError(`the config file ${named} cannot be read: ${reasonOf(error)}`);
  }
}

/** Registries by path, each read once. What is wrong with one is a warning: names are then taken as they are. */
class Registries {
  readonly warnings: string[] = [];
  readonly #cwd: string;
  readonly #known = new Map<string, EndpointRegistry>();

  constructor(cwd: string) {
    this.#cwd = cwd;
  }

  at(named: string | undefined): EndpointRegistry {
    const path = registryFile(resolve(this.#cwd, named ?? OPTIONS.endpoints_path.default));
    const registry = this.#known.get(path) ?? this.#read(path, named !== undefined);
    this.#known.set(path, registry);
    return registry;
  }

  #read(path: string, asked: boolean): EndpointRegistry {
    if (statSync(path, { throwIfNoEntry: false }) === undefined) {
      if (asked) this.warnings.push(`the endpoint registry ${path} does not exist`);
      return emptyRegistry(path);
    }
    try {
      if (!path.endsWith(".toml"))
        throw new EdgewiseError("invalid_request", `${path}: registries are read from TOML files only: write its entries as [[endpoint]]`);
      return readRegistry(parseTomlText(readFileSync(path, "utf8"), path), path);
    } catch (error) {
      this.warnings.push(`the endpoint registry is not used: ${reasonOf(error)}`);
      return emptyRegistry(path);
    }
  }
}

/** A folder stands for the registry in it, the TOML file first. */
function registryFile(path: string): string {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) return path;
  const found = ["endpoints.toml", "endpoints.py"].map((name) => join(path, name)).find((file) => statSync(file, { throwIfNoEntry: false })?.isFile());
  return found ?? join(path, "endpoints.toml");
}

/** What is wrong with settings is the user's to mend: exit code 2. `place`: where they were given. */
function asUsage<T>(work: () => T, place: string | null = null): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof EdgewiseError)) throw error;
    throw usageError(place === null ? error.message : `${place}: ${error.message}`, ...(error.hint === undefined ? [] : [error.hint]));
  }
}

/** The places an evaluation calls its model at, as far as it says. */
export const placesOfWish = ({ given, replicas }: EvalWish): readonly { readonly api_key_var: string }[] =>
  replicas.length > 0 ? replicas : [{ api_key_var: given.api_key_var ?? OPTIONS.api_key_var.default }];

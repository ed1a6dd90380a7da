/** The environments that a command works with: those of this package, and those of this machine that it names. */
import { basename } from "node:path";
import { bareName } from "../../api/environment-ids.ts";
import { publishedId, publishedReference } from "../../published/published-name.ts";
import { describeEnvironment, type EnvironmentFacts } from "../../environments/definition/describe.ts";
import { listEnvironments } from "../../environments/definition/load.ts";
import { shortPath } from "../command-line/typed-commands.ts";
import { usageError } from "../terminal/cli-error.ts";
import type { LocalWorker, Surroundings } from "../service/service.ts";
import { bundleEnvironment, workerModules } from "./bundle.ts";
import { describeModules } from "./describe.ts";
import { type EnvironmentFile, environmentFile, environmentsIn } from "./find-environment.ts";

export interface KnownEnvironment extends EnvironmentFacts {
  /** Where its code is; null for those of this package. */
  readonly file: EnvironmentFile | null;
}

export interface LocalEnvironments {
  /** Of this package and of this machine; one of the machine takes the place of one of the package with the same id. */
  readonly environments: readonly KnownEnvironment[];
  /** The Worker that has them all; null = the built one. */
  readonly worker: LocalWorker | null;
}

/** An environment that a command was told to run. */
export interface NamedEnvironment {
  /** As it was typed: an id or a path. */
  readonly named: string;
  /** What a creation asks the service for: `name`, `edgewise/name` or `edgewise/name@version`. */
  readonly reference: string;
  /** Id of the environment, as runs and results folders carry it. */
  readonly envId: string;
}

/** The environments that a command was told to run, with what they need. */
export interface WantedEnvironments extends LocalEnvironments {
  /** In the order they were named. */
  readonly wanted: readonly NamedEnvironment[];
  /** Those that are to be of this package, by id. */
  readonly bundled: readonly string[];
  /** What whoever named a bundled one must know: code of this machine runs in its place. */
  readonly replaced: readonly string[];
}

/** Builds what `files` need. Throws usage errors for what cannot be compiled or loaded, and for two of one id. */
export async function localEnvironments(files: readonly EnvironmentFile[]): Promise<LocalEnvironments> {
  const ours = listEnvironments().map((definition) => ({ ...describeEnvironment(definition), file: null }));
  if (files.length === 0) return { environments: ours, worker: null };
  const modules = await Promise.all(files.map(bundleEnvironment));
  const described = await describeModules(modules);
  const own = described.map(({ facts, module: { entry, folder } }) => ({ ...facts, file: { entry, folder } }));
  const twice = own.find(({ id }, index) => own.findIndex((other) => other.id === id) < index);
  if (twice !== undefined)
    throw usageError(`two environments have the id ${JSON.stringify(twice.id)}`, ...own.flatMap(({ id, file }) => (id === twice.id ? [file.entry] : [])));
  return {
    environments: [...ours.filter(({ id }) => !own.some((each) => each.id === id)), ...own],
    worker: { modules: workerModules(described), environments: Object.fromEntries(described.map(({ facts, module }) => [facts.id, module.digest])) },
  };
}

/** A name as `eval run` or a config file says it, and the folder of environments that holds there. */
export interface EnvironmentName {
  readonly name: string;
  readonly envDir: string | undefined;
}

/** Whether a name is the file of an environment or an id; the file is not looked into. Throws a usage error for a file that is not there, or that the service cannot have. */
export function checkedEnvironment(
  { name, envDir }: EnvironmentName,
  { cwd, env }: Pick<Surroundings, "cwd" | "env">,
): { readonly file: EnvironmentFile | null } {
  if (!env.EDGEWISE_URL) return { file: environmentFile(name, cwd, envDir) };
  if (!/^[./~]|\.m?[jt]s$/.test(name)) return { file: null };
  throw usageError(
    `${name} is a file of this machine, and EDGEWISE_URL names a service elsewhere`,
    "Deploy the environment with that service, or unset EDGEWISE_URL.",
  );
}

/** What names mean to `eval run`: files of this machine, which are built together, or ids. Throws usage errors. */
export async function wantedEnvironments(names: readonly EnvironmentName[], surroundings: Pick<Surroundings, "cwd" | "env">): Promise<WantedEnvironments> {
  const files = names.map((name) => checkedEnvironment(name, surroundings).file);
  const distinct = [...new Map(files.flatMap((file) => (file === null ? [] : [[file.entry, file] as const]))).values()];
  const built = await localEnvironments(distinct);
  const wanted = names.map(({ name }, index): NamedEnvironment => {
    const entry = files[index]?.entry;
    if (entry === undefined) return { named: name, reference: name, envId: idOf(name) };
    const envId = built.environments.find(({ file }) => file?.entry === entry)?.id ?? name;
    return { named: name, reference: envId, envId };
  });
  const bundled = wanted.flatMap(({ envId }, index) => (files[index] == null ? [envId] : []));
  const shared = built.environments.find(({ id, file }) => file !== null && bundled.includes(id));
  if (shared?.file != null)
    throw usageError(
      `${shared.id} is asked for twice, as ${shared.file.entry} and as the bundled environment`,
      "Run one after the other, or give yours another id.",
    );
  return { ...built, wanted, bundled, replaced: built.environments.flatMap((own) => replacement(own, surroundings.cwd) ?? []) };
}

/** The id that runs of what is named so have, where it is no file of this machine. */
function idOf(name: string): string {
  const published = publishedReference(name);
  return published === null || isBundled(published.name) ? bareName(name) : publishedId(published);
}

/** Whether only the service can know an environment of this id. */
export const mayBePublished = (id: string): boolean => publishedReference(id) !== null;

const isBundled = (id: string): boolean => listEnvironments().some((bundled) => bundled.id === id);

/** That code of this machine runs in the place of a bundled environment; null where it does not. */
export const replacement = ({ id, file }: KnownEnvironment, cwd: string): string | null =>
  file === null || !isBundled(id) ? null : `${id} is ${shortPath(file.entry, cwd)} here, and not the bundled environment of that name`;

/** What a service has that is started in `cwd`: everything in its folder of environments, and `paths`. */
export async function servedEnvironments(paths: readonly string[], cwd: string, envDir?: string): Promise<LocalEnvironments> {
  const named = paths.flatMap((path) => environmentFile(path, cwd, envDir) ?? []);
  const files = new Map([...environmentsIn(cwd, envDir), ...named].map((file) => [file.entry, file]));
  const built = await localEnvironments([...files.values()]);
  const wrong = built.environments.find(
    ({ id, file }) => file !== null && isBundled(id) && !named.some(({ entry }) => entry === file.entry) && !isCalled(file, id),
  );
  if (wrong?.file != null)
    throw usageError(
      `${wrong.file.entry} says that its id is ${wrong.id}, which is that of a bundled environment`,
      `It takes that one's place only where its folder is called ${wrong.id.replaceAll("-", "_")}, or where it is named by its path.`,
    );
  return built;
}

/** Whether who names `id` means this folder. */
const isCalled = ({ folder }: EnvironmentFile, id: string): boolean => folder !== null && basename(folder) === id.replaceAll("-", "_");

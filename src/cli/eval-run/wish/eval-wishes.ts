/** From what was typed, environments or a config file, to the evaluations that are run. */
import { readFileSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { withTimeout } from "../../../config/plan/creation-body.ts";
import { chooseEndpointOrLeave } from "../../../config/endpoints/endpoint-choice.ts";
import { evalLabels, nameOfLabel } from "../../../config/plan/eval-labels.ts";
import { type EvalPlan, readPlan } from "../../../config/plan/eval-plan.ts";
import type { Option } from "../../../config/options/option.ts";
import { OPTION_NAMES, OPTIONS, type OptionName } from "../../../config/options/options.ts";
import type { PlanProblem } from "../../../config/plan/plan-problems.ts";
import { parseTomlText } from "../../../config/plan/toml-document.ts";
import { EdgewiseError } from "../../../errors/result.ts";
import { linkReference } from "../../../links/link-name.ts";
import { asUsage, reasonOf, usageError } from "../../terminal/cli-error.ts";
import { argumentProblems } from "../../environments/check-arguments.ts";
import type { EnvironmentFile } from "../../environments/find-environment.ts";
import {
  checkedEnvironment,
  mayBePublished,
  type NamedEnvironment,
  type WantedEnvironments,
  wantedEnvironments,
} from "../../environments/local-environments.ts";
import { mustHoldLoader, type PythonPlace } from "../../python/find-python.ts";
import { type OpenEnvFolder, openEnvTrustLine } from "../../python/openenv-project.ts";
import type { PythonEnvironment } from "../../python/python-environment.ts";
import type { EvalCommand, EvalWish } from "./eval-wish.ts";
import { checkHubFlags } from "../../push/push-ended.ts";
import { checkHostedEvals, checkHostedFlags } from "../start/hosted.ts";
import { flagName, type GivenOptions } from "../../command-line/flags.ts";
import type { Surroundings } from "../../service/service.ts";
import type { Terminal } from "../../terminal/terminal.ts";
import { Registries } from "./registries.ts";
import { playedBenchmark } from "./played-benchmark.ts";
import { onOpenEnv, OpenEnvProjects, placedOpenEnv } from "./played-openenv.ts";
import { besidePython, linkHintsFor, placedPython, playedPythons, pythonOf, pythonWarnings, uselessOf } from "./python-wishes.ts";
import { WishProblems } from "./wish-problems.ts";

export interface EvalWishes
  extends Pick<EvalCommand, "named" | "evals" | "maxConcurrentTotal" | "environments" | "worker" | "bundled" | "pythons" | "openEnvs"> {
  readonly warnings: readonly string[];
}

/** What `eval run NAMED` with these flags asks for: the evaluations of a config file, or one for each environment. Throws usage errors. */
export async function evalWishes(
  named: string,
  typed: GivenOptions,
  surroundings: Pick<Surroundings, "cwd" | "env"> & {
    readonly terminal?: Pick<Terminal, "tell">;
    /** Names that the service of this folder has links of; asked for only where a name is nothing here, or is called with what does not fit. */
    readonly linkedNames?: () => Promise<readonly string[]>;
  },
): Promise<EvalWishes> {
  const { cwd, env, terminal } = surroundings;
  checkHostedFlags(typed, env);
  const file = named.endsWith(".toml");
  const { evals: planned, maxConcurrentTotal, warnings, problems: found } = asUsage(() => (file ? filePlan(named, typed, cwd) : typedPlan(named, typed)));
  checkHostedEvals(typed, planned);
  checkHubFlags(typed, planned);
  const problems = new WishProblems(named);
  for (const { text, hint } of found) problems.add(text, hint);
  const registries = new Registries(cwd);
  // What is wrong with one keeps nobody from looking at the others: everything is told at once.
  const placed = planned.flatMap((each): Placed[] => {
    const { place } = each;
    const chosen = problems.attempt(place, () => chosenEndpoint(each.given, registries));
    const there = problems.attempt(place, () => {
      const python = placedPython(each, surroundings);
      // A folder with an environment is that environment, whatever data lies beside it.
      if (python !== null) return { ...each, python, openEnv: null, file: null };
      const openEnv = placedOpenEnv(each, surroundings);
      if (openEnv !== null) return { ...each, python, openEnv, file: null };
      const played = playedBenchmark(each, cwd);
      if (played.envId === each.envId) mustHoldLoader(played.envId, cwd);
      const { file } = checkedEnvironment({ name: played.envId, envDir: played.given.env_dir_path }, surroundings);
      return { ...played, python, openEnv: null, file };
    });
    if (chosen === null || there === null) return [];
    const env_args = there.given.env_args;
    return [{ ...there, named: each.envId, place, chosen: { ...chosen, given: { ...chosen.given, ...(env_args === undefined ? {} : { env_args }) } } }];
  });
  const evals: (Placed & { readonly python: PythonEnvironment | null })[] = [];
  const projects = new OpenEnvProjects();
  const keysOfPlaced = placed.flatMap(({ chosen }) => placesOfWish(chosen).map(({ api_key_var }) => api_key_var));
  for (const each of placed) {
    if (each.openEnv !== null) {
      const { openEnv, given } = each;
      const asking = { cwd, env, python: given.python, named: given.env_vars ?? [], modelKeys: keysOfPlaced, tell: (line: string) => terminal?.tell(line) };
      const project = await problems.attemptLater(each.place, () => projects.at(openEnv, asking));
      if (project === undefined) continue;
      const played = onOpenEnv(each.given, project);
      evals.push({ ...each, ...played, chosen: { ...each.chosen, given: { ...each.chosen.given, env_args: played.given.env_args ?? {} } }, python: null });
      continue;
    }
    const python = await problems.attemptLater(each.place, () => pythonOf(each, each.python, surroundings, (line) => terminal?.tell(line)));
    if (python !== undefined) evals.push({ ...each, python });
  }
  const { wanted, environments, worker, bundled, replaced } = await environmentsOf(evals, surroundings);
  const labels = evalLabels(wanted.map(({ envId }, index) => ({ envId: evals[index]?.benchmark ?? envId, given: evals[index]?.given ?? {} })));
  // A link goes before a bundled environment that is called so, whose arguments are then others: asked for only where they do not fit.
  const mayBeLinked = ({ envId }: NamedEnvironment, { env_args = {} }: GivenOptions): boolean => {
    const known = environments.find(({ id }) => id === envId);
    if (known === undefined) return !mayBePublished(envId);
    return file && known.file === null && argumentProblems(known, env_args).length > 0;
  };
  const asksLinks = !env.EDGEWISE_URL && wanted.some((each, index) => (evals[index]?.python ?? null) === null && mayBeLinked(each, evals[index]?.given ?? {}));
  const linked = asksLinks ? ((await surroundings.linkedNames?.()) ?? []) : [];
  const wishes = wanted.flatMap((environment, index): EvalWish[] => {
    const { chosen, place = null, benchmark, named: typedAs = environment.named, python = null } = evals[index] ?? {};
    if (chosen === undefined) return [];
    const hints = linkHintsFor({ envId: typedAs, given: chosen.given }, surroundings);
    const isLinked = linked.includes(linkReference(environment.reference)?.name ?? "") ? { isLinked: true as const } : {};
    const onPython = { ...isLinked, ...(python === null ? {} : { isPython: true as const }), ...(hints.length === 0 ? {} : { linkHints: hints }) };
    const label = labels[index] ?? environment.envId;
    const given = { ...chosen.given, ...nameOfLabel(environment.envId, label, chosen.given) };
    return [{ ...environment, ...chosen, ...onPython, named: typedAs, given, place, label, ...(benchmark === undefined ? {} : { benchmark }) }];
  });
  if (file) for (const wish of wishes) problems.look(wish, env.EDGEWISE_URL ? null : environments, cwd);
  const modelKeys = wishes.flatMap((wish) => placesOfWish(wish).map(({ api_key_var }) => api_key_var));
  const played = evals.map(({ python }, index) => ({ python, given: wishes[index]?.given ?? {} }));
  const pythons = problems.attempt(null, () => playedPythons(played, modelKeys, env)) ?? [];
  const useless = pythons.length + projects.all.length > 0 ? [] : uselessOf(wishes, file ? named : null);
  const told = [...warnings, ...useless, ...registries.warnings];
  if (typed.strict === true) for (const warning of told) problems.add(warning);
  problems.refuse();
  if (wishes.length === 0) throw usageError(`${named} asks for no evaluation: a list that is swept is empty`);
  checkFolders(wishes);
  return {
    named,
    evals: wishes,
    maxConcurrentTotal,
    environments,
    worker,
    bundled,
    pythons,
    openEnvs: projects.all,
    // No reason to refuse with --strict: a folder of that name is how one's own is meant.
    warnings: [
      ...pythonWarnings(pythons, cwd),
      ...projects.all.map((project) => openEnvTrustLine(project, cwd)),
      ...replaced,
      ...besidePython(placed.map(({ file: own }) => own?.folder ?? null)),
      ...told,
    ],
  };
}

function chosenEndpoint({ endpoints_path, ...settings }: GivenOptions, registries: Registries): Pick<EvalWish, "given" | "replicas"> {
  const registry = registries.at(endpoints_path);
  if (settings.endpoint_id !== undefined && !registry.file.endsWith(".toml")) {
    throw new EdgewiseError("invalid_request", `endpoint_id is looked up in a TOML registry, and ${registry.file} is none`);
  }
  const { given, replicas } = chooseEndpointOrLeave(settings, registry);
  return { given: withTimeout(given), replicas };
}

/** A folder is that of one run. */
function checkFolders(wishes: readonly EvalWish[]): void {
  const folders = wishes.flatMap(({ given }) => (typeof given.resume === "string" ? [given.resume] : []));
  const twice = folders.find((folder, index) => folders.indexOf(folder) < index);
  if (twice !== undefined) throw usageError(`${twice} is the folder of one run, and several evaluations are to go on with it`, "Go on with it by itself.");
}

/** An evaluation, with where its code lies. */
interface Placed {
  readonly envId: string;
  readonly given: GivenOptions;
  readonly place: string | null;
  readonly named: string;
  readonly chosen: Pick<EvalWish, "given" | "replicas">;
  readonly benchmark?: string;
  readonly python: PythonPlace | null;
  readonly openEnv: OpenEnvFolder | null;
  readonly file: EnvironmentFile | null;
}

/** The environments of evaluations, in their order. */
async function environmentsOf(
  evals: readonly { readonly envId: string; readonly given: GivenOptions; readonly python: PythonEnvironment | null }[],
  surroundings: Pick<Surroundings, "cwd" | "env">,
): Promise<WantedEnvironments> {
  const others = evals.filter(({ python }) => python === null);
  const built = await wantedEnvironments(
    others.map(({ envId, given }) => ({ name: envId, envDir: given.env_dir_path })),
    surroundings,
  );
  const left = [...built.wanted];
  const wanted = evals.flatMap(({ envId, python }): readonly NamedEnvironment[] =>
    python === null ? left.splice(0, 1) : [{ named: envId, reference: python.id, envId: python.id }],
  );
  const twice = evals.find(({ python }) => built.wanted.some(({ envId }) => envId === python?.id))?.python;
  if (twice != null)
    throw usageError(`${twice.id} is asked for twice, as Python (${twice.target}) and as another environment of that name`, "Run one after the other.");
  return { ...built, wanted };
}

interface Plan extends Pick<EvalPlan, "maxConcurrentTotal"> {
  readonly warnings: readonly string[];
  readonly problems: readonly PlanProblem[];
  readonly evals: readonly { readonly envId: string; readonly given: GivenOptions; readonly place: string | null }[];
}

function typedPlan(named: string, typed: GivenOptions): Plan {
  const ids = named.split(",").map((id) => id.trim());
  if (ids.includes("")) throw usageError(`${JSON.stringify(named)} names an environment without a name`, "Several: edgewise eval run gsm8k,reverse-text");
  const { max_concurrent_total = null, ...given } = typed;
  return { evals: ids.map((envId) => ({ envId, given, place: null })), maxConcurrentTotal: max_concurrent_total, warnings: [], problems: [] };
}

/** What a config file says; of the flags only those that belong to the terminal have a say beside it, with --hosted all. */
function filePlan(named: string, typed: GivenOptions, cwd: string): Plan {
  const path = resolve(cwd, named);
  const { plan, problems } = readPlan(parseTomlText(readConfig(path, named), named), named);
  const given = OPTION_NAMES.filter((name) => typed[name] !== undefined);
  const beside = (name: OptionName): boolean => typed.hosted === true || (OPTIONS[name] as Option).besideToml;
  const { max_concurrent_total = plan.maxConcurrentTotal, ...kept } = Object.fromEntries(
    given.filter(beside).map((name) => [name, typed[name]]),
  ) as GivenOptions;
  return {
    maxConcurrentTotal: max_concurrent_total,
    evals: plan.evals.map((each) => ({ ...each, given: { ...withoutEndpoint(atFile(each.given, path), kept), ...kept }, place: `${named}: ${each.place}` })),
    warnings: ignoredFlags(
      given.filter((name) => !beside(name)),
      named,
    ),
    problems,
  };
}

/** One line for all of them, the first that the command prints: what was typed and does nothing changes what the numbers mean. */
function ignoredFlags(names: readonly OptionName[], file: string): readonly string[] {
  if (names.length === 0) return [];
  const one = names.length === 1;
  return [`${names.map(flagName).join(", ")} ${one ? "has" : "have"} no effect beside a config file: set ${names.join(", ")} in ${file}`];
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

/** The places an evaluation calls its model at, as far as it says. */
export const placesOfWish = ({ given, replicas }: Pick<EvalWish, "given" | "replicas">): readonly { readonly api_key_var: string }[] =>
  replicas.length > 0 ? replicas : [{ api_key_var: given.api_key_var ?? OPTIONS.api_key_var.default }];

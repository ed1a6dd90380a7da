/** Which of the environments that a command names are Python, and what their processes are asked for. */
import { availableParallelism } from "node:os";
import { basename } from "node:path";
import { listEnvironments } from "../../../environments/definition/load.ts";
import { flagName, type GivenOptions } from "../../command-line/flags.ts";
import { shortPath } from "../../command-line/typed-commands.ts";
import { environmentFile } from "../../environments/find-environment.ts";
import { mayBePublished } from "../../environments/local-environments.ts";
import { hasPythonToo, isPythonPath, type PythonPlace, pythonPlace } from "../../python/find-python.ts";
import { processVariables } from "../../python/process-variables.ts";
import { environmentAt, installedEnvironment, type PythonEnvironment, trustLine } from "../../python/python-environment.ts";
import type { PlayedPython } from "../../python/python-session.ts";
import { workerCount } from "../../python/worker-count.ts";
import type { Surroundings } from "../../service/service.ts";
import { usageError } from "../../terminal/cli-error.ts";
import type { EvalWish } from "./eval-wish.ts";

type Around = Pick<Surroundings, "cwd" | "env">;

/** An environment as a command or a file names it, with its settings. */
export interface NamedEval {
  readonly envId: string;
  readonly given: GivenOptions;
}

/** The Python that lies where the name says; null where it means something else. Throws a usage error for a file of this machine where the service is elsewhere. */
export function placedPython({ envId, given }: NamedEval, { cwd, env }: Around): PythonPlace | null {
  const isElsewhere = Boolean(env.EDGEWISE_URL);
  if (isElsewhere && !isPythonPath(envId)) return null;
  const place = pythonPlace(envId, { cwd, envDir: given.env_dir_path, asked: given.python !== undefined });
  if (place === null || !isElsewhere) return place;
  throw usageError(`${envId} is Python of this machine, and EDGEWISE_URL names a service elsewhere, which cannot reach it here`, ...linkHints(place.id, envId));
}

/** What to type where a service elsewhere has no environment of a name that is Python here. */
export function linkHintsFor({ envId, given }: NamedEval, { cwd, env }: Around): readonly string[] {
  if (!env.EDGEWISE_URL) return [];
  const place = pythonPlace(envId, { cwd, envDir: given.env_dir_path, asked: true });
  return place === null ? [] : [`${shortPath(place.target, cwd)} is Python of this machine. ${linkHints(place.id, shortPath(place.target, cwd)).join(" ")}`];
}

const linkHints = (id: string, target: string): readonly string[] => [
  `Run it where the service reaches it (pip install edgewise-env; python -m edgewise_env ${target} --host 0.0.0.0 --port 8700, behind https), and link it: npx edgewise env link ${id} https://…`,
  "Without EDGEWISE_URL it runs on this machine.",
];

/** The environment that an evaluation is of, with its interpreter; null where it is not Python. `place`: where it lies, if it does. */
export async function pythonOf(
  { envId, given }: NamedEval,
  place: PythonPlace | null,
  { cwd, env }: Around,
  tell: (line: string) => void,
): Promise<PythonEnvironment | null> {
  const asking = { cwd, env, python: given.python, tell };
  if (place !== null) return await environmentAt(place, asking);
  if (env.EDGEWISE_URL || isPythonPath(envId) || mayBePublished(envId)) return null;
  const isKnown = listEnvironments().some(({ id }) => id === envId) || environmentFile(envId, cwd, given.env_dir_path) !== null;
  return isKnown && given.python === undefined ? null : await installedEnvironment(envId, asking);
}

/** The environments in Python of all evaluations, each once. Throws usage errors for two of one id, and for variables that no environment gets. */
export function playedPythons(
  evals: readonly { readonly given: GivenOptions; readonly python: PythonEnvironment | null }[],
  modelKeys: readonly string[],
  env: NodeJS.ProcessEnv,
): readonly PlayedPython[] {
  const distinct = [...new Map(evals.flatMap(({ python }) => (python === null ? [] : [[python.id, python] as const]))).values()];
  return distinct.map((environment): PlayedPython => {
    const own = evals.filter(({ python }) => python?.id === environment.id);
    const other = own.find(({ python }) => python?.target !== environment.target || python.interpreter.executable !== environment.interpreter.executable);
    if (other?.python != null)
      throw usageError(
        `two environments have the id ${JSON.stringify(environment.id)}`,
        ...[environment, other.python].map(({ target, interpreter }) => `${target}, by ${interpreter.executable}`),
      );
    const settings = own.map(({ given }) => given);
    const defaults = environment.project?.defaults ?? {};
    const { values, given } = processVariables(env, {
      named: settings.flatMap(({ env_vars = [] }) => env_vars),
      declared: environment.project?.variables ?? [],
      modelKeys,
    });
    return { environment, count: workerCount(settings, defaults, availableParallelism()), variables: values, given };
  });
}

/** What must be known before code of others runs, first of all that a command tells. */
export function pythonWarnings(played: readonly PlayedPython[], cwd: string): readonly string[] {
  return played.map(({ environment, given }) => {
    const isBundled = listEnvironments().some(({ id }) => id === environment.id);
    return `${trustLine(environment, cwd)}${isBundled ? ", in the place of the bundled environment of that name" : ""}${given.length === 0 ? "" : `; it has the variables ${given.join(", ")}`}`;
  });
}

/** Where TypeScript of a folder is run, and Python lies beside it. */
export const besidePython = (folders: readonly (string | null)[]): readonly string[] =>
  [...new Set(folders)].flatMap((folder) =>
    folder !== null && hasPythonToo(folder) ? [`${basename(folder)} is run as TypeScript; for the Python beside it add --python PATH`] : [],
  );

const OF_PYTHON = ["python", "env_vars", "disable_env_server"] as const;

/** Settings that only environments in Python have a use for, where there is none. `file`: in which they stand; null = they were typed. */
export function uselessOf(evals: readonly Pick<EvalWish, "given">[], file: string | null): readonly string[] {
  return OF_PYTHON.filter((name) => evals.some(({ given }) => given[name] !== undefined && given[name] !== false)).map(
    (name) => `${file === null ? flagName(name) : `${file}: ${name}`} has no effect: no environment here is Python`,
  );
}

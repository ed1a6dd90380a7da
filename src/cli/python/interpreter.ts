/** Which Python runs an environment, and what to type where none can. */
import { existsSync, statSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { quoted } from "../../report/text/shell-word.ts";
import { shortPath } from "../command-line/typed-commands.ts";
import { absolute } from "../environments/find-environment.ts";
import { type CliError, usageError } from "../terminal/cli-error.ts";
import type { PythonPlace } from "./find-python.ts";
import { type Answer, probe, type Probed } from "./probe.ts";
import { MOST_VERIFIERS, PYTHON_FROM, supportOf, VERIFIERS_FROM } from "./supported-versions.ts";

/** An interpreter that can run the environment. */
export interface Interpreter {
  readonly executable: string;
  readonly version: Probed["version"];
  readonly verifiers: string;
  /** File of the environment's module, where the interpreter has it installed. */
  readonly module: string | null;
  readonly moduleVersion: string | null;
  /** Of the virtual environment it is of; null = of none. */
  readonly virtualEnv: string | null;
}

export interface Choice {
  readonly cwd: string;
  /** `--python`, as it was given. */
  readonly python: string | undefined;
  /** Of the process that is asked, and that is started later. */
  readonly env: Readonly<Record<string, string>>;
  /** Hears what takes its time. */
  readonly tell: (line: string) => void;
}

/** Packages are loaded and built then. */
const UV_MS = 15 * 60_000;
const UV = "uv";

interface Candidate {
  readonly command: readonly string[];
  /** In words, for messages. */
  readonly what: string;
  /** Only where the environment itself is installed. */
  readonly ifInstalled?: boolean;
  readonly patienceMs?: number;
}

/**
 * The first of: the one that is named; that of the folder's `.venv`; the active one, or that of `.venv` in the working folder, where the environment is installed there; what `uv run`
 * makes of the folder's project; the active one, and Python on the PATH. Throws a usage error that says what is missing, and what to type.
 */
export async function interpreterOf(place: PythonPlace, choice: Choice): Promise<Interpreter> {
  const found = await firstAnswer(place, choice);
  if (found === null) throw noPython(place, choice.cwd);
  const { candidate, answer } = found;
  if (!answer.ok) throw unusable(place, candidate, answer.said, choice.cwd);
  return checked(place, answer.probed, choice);
}

/** The program of the first one that is there, which must have a package: for what is not written against the library. Throws as `interpreterOf` does. */
export async function interpreterHaving(name: string, place: PythonPlace, choice: Choice): Promise<string> {
  const found = await firstAnswer(place, choice);
  if (found === null) throw noPython(place, choice.cwd);
  const { candidate, answer } = found;
  if (!answer.ok) throw unusable(place, candidate, answer.said, choice.cwd);
  const { executable } = answer.probed;
  const has = await probe([executable], { module: place.module, packages: [name] }, choice.env);
  if (has.ok && has.probed.missing.length === 0) return executable;
  throw usageError(
    `${place.id} needs ${name}, which ${executable} has not`,
    `${installer(executable, choice.env.PATH)} ${name}`,
    "Or name a Python that has it: --python PATH",
  );
}

/** The interpreter that has a module of that name with `load_environment`; null where none has. One that is named and does not answer is a usage error. */
export async function interpreterWith(place: PythonPlace, choice: Choice): Promise<Interpreter | null> {
  for (const candidate of candidatesOf(place, choice)) {
    const answer = await ask(candidate, place, choice);
    if (answer.ok && answer.probed.module !== null) return checked(place, answer.probed, choice);
    if (choice.python !== undefined && !answer.ok) throw unusable(place, candidate, answer.said, choice.cwd);
  }
  return null;
}

async function firstAnswer(place: PythonPlace, choice: Choice): Promise<{ readonly candidate: Candidate; readonly answer: Answer } | null> {
  for (const candidate of candidatesOf(place, choice)) {
    if (candidate.command[0] === UV)
      choice.tell(`uv prepares what ${place.id} needs (uv run --project ${quoted(shortPath(place.folder ?? choice.cwd, choice.cwd))}) …`);
    const answer = await ask(candidate, place, choice);
    const passedOver = answer.ok ? candidate.ifInstalled === true && answer.probed.module === null : answer.absent || candidate.ifInstalled === true;
    // What was named is not passed over.
    if (!passedOver || choice.python !== undefined) return { candidate, answer };
  }
  return null;
}

const ask = ({ command, patienceMs }: Candidate, { module, project }: PythonPlace, { env }: Choice): Promise<Answer> =>
  probe(command, { module, packages: project?.packages ?? [] }, env, patienceMs);

function candidatesOf({ folder, project }: PythonPlace, { python, cwd, env }: Choice): readonly Candidate[] {
  if (python !== undefined) return [{ command: [namedProgram(python, cwd)], what: `--python ${python}` }];
  const own = folder === null ? null : programIn(join(folder, ".venv"));
  if (own !== null) return [{ command: [own], what: "the .venv of its folder" }];
  const active = env.VIRTUAL_ENV === undefined ? null : programIn(env.VIRTUAL_ENV);
  const beside = programIn(join(cwd, ".venv"));
  const environments: readonly Candidate[] = [
    ...(active === null ? [] : [{ command: [active], what: "the active virtual environment" }]),
    ...(beside === null || beside === active ? [] : [{ command: [beside], what: "the .venv of this folder" }]),
  ];
  const uv = folder !== null && project !== null && isOnPath(UV, env.PATH);
  return [
    ...environments.map((candidate) => ({ ...candidate, ifInstalled: true })),
    ...(uv ? [{ command: [UV, "run", "--quiet", "--project", folder, "python"], what: `uv run --project ${folder}`, patienceMs: UV_MS }] : []),
    ...environments,
    ...["python3", "python"].map((program) => ({ command: [program], what: `${program} on the PATH` })),
  ];
}

/** A program, or that of the virtual environment whose folder is named. */
function namedProgram(python: string, cwd: string): string {
  // A bare name is looked up on the PATH, unless it is there.
  const path = absolute(python, cwd);
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat?.isDirectory() !== true) return stat === undefined && !/[\\/]/.test(python) ? python : path;
  const program = programIn(path);
  if (program !== null) return program;
  throw usageError(`--python: ${path} is a folder, and no virtual environment`, `python3 -m venv ${quoted(python)} makes one.`);
}

/** Null where the folder is no virtual environment. */
const programIn = (folder: string): string | null => ["bin/python", "Scripts/python.exe"].map((program) => join(folder, program)).find(existsSync) ?? null;

const isOnPath = (program: string, path = ""): boolean =>
  path.split(delimiter).some((folder) => folder !== "" && (existsSync(join(folder, program)) || existsSync(join(folder, `${program}.exe`))));

function checked(place: PythonPlace, { executable, version, verifiers, module, moduleVersion, missing }: Probed, { cwd, env }: Choice): Interpreter {
  const isOld = version[0] < PYTHON_FROM[0] || (version[0] === PYTHON_FROM[0] && version[1] < PYTHON_FROM[1]);
  if (isOld)
    throw usageError(
      `${place.id} is Python, and ${executable} is Python ${version.join(".")}: ${PYTHON_FROM.join(".")} or later is needed`,
      ...howToGetPython(),
    );
  const install = installer(executable, env.PATH);
  if (verifiers === null) {
    const what =
      place.folder === null || place.project === null ? quoted("verifiers<0.4") : `-e ${quoted(shortPath(place.folder, cwd))} ${quoted("verifiers<0.4")}`;
    throw usageError(
      `${place.id} is written for the library verifiers, which ${executable} has not`,
      `${install} ${what}`,
      "Or name a Python that has it: --python PATH",
    );
  }
  const support = supportOf(verifiers);
  if (support !== "supported") {
    throw usageError(
      `verifiers ${verifiers} of ${executable} is too ${support === "older" ? "old" : "new"}: environments are run with ${VERIFIERS_FROM} to ${MOST_VERIFIERS}`,
      `${install} ${quoted(`verifiers>=${VERIFIERS_FROM},<0.4`)}`,
      "Or name another Python: --python PATH",
    );
  }
  if (missing.length > 0) {
    throw usageError(
      `${place.id} needs ${missing.join(", ")}, which ${executable} has not`,
      `${install} -e ${quoted(shortPath(place.folder ?? place.target, cwd))}`,
      "Or name a Python that has it: --python PATH",
    );
  }
  const virtual = dirname(dirname(executable));
  return { executable, version, verifiers, module, moduleVersion, virtualEnv: existsSync(join(virtual, "pyvenv.cfg")) ? virtual : null };
}

/** What installs packages into an interpreter; virtual environments that uv made have no pip. */
export const installer = (executable: string, path: string | undefined): string =>
  isOnPath(UV, path) ? `uv pip install --python ${quoted(executable)}` : `${quoted(executable)} -m pip install`;

const howToGetPython = (): readonly string[] => [
  "Install one (https://www.python.org/downloads, or uv: https://docs.astral.sh/uv), or name one: --python PATH",
];

const noPython = ({ id, target }: PythonPlace, cwd: string): CliError =>
  usageError(`${id} is Python (${shortPath(target, cwd)}), and there is no Python on the PATH`, ...howToGetPython());

const unusable = ({ id, target }: PythonPlace, { what }: Candidate, said: string, cwd: string): CliError =>
  usageError(
    `${id} is Python (${shortPath(target, cwd)}), and ${what} cannot be used: ${said.split("\n").at(-1) ?? ""}`,
    ...said.split("\n").slice(-6, -1),
    "Name another one: --python PATH",
  );

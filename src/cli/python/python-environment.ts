/** The environments in Python that a command plays: found, with the interpreter that runs each. */
import { shortPath } from "../command-line/typed-commands.ts";
import type { Surroundings } from "../service/service.ts";
import type { PythonPlace } from "./find-python.ts";
import { type Choice, type Interpreter, interpreterOf, interpreterWith } from "./interpreter.ts";
import { processVariables } from "./process-variables.ts";

export interface PythonEnvironment extends PythonPlace {
  readonly interpreter: Interpreter;
}

interface Asking extends Pick<Surroundings, "cwd" | "env"> {
  readonly python: string | undefined;
  readonly tell: (line: string) => void;
}

/** With the interpreter that runs what lies there. Throws a usage error that says what is missing. */
export async function environmentAt(place: PythonPlace, asking: Asking): Promise<PythonEnvironment> {
  return { ...place, interpreter: await interpreterOf(place, choiceOf(asking)) };
}

/** A module that an interpreter has installed, under an environment's id; null where none has it. */
export async function installedEnvironment(id: string, asking: Asking): Promise<PythonEnvironment | null> {
  const module = id.replaceAll("-", "_");
  if (!/^[A-Za-z_]\w*$/.test(module)) return null;
  const place: PythonPlace = { id, target: id, module, folder: null, project: null };
  const interpreter = await interpreterWith(place, choiceOf(asking));
  return interpreter === null ? null : { ...place, interpreter };
}

const choiceOf = ({ cwd, env, python, tell }: Asking): Choice => {
  const { values } = processVariables(env, { named: [], declared: [], modelKeys: [] });
  return { cwd, python, env: values, tell };
};

/** What whoever names one must know: that its code has their rights, and who runs it. */
export function trustLine({ id, target, folder, project, interpreter: { executable, version, verifiers, module } }: PythonEnvironment, cwd: string): string {
  const where = shortPath(folder ?? project?.file ?? module ?? target, cwd);
  return `${id} is Python (${where}) and not walled in: its code runs here with your rights, by ${shortPath(executable, cwd)} (Python ${version.slice(0, 2).join(".")}, verifiers ${verifiers})`;
}

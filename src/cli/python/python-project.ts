/** What the `pyproject.toml` of an environment says, as far as a command needs it before Python runs. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseTomlText } from "../../config/plan/toml-document.ts";
import { isTable } from "../../config/plan/toml-keys.ts";
import { reasonOf, usageError } from "../terminal/cli-error.ts";

export interface PythonProject {
  /** Absolute. */
  readonly file: string;
  readonly name: string | null;
  readonly version: string | null;
  readonly description: string | null;
  /** Names of packages that it needs on every machine, without versions. */
  readonly packages: readonly string[];
  /** `[tool.verifiers.eval]`: what is evaluated where nothing is said. */
  readonly defaults: { readonly num_examples?: number; readonly rollouts_per_example?: number };
  /** `env_vars` of `[tool.edgewise]`: variables that its code reads. */
  readonly variables: readonly string[];
}

/** Null where the folder has none. Throws a usage error for one that cannot be read. */
export function readProject(folder: string): PythonProject | null {
  const file = join(folder, "pyproject.toml");
  if (!existsSync(file)) return null;
  let document: unknown;
  try {
    document = parseTomlText(readFileSync(file, "utf8"), file);
  } catch (error) {
    throw usageError(`${file} cannot be read: ${reasonOf(error)}`);
  }
  const project = tableAt(document, "project");
  const { num_examples, rollouts_per_example } = tableAt(document, "tool", "verifiers", "eval");
  return {
    file,
    name: textOf(project.name),
    version: textOf(project.version),
    description: textOf(project.description),
    packages: textsOf(project.dependencies).flatMap(packageName),
    // As there, what is no number is as good as absent.
    defaults: {
      ...(Number.isInteger(num_examples) ? { num_examples: Number(num_examples) } : {}),
      ...(Number.isInteger(rollouts_per_example) ? { rollouts_per_example: Number(rollouts_per_example) } : {}),
    },
    variables: textsOf(tableAt(document, "tool", "edgewise").env_vars),
  };
}

function tableAt(document: unknown, ...path: readonly string[]): Readonly<Record<string, unknown>> {
  let at = document;
  for (const key of path) at = isTable(at) ? at[key] : undefined;
  return isTable(at) ? at : {};
}

const textOf = (value: unknown): string | null => (typeof value === "string" && value !== "" ? value : null);
const textsOf = (value: unknown): readonly string[] => (Array.isArray(value) ? value.filter((item): item is string => typeof item === "string") : []);

/** The name at the front of a requirement (PEP 508). One with a condition behind `;` may not be meant for this machine. */
function packageName(requirement: string): readonly string[] {
  const name = /^\s*([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)/.exec(requirement)?.[1];
  return name === undefined || requirement.includes(";") ? [] : [name];
}

/** `edgewise env list`: what can be run here, with arguments and defaults. */
import type { ArgumentFacts } from "../../environments/definition/describe.ts";
import { DATASET_ARGS } from "../../datasets/spec.ts";
import { singleLine } from "../../report/text/printable.ts";
import { shortPath } from "../command-line/typed-commands.ts";
import { EXIT, type ExitCode } from "../terminal/cli-error.ts";
import type { CommandContext } from "../service/command-context.ts";
import { type KnownEnvironment, servedEnvironments } from "./local-environments.ts";

export interface EnvListOptions {
  readonly envDir: string;
  readonly output: "table" | "json";
}

export async function envList({ cwd, terminal }: CommandContext, { envDir, output }: EnvListOptions): Promise<ExitCode> {
  const { environments } = await servedEnvironments([], cwd, envDir);
  if (output === "json") {
    terminal.print(JSON.stringify(environments.map(({ file, ...facts }) => ({ ...facts, path: file?.entry ?? null }))));
    return EXIT.completed;
  }
  for (const environment of environments) for (const line of linesOf(environment, cwd)) terminal.print(line);
  terminal.print(`Every environment also takes ${Object.keys(DATASET_ARGS).join(", ")}.`);
  return EXIT.completed;
}

function linesOf({ id, version, description, defaults, keys, args, file }: KnownEnvironment, cwd: string): readonly string[] {
  const { num_examples, rollouts_per_example } = defaults;
  const usual = [...(num_examples === undefined ? [] : [`-n ${num_examples}`]), ...(rollouts_per_example === undefined ? [] : [`-r ${rollouts_per_example}`])];
  return [
    `${id} ${version}${file === null ? "" : ` (${shortPath(file.entry, cwd)})`}`,
    `  ${singleLine(description)}`,
    ...(usual.length === 0 ? [] : [`  by default ${usual.join(" ")}`]),
    ...(keys.length === 0 ? [] : [`  needs ${keys.join(", ")}`]),
    ...args.map(argumentLine),
    "",
  ];
}

function argumentLine({ name, schema, required, description, default: usual }: ArgumentFacts): string {
  const values = Array.isArray(schema.enum)
    ? schema.enum.map((value) => JSON.stringify(value)).join(" | ")
    : typeof schema.type === "string"
      ? schema.type
      : "JSON";
  const otherwise = required ? "required" : usual === undefined ? "optional" : `default ${shortened(JSON.stringify(usual))}`;
  return `  ${name} (${values}, ${otherwise})${description === null ? "" : `: ${singleLine(description)}`}`;
}

const shortened = (text: string): string => (text.length <= 60 ? text : `${text.slice(0, 59)}…`);

/** Plays a composite action as GitHub's runner does: its steps one after another, each with its shell, its variables and its files. */
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { parse } from "yaml";
import { readAssignments } from "./assignments.ts";
import { type Contexts, holds, interpolated } from "./expressions.ts";

interface Step {
  readonly id?: string;
  readonly name: string;
  readonly if?: string;
  readonly shell: string;
  readonly "working-directory"?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly run: string;
}

export interface ActionFile {
  readonly inputs: Readonly<Record<string, { readonly description: string; readonly default?: string; readonly required?: boolean }>>;
  readonly outputs: Readonly<Record<string, { readonly description: string; readonly value: string }>>;
  readonly runs: { readonly using: string; readonly steps: readonly Step[] };
}

export interface PlayedAction {
  /** Exit code of the last step that ran: 0, or that of the one that failed. */
  readonly code: number;
  readonly outputs: Readonly<Record<string, string>>;
  /** What stands on the page of the job. */
  readonly summary: string;
  /** What the steps printed, in order. */
  readonly log: string;
  /** Names of the steps that ran. */
  readonly ran: readonly string[];
}

/** As the runner starts each of them. */
const SHELLS: Readonly<Record<string, readonly string[]>> = { bash: ["bash", "--noprofile", "--norc", "-eo", "pipefail"] };
const STEP_MS = 120_000;

export const readAction = (path: string): ActionFile => parse(readFileSync(path, "utf8")) as ActionFile;

/**
 * `path`: of the `action.yml`. `workspace`: where the job's checkout is. `temp`: RUNNER_TEMP. `env`: all that the job has, PATH too. Throws for what GitHub
 * refuses or warns of (an input that is not there, an expression in a shell text, a line of GITHUB_OUTPUT that assigns nothing), and for what is not played here.
 */
export async function playAction(
  path: string,
  {
    inputs,
    workspace,
    temp,
    env,
  }: {
    readonly inputs: Readonly<Record<string, string>>;
    readonly workspace: string;
    readonly temp: string;
    readonly env: Readonly<Record<string, string>>;
  },
): Promise<PlayedAction> {
  const action = readAction(path);
  if (action.runs.using !== "composite") throw new Error(`only composite actions are played here, and this is one of ${action.runs.using}`);
  const steps: Record<string, { outputs: Readonly<Record<string, string>> }> = {};
  const contexts: Contexts = { inputs: inputsOf(action, inputs), github: { action_path: dirname(resolve(path)) }, runner: { temp }, steps };
  mkdirSync(temp, { recursive: true });
  const job: Record<string, string> = { ...env, GITHUB_ACTIONS: "true", GITHUB_WORKSPACE: workspace, RUNNER_TEMP: temp };
  let [code, log, summary] = [0, "", ""];
  const ran: string[] = [];
  for (const step of action.runs.steps) {
    if (step.run.includes("${{")) throw new Error(`step ${step.name}: an expression in a shell text is read as shell`);
    if (!holds(step.if, contexts)) continue;
    const files = mkdtempSync(join(temp, "_runner_file_commands"));
    const file = (name: string): string => {
      writeFileSync(join(files, name), "");
      return join(files, name);
    };
    const [output, variables, page] = [file("output"), file("env"), file("summary")];
    const script = join(files, "script.sh");
    writeFileSync(script, step.run);
    const own = Object.fromEntries(Object.entries(step.env ?? {}).map(([name, value]) => [name, interpolated(value, contexts)]));
    const shell = SHELLS[step.shell];
    if (shell === undefined) throw new Error(`step ${step.name}: shell ${step.shell} is not played here`);
    const ended = await played([...shell, script], resolve(workspace, interpolated(step["working-directory"] ?? ".", contexts)), {
      ...job,
      ...own,
      GITHUB_OUTPUT: output,
      GITHUB_ENV: variables,
      GITHUB_STEP_SUMMARY: page,
    });
    ran.push(step.name);
    log += ended.log;
    summary += readFileSync(page, "utf8");
    if (step.id !== undefined) steps[step.id] = { outputs: readAssignments(readFileSync(output, "utf8")) };
    Object.assign(job, readAssignments(readFileSync(variables, "utf8")));
    code = ended.code;
    if (code !== 0) break;
  }
  // GitHub gives outputs of an action that failed too.
  const outputs = Object.fromEntries(Object.entries(action.outputs).map(([name, { value }]) => [name, interpolated(value, contexts)]));
  return { code, outputs, summary, log, ran };
}

function inputsOf({ inputs }: ActionFile, given: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  for (const name of Object.keys(given)) if (!Object.hasOwn(inputs, name)) throw new Error(`the action has no input ${name}`);
  for (const [name, { required }] of Object.entries(inputs)) if (required === true && given[name] === undefined) throw new Error(`input ${name} is required`);
  return Object.fromEntries(Object.entries(inputs).map(([name, { default: usual = "" }]) => [name, given[name] ?? usual]));
}

function played(
  [command = "", ...args]: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>>,
): Promise<{ readonly code: number; readonly log: string }> {
  return new Promise((resolved, reject) => {
    const child = spawn(command, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"], timeout: STEP_MS });
    let log = "";
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (text: string) => {
        log += text;
      });
    child.once("error", reject);
    child.once("close", (code, signal) => (code === null ? reject(new Error(`a step was ended by ${signal}:\n${log}`)) : resolved({ code, log })));
  });
}

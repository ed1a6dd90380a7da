/** How `eval run` ends: where the results are, what went wrong, and how to go on. */
import { singleLine } from "../../report/printable.ts";
import type { Evaluation } from "../connection/api-types.ts";
import { CliError } from "../terminal/cli-error.ts";
import { resumeCommand, shortPath, stopCommand } from "../command-line/typed-commands.ts";
import type { GivenOptions } from "../command-line/flags.ts";
import type { Service } from "../service/service.ts";

/** The run a command was about. */
export interface RunNames {
  /** The environment, as the command named it. */
  readonly environment: string;
  readonly runId: string;
  readonly given: GivenOptions;
  readonly cwd: string;
  /** Path of the results folder; null where none is kept. */
  readonly folder: string | null;
  /** Whether the folder holds what it should. */
  readonly saved: boolean;
}

export function failureLines({ evaluation_id, status, error_message, edgewise }: Evaluation): readonly string[] {
  const failure = edgewise.failure ?? null;
  const why = failure?.message ?? error_message;
  const lines = [`error: run ${evaluation_id} ended ${status}${why === null ? "" : `: ${singleLine(why)}`}`];
  return failure?.hint === undefined ? lines : [...lines, `  ${singleLine(failure.hint)}`];
}

/** Where the results are, and how to go on; always the last that is printed. */
export const resultLines = (names: RunNames): readonly string[] => [resultsLine(names), `Resume: ${goOn(names)}`];

/** Of a run elsewhere that this command no longer follows. */
export function detachedLines(names: RunNames, { url }: Pick<Service, "url">): readonly string[] {
  return [
    `Run ${names.runId} goes on at ${url}; this command only stopped following it.`,
    ...(names.saved && names.folder !== null ? [`Results so far: ${shortPath(names.folder, names.cwd)}`] : []),
    `Follow it again: ${goOn(names)}`,
    `Stop it: ${stopCommand(names.runId)}`,
  ];
}

/** An error that ends the command still says where the results are. */
export function withResume(error: unknown, names: RunNames, { role }: Pick<Service, "role">): unknown {
  if (!(error instanceof CliError)) return error;
  const last = role === "remote" ? `Run ${names.runId} goes on there if it can. Follow it again` : "What is finished is kept. Resume";
  return new CliError(error.message, { exitCode: error.exitCode, hints: [...error.hints, `${last}: ${goOn(names)}`], cause: error.cause });
}

function resultsLine({ given, cwd, folder, saved }: RunNames): string {
  if (saved && folder !== null) return `Results: ${shortPath(folder, cwd)}`;
  if (given.no_save === true) return "Results: in the service only (--no-save)";
  return `Results: in the service only, since ${folder ?? "the results folder"} could not be written; mend that and type the next line`;
}

const goOn = ({ environment, runId, given, cwd, folder, saved }: RunNames): string =>
  resumeCommand(environment, saved && folder !== null ? shortPath(folder, cwd) : runId, given.api_key_var);

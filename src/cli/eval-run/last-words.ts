/** How `eval run` ends: where the results are, what went wrong, and how to go on. */
import { quoted } from "../../report/text/shell-word.ts";
import { batchesLeftText } from "../../report/text/batch-text.ts";
import { singleLine } from "../../report/text/printable.ts";
import type { Evaluation } from "../connection/api-types.ts";
import { CliError } from "../terminal/cli-error.ts";
import { endedBeforeRows, owedText } from "../../errors/leftovers.ts";
import { nextStepOf, restingRun, stepText } from "../runs/next-step.ts";
import { resumeCommand, shortPath, stopCommand } from "../command-line/typed-commands.ts";
import { StateDamaged } from "../state/state-damage.ts";
import type { GivenOptions } from "../command-line/flags.ts";
import { dashboardAddress } from "../service/dashboard-address.ts";
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

/** Where the results are, and how to go on if there is anything to go on with; always the last that is printed. `evaluation`: of a run that has ended. */
export function resultLines(names: RunNames, evaluation: Evaluation | null = null): readonly string[] {
  const unsaved = !names.saved && names.given.no_save !== true;
  const next = evaluation === null ? { when: null, what: null } : nextStepOf(evaluation);
  const left = evaluation?.edgewise.batch === undefined ? null : batchesLeftText(evaluation.edgewise.batch);
  const first = [resultsLine(names), ...(left === null ? [] : [left])];
  if (next === null && !unsaved) return first;
  const owed = evaluation === null ? null : owedOf(evaluation);
  if (owed !== null) return [...first, `${owed}: ${goOn(names)}`];
  const anew = evaluation !== null && endedBeforeRows(restingRun(evaluation));
  return [...first, `Resume${next === null ? "" : stepText(next)}: ${goOn(names, anew)}`];
}

/** What a run that has all its rows still owes; null: nothing, or more than that. */
export function owedOf(evaluation: Evaluation): string | null {
  const { missing, errors, rows, settled } = restingRun(evaluation);
  return settled && missing === 0 ? owedText(errors, rows) : null;
}

/** Of a run elsewhere that this command no longer follows. */
export function detachedLines(names: RunNames, { url }: Pick<Service, "url">): readonly string[] {
  return [
    `Run ${names.runId} goes on at ${url}; this command only stopped following it.`,
    `Dashboard: ${dashboardAddress(url, names.runId)}`,
    ...(names.saved && names.folder !== null ? [`Results so far: ${shortPath(names.folder, names.cwd)}`] : []),
    `Follow it again: ${goOn(names)}`,
    `Stop it: ${stopCommand(names.runId)}`,
  ];
}

/** Of a run whose requests go out in batches, when it begins: how long that may take, and what becomes of them without this command. */
export function batchLines(names: RunNames, { role }: Pick<Service, "role">): readonly string[] {
  const times = "Requests go out in batches: their answers may take up to a day.";
  return role === "remote" ? [times] : [times, `They go on at the provider if you press Ctrl-C; this collects them: ${goOn(names)}`];
}

/** An error that ends the command still says where the results are. */
export function withResume(error: unknown, names: RunNames, { role }: Pick<Service, "role">): unknown {
  if (!(error instanceof CliError)) return error;
  if (error instanceof StateDamaged) {
    const without = `What is finished is kept. Go on without that state (it is moved away, and nothing of it deleted): ${goOn(names)} --fresh-state`;
    return new CliError(error.message, { exitCode: error.exitCode, hints: [without], cause: error.cause });
  }
  const last = role === "remote" ? `Run ${names.runId} goes on there if it can. Follow it again` : "What is finished is kept. Resume";
  return new CliError(error.message, { exitCode: error.exitCode, hints: [...error.hints, `${last}: ${goOn(names)}`], cause: error.cause });
}

function resultsLine({ runId, given, cwd, folder, saved }: RunNames): string {
  if (saved && folder !== null) return `Results: ${shortPath(folder, cwd)}`;
  if (given.no_save === true) return `Results: in the service only (--no-save), as run ${runId}`;
  return `Results: in the service only, since ${folder ?? "the results folder"} could not be written; mend that and type the next line`;
}

/** `anew`: the run takes its data set as it is then, so that it is named again. */
const goOn = ({ environment, runId, given, cwd, folder, saved }: RunNames, anew = false): string =>
  [
    resumeCommand(environment, saved && folder !== null ? shortPath(folder, cwd) : runId, given.api_key_var, anew ? given.env_args : undefined),
    ...pythonFlags(given),
  ].join(" ");

/** What its processes are started with again. */
const pythonFlags = ({ python, env_vars = [] }: GivenOptions): readonly string[] => [
  ...(python === undefined ? [] : ["--python", quoted(python)]),
  ...env_vars.flatMap((name) => ["--env-var", quoted(name)]),
];

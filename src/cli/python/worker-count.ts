/** How many processes run an environment in Python, and how much each plays at once (as verifiers counts its own). */
import { OPTIONS } from "../../config/options/options.ts";
import type { GivenOptions } from "../command-line/flags.ts";
import { usageError } from "../terminal/cli-error.ts";
import type { PythonProject } from "./python-project.ts";

/** Rollouts that one process plays side by side before there is another (verifiers 0.1.14, `num_workers = "auto"`). */
const ROLLOUTS_PER_PROCESS = 256;

/** Addresses of one link. */
const MOST_PROCESSES = 32;

export interface WorkerCount {
  readonly processes: number;
  /** Of one process; null = no limit is known, and the environment keeps its own. */
  readonly concurrency: number | null;
}

type Settings = Pick<GivenOptions, "max_concurrent" | "num_examples" | "rollouts_per_example" | "extra_env_kwargs" | "num_workers" | "disable_env_server">;

/** Of all evaluations of one environment, which share its processes. `cores`: of this machine, which bound what nobody asked for. Throws a usage error for more than a link has room for. */
export function workerCount(evals: readonly Settings[], defaults: PythonProject["defaults"], cores: number): WorkerCount {
  const rollouts = evals.map((settings) => concurrencyOf(settings, defaults));
  const known = rollouts.every((each) => each !== null) ? rollouts.reduce<number>((sum, each) => sum + (each ?? 0), 0) : null;
  const processes = evals.some(({ disable_env_server }) => disable_env_server === true) ? 1 : (askedFor(evals) ?? usual(known, cores));
  return { processes, concurrency: known === null ? null : Math.max(1, Math.floor(known / processes)) };
}

const usual = (concurrency: number | null, cores: number): number => Math.max(1, Math.min(cores, Math.ceil((concurrency ?? 1) / ROLLOUTS_PER_PROCESS)));

/** The most that one of them names; null where none does. */
function askedFor(evals: readonly Settings[]): number | null {
  const counts = evals.flatMap(({ num_workers }) => (typeof num_workers === "number" ? [num_workers] : []));
  const most = Math.max(0, ...counts);
  if (most > MOST_PROCESSES) throw usageError(`-w/--num-workers: an environment in Python has at most ${MOST_PROCESSES} processes, not ${most}`);
  return counts.length === 0 ? null : most;
}

/** Rollouts at once: what the environment is told by `-x`, else `-c`, else all of them; null where nobody knows how many that are. */
function concurrencyOf(
  { extra_env_kwargs = {}, max_concurrent = OPTIONS.max_concurrent.default, ...size }: Settings,
  defaults: PythonProject["defaults"],
): number | null {
  const { concurrency } = extra_env_kwargs;
  if (Number.isInteger(concurrency) && Number(concurrency) > 0) return Number(concurrency);
  if (max_concurrent > 0) return max_concurrent;
  const examples = size.num_examples ?? defaults.num_examples ?? OPTIONS.num_examples.default;
  const rollouts = size.rollouts_per_example ?? defaults.rollouts_per_example ?? OPTIONS.rollouts_per_example.default;
  return examples > 0 ? examples * rollouts : null;
}

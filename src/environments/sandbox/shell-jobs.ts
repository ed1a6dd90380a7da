import { SandboxError } from "../../errors/rollout-errors.ts";
import { MAX_JOB_OUTPUT_BYTES } from "../../limits.ts";
import type { JobOptions, JobStatus, Sandbox } from "./sandbox.ts";
import { quoted } from "./shell-words.ts";

const FOLDER = "/tmp/.edgewise-jobs";
/** Of what starts a job, looks at one and ends one. */
const SECONDS = 30;
/** What a shell says of a command that signal 9 ended. */
const KILLED = 137;
const JOB = /^[0-9a-f-]{36}$/;

/** `$0` is the job's folder and `$1` its command line. The status appears whole. */
const RUNNER = 'echo $$ > "$0/pid"; sh -c "$1" > "$0/out" 2> "$0/err"; echo $? > "$0/code.part"; mv "$0/code.part" "$0/code"';

/**
 * Background jobs by means of commands alone, for drivers whose provider has none, or whose own differ: each has a session and a folder in
 * the sandbox with its process number, status and output. They need a POSIX shell with `tail`, `wc` and, to end all that a job started, `setsid`.
 */
export class ShellJobs {
  readonly #sandbox: Pick<Sandbox, "execute">;
  readonly #folder: string;

  constructor(sandbox: Pick<Sandbox, "execute">, folder: string = FOLDER) {
    this.#sandbox = sandbox;
    this.#folder = folder;
  }

  /** What `Sandbox.start` says. */
  async start(id: string, command: string, { workingDir = null }: JobOptions = {}): Promise<string> {
    const job = crypto.randomUUID();
    const lines = [
      `d=${quoted(this.#folder)}/${job}`,
      `mkdir -p "$d" && { s=$(command -v setsid || command -v nohup); $s sh -c ${quoted(RUNNER)} "$d" ${quoted(command)} </dev/null >/dev/null 2>&1 & }`,
      `i=0; while [ ! -s "$d/pid" ] && [ $i -lt 200 ]; do sleep 0.05; i=$((i+1)); done; [ -s "$d/pid" ]`,
    ];
    const started = await this.#sandbox.execute(id, lines.join("\n"), { timeoutSeconds: SECONDS, workingDir });
    if (started.exit_code !== 0) throw new SandboxError(`the job did not start: ${started.stderr.trim() || `status ${started.exit_code}`}`);
    return job;
  }

  /** What `Sandbox.job` says. */
  async job(id: string, job: string): Promise<JobStatus> {
    // The status is read before the output: what is written in between belongs to a job that still ran.
    const lines = [
      `cd ${this.#of(job)} 2>/dev/null || exit 44`,
      `if [ -e code ]; then c=$(cat code); elif p=$(cat pid) && kill -0 "$p" 2>/dev/null && ! grep -qs '^State:.Z' "/proc/$p/status"; then c=running; else c=lost; fi`,
      `o=$(wc -c < out 2>/dev/null) || o=0; e=$(wc -c < err 2>/dev/null) || e=0`,
      `echo "$c" $o $e; tail -c ${MAX_JOB_OUTPUT_BYTES} out 2>/dev/null; { tail -c ${MAX_JOB_OUTPUT_BYTES} err 2>/dev/null; } >&2; exit 0`,
    ];
    const { stdout, stderr, exit_code } = await this.#sandbox.execute(id, lines.join("\n"), { timeoutSeconds: SECONDS });
    if (exit_code === 44) throw unknown(job);
    const said = /^(running|lost|\d+) +(\d+) +(\d+)\n/.exec(stdout);
    if (exit_code !== 0 || said === null) throw new SandboxError(`a job cannot be looked at: ${stderr.trim() || `status ${exit_code}`}`);
    const [line, state, out, err] = said;
    return {
      running: state === "running",
      exit_code: /^\d/.test(state ?? "") ? Number(state) : null,
      stdout: stdout.slice(line.length),
      stderr,
      ...(Number(out) > MAX_JOB_OUTPUT_BYTES ? { stdout_truncated: true } : {}),
      ...(Number(err) > MAX_JOB_OUTPUT_BYTES ? { stderr_truncated: true } : {}),
    };
  }

  /** What `Sandbox.stop` says. */
  async stop(id: string, job: string): Promise<void> {
    const lines = [
      `cd ${this.#of(job)} 2>/dev/null || exit 44`,
      `[ -e code ] && exit 0`,
      `p=$(cat pid); kill -9 "-$p" 2>/dev/null || kill -9 "$p" 2>/dev/null`,
      `[ -e code ] || echo ${KILLED} > code`,
    ];
    const { exit_code, stderr } = await this.#sandbox.execute(id, lines.join("\n"), { timeoutSeconds: SECONDS });
    if (exit_code === 44) throw unknown(job);
    if (exit_code !== 0) throw new SandboxError(`a job cannot be ended: ${stderr.trim() || `status ${exit_code}`}`);
  }

  #of(job: string): string {
    // It becomes part of a command line.
    if (!JOB.test(job)) throw unknown(job);
    return quoted(`${this.#folder}/${job}`);
  }
}

const unknown = (job: string): SandboxError => new SandboxError(`there is no job ${job.slice(0, 64)}`);

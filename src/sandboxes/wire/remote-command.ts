import { onAbort } from "../../clients/transport/on-abort.ts";
import { boundedResult } from "../../environments/sandbox/bounded-output.ts";
import { CommandTimedOut, type CommandOptions, type CommandResult } from "../../environments/sandbox/sandbox.ts";
import { SandboxError } from "../../errors/rollout-errors.ts";
import { MAX_SANDBOX_OUTPUT_BYTES } from "../../limits.ts";
import { ConnectFailure } from "./connect-stream.ts";

/** What a provider's stream says of one command. */
export type CommandEvent =
  | { readonly kind: "start"; readonly pid: number }
  | { readonly kind: "stdout" | "stderr"; readonly bytes: Uint8Array }
  /** `status`: in the words of the provider, such as `signal: killed`. */
  | { readonly kind: "end"; readonly exitCode: number; readonly status: string };

export interface RemoteCommands {
  /** Begins a command line in a shell of a sandbox; it ends with `signal`, or a little after `timeoutMs`. */
  begin(
    id: string,
    command: string,
    options: { readonly workingDir: string | null; readonly timeoutMs: number; readonly signal: AbortSignal },
  ): Promise<AsyncIterable<CommandEvent>>;
}

/** A command's time is over on this side first, and the provider's deadline is there for a command that nobody waits for any more. */
export const DEADLINE_MARGIN_MS = 15_000;
const KILL_MS = 10_000;

/** As Go's runtime calls them, by their numbers: shells add 128. */
const SIGNALS: Readonly<Record<string, number>> = {
  hangup: 1,
  interrupt: 2,
  quit: 3,
  "illegal instruction": 4,
  aborted: 6,
  "bus error": 7,
  "floating point exception": 8,
  killed: 9,
  "segmentation fault": 11,
  "broken pipe": 13,
  "alarm clock": 14,
  terminated: 15,
};

/** The status of a command as a shell has it: what a signal ended has no status of its own. */
function statusOf({ exitCode, status }: Extract<CommandEvent, { kind: "end" }>): number {
  const signal = SIGNALS[/signal: ([a-z ]+)/.exec(status)?.[1]?.trim() ?? ""];
  return signal === undefined ? exitCode : 128 + signal;
}

/** The first bytes of an output, and whether there were more. */
class Output {
  readonly #chunks: Uint8Array[] = [];
  #kept = 0;
  more = false;

  add(bytes: Uint8Array): void {
    const left = MAX_SANDBOX_OUTPUT_BYTES - this.#kept;
    if (bytes.length > left) this.more = true;
    if (left <= 0) return;
    // What comes next may overwrite it.
    this.#chunks.push(bytes.slice(0, left));
    this.#kept += Math.min(left, bytes.length);
  }

  text(): string {
    const decoder = new TextDecoder();
    const whole = this.#chunks.map((chunk) => decoder.decode(chunk, { stream: true })).join("");
    // A character that was cut in the middle is left out.
    return this.more ? whole : whole + decoder.decode();
  }
}

/** `Sandbox.execute` over the streams of a provider. */
export async function executeRemotely(commands: RemoteCommands, id: string, command: string, options: CommandOptions): Promise<CommandResult> {
  const { timeoutSeconds, workingDir = null, signal = null } = options;
  signal?.throwIfAborted();
  const over = new AbortController();
  let isLate = false;
  let pid: number | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const letGo = signal === null ? () => undefined : onAbort(signal, () => over.abort(signal.reason));
  const [stdout, stderr] = [new Output(), new Output()];
  try {
    const events = await commands.begin(id, command, { workingDir, timeoutMs: timeoutSeconds * 1_000, signal: over.signal });
    timer = setTimeout(() => {
      isLate = true;
      over.abort(new Error("the command takes too long"));
    }, timeoutSeconds * 1_000);
    for await (const event of untilAborted(events, over.signal)) {
      if (event.kind === "start") pid = event.pid;
      else if (event.kind !== "end") (event.kind === "stdout" ? stdout : stderr).add(event.bytes);
      else {
        const outputs = { stdout: stdout.text(), stderr: stderr.text(), ...(stdout.more ? { stdout_truncated: true as const } : {}) };
        return boundedResult({ ...outputs, ...(stderr.more ? { stderr_truncated: true as const } : {}), exit_code: statusOf(event) });
      }
    }
    throw new SandboxError("a command ended without its status");
  } catch (thrown) {
    if (over.signal.aborted && pid !== null) await endTree(commands, id, pid);
    signal?.throwIfAborted();
    if (isLate || (thrown instanceof ConnectFailure && thrown.connectCode === "deadline_exceeded"))
      throw new CommandTimedOut(`the command took longer than ${timeoutSeconds} s`);
    throw thrown;
  } finally {
    clearTimeout(timer);
    letGo();
  }
}

/** The same events, until `signal`: a stream that says nothing is not waited for. */
async function* untilAborted(events: AsyncIterable<CommandEvent>, signal: AbortSignal): AsyncGenerator<CommandEvent> {
  const iterator = events[Symbol.asyncIterator]();
  const aborted = Promise.withResolvers<never>();
  aborted.promise.catch(() => undefined);
  const letGo = onAbort(signal, () => aborted.reject(signal.reason));
  try {
    for (;;) {
      const { done, value } = await Promise.race([iterator.next(), aborted.promise]);
      if (done === true) return;
      yield value;
    }
  } finally {
    letGo();
    void iterator.return?.()?.catch(() => undefined);
  }
}

/** Ends a process with all that it started; a provider's own signal reaches the first alone. */
async function endTree(commands: RemoteCommands, id: string, pid: number): Promise<void> {
  const kill = `k(){ for c in $(cat /proc/$1/task/*/children 2>/dev/null); do k $c; done; kill -9 $1 2>/dev/null; }; k ${pid}; true`;
  const late = AbortSignal.timeout(KILL_MS);
  try {
    const events = await commands.begin(id, kill, { workingDir: null, timeoutMs: KILL_MS, signal: late });
    for await (const { kind } of untilAborted(events, late)) if (kind === "end") return;
  } catch {
    // Whoever waits for the command is told of that; what cannot be ended ends with its sandbox.
  }
}

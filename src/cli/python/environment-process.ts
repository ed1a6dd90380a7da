/** One process that serves an environment in Python: started, watched, started again on its port where it ends by itself, and ended with the command. */
import { type ChildProcess, spawn } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { type Spawn, spawnBound } from "../service/runtime/process.ts";
import { type SilenceWatch, watchSilence } from "../service/runtime/silence-watch.ts";
import { CliError, reasonOf } from "../terminal/cli-error.ts";
import { Deaths } from "./deaths.ts";
import { failureIn, firstLine, type Started } from "./first-line.ts";
import { LastWords } from "./last-words.ts";

export interface ProcessOptions {
  /** As messages call it. */
  readonly name: string;
  readonly executable: string;
  /** Behind the interpreter, without the port. */
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** That it asks for. */
  readonly token: string;
  /** For how long it may answer nobody, in milliseconds. */
  readonly silentMs: number;
  /** It ended by itself, and is started again. */
  readonly onDeath: (line: string) => void;
  /** It is not started again; or, what it says at its start, cannot be. */
  readonly onGivenUp: (error: CliError) => void;
  /** What to type where a start fails; `message`: what it said. */
  readonly hintsFor: (message: string) => readonly string[];
}

/** Imports of what an environment needs (verifiers gives its own servers as long). */
const START_MS = 600_000;
/** To end in order. */
const END_MS = 5_000;

export class EnvironmentProcess {
  readonly #options: ProcessOptions;
  readonly #deaths = new Deaths();
  readonly #ended = new AbortController();
  #child: ChildProcess | null = null;
  #started: Started | null = null;
  #silence: SilenceWatch | null = null;

  constructor(options: ProcessOptions) {
    this.#options = options;
  }

  /** Number of the process that serves now; null while there is none. */
  get pid(): number | null {
    return this.#child?.pid ?? null;
  }

  /** Resolves once it serves, with where; `port` 0: any. A first start that fails is not tried again: throws what it said. */
  async start(port = 0): Promise<string> {
    const { url } = await this.#begin(port);
    return url;
  }

  /** Ends it, and everything that it has started. */
  async end(): Promise<void> {
    this.#ended.abort();
    this.#silence?.end();
    const child = this.#child;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise<void>((resolve) => child.once("exit", () => resolve()));
    child.kill("SIGTERM");
    await Promise.race([gone, sleep(END_MS, undefined, { ref: false })]);
    if (child.exitCode !== null || child.signalCode !== null) return;
    killGroup(child);
    await gone;
  }

  async #begin(port: number): Promise<Started> {
    const { executable, args, cwd, env, name } = this.#options;
    const words = new LastWords();
    const options = { cwd, env, detached: true, stdio: ["pipe", "pipe", "pipe", "ignore"] };
    // Its group is killed when this process ends, however it does.
    const child = spawnBound(spawn as unknown as Spawn, executable, [...args, "--port", String(port), "--with-parent"], options);
    this.#child = child;
    child.stdin?.on("error", () => undefined);
    child.stderr?.setEncoding("utf8").on("data", (text: string) => words.add(text));
    const gone = new Promise<string>((resolve) => {
      child.once("error", (error) => resolve(reasonOf(error)));
      child.once("exit", (code, signal) => resolve(signal === null ? `exit code ${code}` : signal));
    });
    const line = await firstLine(child, gone, START_MS);
    if (this.#ended.signal.aborted) {
      killGroup(child);
      throw this.#ended.signal.reason;
    }
    if (line.kind !== "started") {
      killGroup(child);
      // What it had to say may come after its end.
      await words.settled(child);
      const { message, hints } = failureIn(line, words.text);
      throw new CliError(`${name}: its process could not be started: ${message}`, { hints: [...hints, ...this.#options.hintsFor(message)] });
    }
    this.#started = line;
    this.#watch(line.url);
    void gone.then((how) => this.#died(child, how, words));
    return line;
  }

  #watch(url: string): void {
    const { hostname, port, pathname } = new URL(url);
    this.#silence?.end();
    this.#silence = watchSilence(
      this.#options.silentMs,
      () => ({ host: hostname, port: Number(port) }),
      () => {
        this.#options.onDeath(`warning: the process of ${this.#options.name} has answered nobody for ${this.#options.silentMs / 1000} s and is ended`);
        if (this.#child !== null) killGroup(this.#child);
      },
      // The loop in which the environment's code runs, and not only the server beside it.
      { path: `${pathname.replace(/\/$/, "")}/health?loop`, headers: { authorization: `Bearer ${this.#options.token}` } },
    );
  }

  async #died(child: ChildProcess, how: string, words: LastWords): Promise<void> {
    this.#silence?.end();
    const { name } = this.#options;
    let [reason, said] = [how, words];
    for (let dead: ChildProcess | null = child; dead !== null; ) {
      if (this.#ended.signal.aborted) return;
      const pause = this.#deaths.note(performance.now());
      if (pause === null) {
        await said.settled(dead);
        this.#options.onGivenUp(
          new CliError(`the process of ${name} ended ${this.#deaths.most} times within a minute (${reason}) and is not started again`, {
            hints: said.lines.length === 0 ? [] : ["Its last words:", ...said.lines],
          }),
        );
        return;
      }
      this.#options.onDeath(
        `warning: the process of ${name} ended (${reason}) and is started again${this.#deaths.told}; what it was playing is played again, or is told as an error`,
      );
      dead = null;
      try {
        await sleep(pause, undefined, { signal: this.#ended.signal, ref: false });
        await this.#begin(Number(new URL(this.#started?.url ?? "").port));
      } catch (error) {
        if (this.#ended.signal.aborted) return;
        dead = this.#child;
        reason = reasonOf(error);
        said = new LastWords(error instanceof CliError ? error.hints : []);
      }
    }
  }
}

/** With all that it has started. */
function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    process.kill(process.platform === "win32" ? child.pid : -child.pid, "SIGKILL");
  } catch {
    // It has ended.
  }
}

import type { ChildProcess } from "node:child_process";
import { chmod, unlink, writeFile } from "node:fs/promises";
import { createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { CommandTimedOut } from "../../environments/sandbox/sandbox.ts";
import { SandboxError } from "../../errors/rollout-errors.ts";
import { BoundedPipe, makePipes } from "./command-pipes.ts";
import { bridge } from "./port-bridge.ts";
import type { WalledCommand, WalledResult, WalledSandbox } from "./wall.ts";

/** How long a command that was ended may take to be gone. */
const END_MS = 5_000;
/** What somebody left behind by a command may write after its end and still be heard. */
const LAST_WORDS_MS = 50;
const LAST_WORDS_AT_MOST_MS = 1_000;
/** What a shell says of a command that signal 9 ended. */
const KILLED = 137;
const STATUS_BYTES = 16;

export interface Enclosed {
  readonly child: ChildProcess;
  /** Its first process by this machine's numbers. */
  readonly pid: number;
  /** The folder that it sees as `CONTROL`. */
  readonly control: string;
  /** As which user of this machine it runs, if not as this process's: that one must be able to use the pipes. */
  readonly foreign: boolean;
  /** Why it has ended, beside what its process says. */
  readonly reason: () => string | null;
  /** How often processes ended because its memory was used up. */
  readonly overfull: () => number;
  readonly memoryGb: number;
  readonly onEnd: () => Promise<void>;
}

/** A sandbox of bubblewrap, whose supervisor has said that it is ready. */
export class BubblewrapSandbox implements WalledSandbox {
  readonly ended: Promise<string>;
  readonly #enclosed: Enclosed;
  readonly #exposed = new Map<number, Promise<{ server: Server; url: string }>>();
  readonly #sockets = new Set<Socket>();
  #gone: string | null = null;
  #told = false;
  #next = 0;

  constructor(enclosed: Enclosed) {
    this.#enclosed = enclosed;
    const { child, onEnd, reason } = enclosed;
    const exited = new Promise<void>((resolve) => {
      if (child.exitCode !== null || child.signalCode !== null) resolve();
      else child.once("exit", () => resolve());
    });
    this.ended = exited.then(async () => {
      this.#gone = reason() ?? (this.#told ? "it was told to" : "its first process was ended");
      for (const socket of this.#sockets) socket.destroy();
      for (const opened of this.#exposed.values())
        void opened.then(
          ({ server }) => server.close(),
          () => undefined,
        );
      await onEnd();
      return this.#gone;
    });
  }

  async run({ command, input, maxBytes, signal, timeoutSeconds, workingDir }: WalledCommand): Promise<WalledResult> {
    const number = this.#number();
    const path = (what: string): string => join(this.#enclosed.control, `${number}.${what}`);
    const pipes = [path("out"), path("err"), path("status")];
    const files: [string, string | Uint8Array][] = [[path("command"), command]];
    if (workingDir !== null) files.push([path("folder"), workingDir]);
    if (input !== null) files.push([path("in"), input]);
    const opened: BoundedPipe[] = [];
    const before = this.#enclosed.overfull();
    try {
      await Promise.all([makePipes(pipes, this.#enclosed.foreign ? 0o666 : 0o600), ...files.map(([at, content]) => this.#put(at, content))]);
      for (const at of pipes) opened.push(await BoundedPipe.open(at, at.endsWith("status") ? STATUS_BYTES : maxBytes));
      const [out, err, status] = opened as [BoundedPipe, BoundedPipe, BoundedPipe];
      this.#say(`run ${number}`);
      await this.#outcome(number, status, timeoutSeconds, signal);
      const code = /^(\d+)\n/.exec(status.output.bytes.toString("latin1"))?.[1];
      await lastWords(out, err);
      const stderr = err.output;
      const note = this.#enclosed.overfull() > before ? `edgewise: a process was ended: the ${this.#enclosed.memoryGb} GB of this sandbox were used up\n` : "";
      return {
        stdout: out.output,
        stderr: note === "" ? stderr : { ...stderr, bytes: Buffer.concat([stderr.bytes, Buffer.from(note)]) },
        exitCode: code === undefined ? KILLED : Number(code),
      };
    } finally {
      for (const pipe of opened) pipe.close();
      if (this.#gone === null) this.#say(`over ${number}`);
      await Promise.all([...pipes, ...files.map(([at]) => at)].map((at) => unlink(at).catch(() => undefined)));
    }
  }

  async expose(port: number): Promise<string> {
    this.#check();
    let opened = this.#exposed.get(port);
    if (opened === undefined) {
      opened = this.#open(port);
      this.#exposed.set(port, opened);
    }
    return (await opened).url;
  }

  async end(): Promise<void> {
    this.#told = true;
    // Its first process: the kernel ends all others with it, and the one that waits for it only then.
    try {
      process.kill(this.#enclosed.pid, "SIGKILL");
    } catch {
      // It has ended.
    }
    await this.ended;
  }

  /** Waits until the status is there; ends the command where it may not go on. */
  async #outcome(number: number, status: BoundedPipe, timeoutSeconds: number, signal: AbortSignal | null): Promise<void> {
    const over = Promise.race([status.said.then(() => null), this.ended]);
    let timer: NodeJS.Timeout | undefined;
    let abort: (() => void) | undefined;
    const late = new Promise<Error>((resolve) => {
      timer = setTimeout(() => resolve(new CommandTimedOut(`the command took longer than ${timeoutSeconds} s`)), timeoutSeconds * 1_000);
      abort = () => resolve(signal?.reason instanceof Error ? signal.reason : new SandboxError("nobody waits for the command any more"));
      signal?.addEventListener("abort", abort, { once: true });
      if (signal?.aborted) abort();
    });
    try {
      const first = await Promise.race([over, late]);
      if (first === null) return;
      if (first instanceof Error) {
        this.#say(`end ${number}`);
        // What somebody in the sandbox did that keeps it from ending is theirs: the command still took too long.
        const gone = await Promise.race([over, new Promise<null>((resolve) => void setTimeout(resolve, END_MS, null).unref())]);
        if (gone === null) throw first;
      }
      throw new SandboxError(`the sandbox has ended: ${await this.ended}`);
    } finally {
      clearTimeout(timer);
      if (abort !== undefined) signal?.removeEventListener("abort", abort);
    }
  }

  /** Each connection is a command, which the shell's own `/dev/tcp` brings to the port. */
  async #open(port: number): Promise<{ server: Server; url: string }> {
    const server = createServer((socket) => {
      this.#sockets.add(socket.once("close", () => this.#sockets.delete(socket)));
      const number = this.#next++;
      const way = {
        path: (what: string) => join(this.#enclosed.control, `${number}.${what}`),
        mode: this.#enclosed.foreign ? 0o666 : 0o600,
        say: (word: string) => {
          if (this.#gone === null) this.#say(`${word} ${number}`);
        },
        put: (at: string, content: string) => this.#put(at, content),
      };
      void bridge(socket, port, way).catch(() => socket.destroy());
    });
    await new Promise<void>((resolve, reject) => server.once("error", reject).listen(0, "127.0.0.1", resolve));
    server.unref();
    return { server, url: `http://127.0.0.1:${(server.address() as { port: number }).port}` };
  }

  async #put(path: string, content: string | Uint8Array): Promise<void> {
    await writeFile(path, content, { mode: 0o600 });
    if (this.#enclosed.foreign) await chmod(path, 0o644);
  }

  #number(): number {
    this.#check();
    return this.#next++;
  }

  #check(): void {
    if (this.#gone !== null) throw new SandboxError(`the sandbox has ended: ${this.#gone}`);
  }

  #say(line: string): void {
    this.#enclosed.child.stdin?.write(`${line}\n`);
  }
}

/** Until nobody can write any more, or what still may has been silent for a moment: a job that a command left behind holds its output. */
async function lastWords(out: BoundedPipe, err: BoundedPipe): Promise<void> {
  let over = false;
  const ended = Promise.all([out.ended, err.ended]).then(() => {
    over = true;
  });
  const begin = Date.now();
  for (let seen = -1; !over && Date.now() - begin < LAST_WORDS_AT_MOST_MS && seen !== out.seen + err.seen; ) {
    seen = out.seen + err.seen;
    await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, LAST_WORDS_MS))]);
  }
}

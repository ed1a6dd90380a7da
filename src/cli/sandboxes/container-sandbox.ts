import { type ChildProcess, spawn } from "node:child_process";
import { createServer, type Server, type Socket } from "node:net";
import type { Readable } from "node:stream";
import { CommandTimedOut } from "../../environments/sandbox/sandbox.ts";
import { SandboxError } from "../../errors/rollout-errors.ts";
import type { ContainerEngine } from "./container-engine.ts";
import { connectionTo } from "./port-bridge.ts";
import type { WalledCommand, WalledOutput, WalledResult, WalledSandbox } from "./wall.ts";

/** How long a command that was ended may take to be gone. */
const END_MS = 5_000;

/** `$0` = its file for the number of its process, which leads a session of its own; `$1` = the command line, `$2` = its folder or nothing. */
const COMMAND = 'echo $$ > "$0"; [ -z "$2" ] || cd -- "$2" || exit 1; exec sh -c "$1"';

/** A container, whose first process ends with `child`, the program that it is attached to. */
export class ContainerSandbox implements WalledSandbox {
  readonly ended: Promise<string>;
  readonly #engine: ContainerEngine;
  readonly #id: string;
  readonly #exposed = new Map<number, Promise<{ server: Server; url: string }>>();
  readonly #sockets = new Set<Socket>();
  #reason: string | null = null;
  #gone: string | null = null;
  #next = 0;

  constructor(engine: ContainerEngine, id: string, child: ChildProcess) {
    this.#engine = engine;
    this.#id = id;
    this.ended = new Promise<void>((resolve) => {
      child.once("exit", () => resolve()).once("error", () => resolve());
    }).then(async () => {
      this.#gone = this.#reason ?? "its first process was ended";
      for (const socket of this.#sockets) socket.destroy();
      for (const opened of this.#exposed.values())
        void opened.then(
          ({ server }) => server.close(),
          () => undefined,
        );
      // The program may have ended before its container.
      await this.#engine.ask(["rm", "--force", "--volumes", id]);
      return this.#gone;
    });
  }

  async run({ command, input, maxBytes, signal, timeoutSeconds, workingDir }: WalledCommand): Promise<WalledResult> {
    this.#check();
    signal?.throwIfAborted();
    const file = `/tmp/.edgewise-${this.#next++}`;
    const child = this.#exec(["sh", "-c", COMMAND, file, command, workingDir ?? ""], input !== null);
    if (input !== null) child.stdin?.end(input);
    const [out, err] = [bounded(child.stdout as Readable, maxBytes), bounded(child.stderr as Readable, maxBytes)];
    const exited = new Promise<number>((resolve) => {
      child.once("error", () => resolve(-1)).once("close", (code) => resolve(code ?? 137));
    });
    let timer: NodeJS.Timeout | undefined;
    let abort: (() => void) | undefined;
    const late = new Promise<Error>((resolve) => {
      timer = setTimeout(() => resolve(new CommandTimedOut(`the command took longer than ${timeoutSeconds} s`)), timeoutSeconds * 1_000);
      abort = () => resolve(signal?.reason instanceof Error ? signal.reason : new SandboxError("nobody waits for the command any more"));
      signal?.addEventListener("abort", abort, { once: true });
    });
    try {
      const first = await Promise.race([exited, late]);
      if (first instanceof Error) {
        await this.#engine.ask(["exec", this.#id, "sh", "-c", 'p=$(cat "$0"); kill -9 "-$p" 2>/dev/null || kill -9 "$p"', file]);
        await Promise.race([exited, new Promise((resolve) => setTimeout(resolve, END_MS).unref())]);
        child.kill("SIGKILL");
        throw first;
      }
      if (this.#gone !== null) throw new SandboxError(`the sandbox has ended: ${this.#gone}`);
      // What the program itself ends with, where the container is not there, or nothing could be started.
      if (first === -1 || (first === 1 && /No such container|is not running|no container with name/.test(err().bytes.toString("latin1", 0, 1_000))))
        throw new SandboxError(`${this.#engine.name} runs nothing in the sandbox: ${err().bytes.toString("utf8", 0, 500).trim()}`);
      return { stdout: out(), stderr: err(), exitCode: first };
    } finally {
      clearTimeout(timer);
      if (abort !== undefined) signal?.removeEventListener("abort", abort);
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

  async end(reason = "it was told to"): Promise<void> {
    this.#reason ??= reason;
    await this.#engine.ask(["rm", "--force", "--volumes", this.#id]);
    await this.ended;
  }

  async #open(port: number): Promise<{ server: Server; url: string }> {
    const server = createServer((socket) => {
      this.#sockets.add(socket.once("close", () => this.#sockets.delete(socket)));
      const child = this.#exec(["sh", "-c", connectionTo(port)], true);
      for (const each of [socket, child.stdin, child.stdout]) each?.on("error", () => undefined);
      child.stderr?.resume();
      if (child.stdin !== null) socket.pipe(child.stdin);
      child.stdout?.pipe(socket);
      socket.once("close", () => child.kill("SIGKILL"));
    });
    await new Promise<void>((resolve, reject) => server.once("error", reject).listen(0, "127.0.0.1", resolve));
    server.unref();
    return { server, url: `http://127.0.0.1:${(server.address() as { port: number }).port}` };
  }

  #exec(command: readonly string[], input: boolean): ChildProcess {
    const child = spawn(this.#engine.name, ["exec", ...(input ? ["--interactive"] : []), this.#id, ...command], {
      env: this.#engine.env,
      detached: true,
      stdio: [input ? "pipe" : "ignore", "pipe", "pipe"],
    });
    child.on("error", () => undefined);
    child.stdin?.on("error", () => undefined);
    return child;
  }

  #check(): void {
    if (this.#gone !== null) throw new SandboxError(`the sandbox has ended: ${this.#gone}`);
  }
}

/** Keeps so much of what comes, and throws away the rest. */
function bounded(stream: Readable, limit: number): () => WalledOutput {
  const chunks: Buffer[] = [];
  let [kept, truncated] = [0, false];
  stream.on("data", (bytes: Buffer) => {
    const room = limit - kept;
    if (bytes.length > room) truncated = true;
    if (room <= 0) return;
    chunks.push(Buffer.from(bytes.subarray(0, room)));
    kept += Math.min(room, bytes.length);
  });
  return () => ({ bytes: Buffer.concat(chunks), truncated });
}

import childProcess, { type ChildProcess } from "node:child_process";
import { rmSync } from "node:fs";
import http, { type IncomingMessage, type RequestListener, type Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";

export type Spawn = (command: string, args: readonly string[], options: Record<string, unknown>) => ChildProcess;

/**
 * Starts the runtime in a process group of its own, and tells its process number. Ctrl-C reaches every process of the terminal's foreground group;
 * the runtime would die of it at once, with finished rollouts still unsaved, while this process asks it to stop in order. It listens on the
 * Unix socket `socketPath`, where no page reaches it, instead of a port (null: on the port), and never outlives this process, except on Windows.
 * Miniflare has no option for any of it, so its call to `spawn` is intercepted. The answer undoes that; call it when the service has ended.
 */
export function ownRuntimeProcess(socketPath: string | null, onSpawn: (child: ChildProcess) => void): () => void {
  const node = childProcess as { spawn: Spawn };
  const original = node.spawn;
  const intercepted: Spawn = (command, args, options) => {
    // Miniflare spawns nothing else with this first argument.
    if (args[0] !== "serve") return original(command, args, options);
    const child = spawnBound(original, command, socketPath === null ? args : onSocket(args, socketPath), { ...options, detached: true });
    onSpawn(child);
    return child;
  };
  node.spawn = intercepted;
  return () => {
    if (node.spawn === intercepted) node.spawn = original;
  };
}

/** Where the runtime, or whoever keeps watch beside it, finds the pipe that this process holds the other end of; miniflare uses those below. */
const BOUND_FD = 4;

/**
 * The runtime takes the shell's place, and so its number, group and pipes. What stays beside it waits for the end of the pipe, which comes when
 * this process ends however it does, and ends their group: a number that no other process can have as long as it has a member.
 */
const BOUND = `(exec 0<&${BOUND_FD} >/dev/null 2>&1 3>&- ${BOUND_FD}<&-; read -r _; kill -9 0) & exec ${BOUND_FD}<&-; exec "$0" "$@"`;

/** A child whose group is killed when this process ends, even by a signal that nobody can answer. Windows has neither groups nor this shell. */
export function spawnBound(spawn: Spawn, command: string, args: readonly string[], options: Record<string, unknown>): ChildProcess {
  if (process.platform === "win32") return spawn(command, args, options);
  const child = spawn("/bin/sh", ["-c", BOUND, command, ...args], { ...options, stdio: [...(options.stdio as readonly string[]), "pipe"] });
  const bond = child.stdio[BOUND_FD] as Socket | undefined;
  bond?.on("error", () => undefined).unref();
  // The one that waits has nothing to wait for any more.
  child.once("exit", () => bond?.destroy());
  return child;
}

/** The address of the entry, which is the one socket of the runtime that leads outside. */
const ENTRY = "--socket-addr=entry=";

function onSocket(args: readonly string[], socketPath: string): readonly string[] {
  if (!args.some((arg) => arg.startsWith(ENTRY))) throw new Error(`the runtime was not given ${ENTRY}`);
  // Left by a runtime that was killed; the name must be free.
  rmSync(socketPath, { force: true });
  return args.map((arg) => (arg.startsWith(ENTRY) ? `${ENTRY}unix:${socketPath}` : arg));
}

/** Which every request of the runtime to its parent carries. */
const PARENT_SECRET = "mf-loopback-secret";

/**
 * Miniflare listens on a port of its own for its runtime, and parses the target of any request before it asks for the secret: `//` ends the
 * process. Until the answer is called, HTTP servers that are created answer nothing that lacks the secret or names no path.
 */
export function guardedServers(): () => void {
  const node = http as { createServer: (...args: never[]) => Server };
  const original = node.createServer;
  const guarded = ((...args: [RequestListener]): Server => guard((original as unknown as (...args: [RequestListener]) => Server)(...args))) as never;
  node.createServer = guarded;
  return () => {
    if (node.createServer === guarded) node.createServer = original;
  };
}

function guard(server: Server): Server {
  const emit = server.emit.bind(server) as (event: string, ...args: unknown[]) => boolean;
  server.emit = ((event: string, ...args: unknown[]): boolean => {
    const [request, answer] = args as [IncomingMessage, ServerResponse | Duplex];
    if (!(request instanceof http.IncomingMessage) || isOfRuntime(request)) return emit(event, ...args);
    if (answer instanceof ServerResponse) answer.writeHead(403, { connection: "close" }).end();
    else answer.destroy();
    return true;
  }) as typeof server.emit;
  return server;
}

const isOfRuntime = ({ headers, url = "" }: IncomingMessage): boolean => headers[PARENT_SECRET] !== undefined && URL.canParse(url, "http://localhost");

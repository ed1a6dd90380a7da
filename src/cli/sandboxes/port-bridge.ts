import { constants, open } from "node:fs";
import { unlink } from "node:fs/promises";
import { Socket } from "node:net";
import { makePipes } from "./command-pipes.ts";

/** How one connection becomes a command of a sandbox. */
export interface BridgeWay {
  readonly path: (what: string) => string;
  readonly mode: number;
  readonly say: (word: "run" | "end" | "over") => void;
  readonly put: (path: string, content: string) => Promise<void>;
}

/** Bash connects, which needs no program for it in the sandbox; what the other side says last is passed on before the end. */
export const connectionTo = (port: number): string =>
  `exec bash -c 'exec 3<>/dev/tcp/127.0.0.1/${port} || exit 1; cat <&3 & reader=$!; cat <&0 >&3 & writer=$!; wait $reader; kill $writer'`;

/** Joins a connection with a port of a sandbox, until either side ends it. */
export async function bridge(socket: Socket, port: number, { mode, path, put, say }: BridgeWay): Promise<void> {
  const pipes = [path("in"), path("out"), path("err"), path("status")];
  try {
    await Promise.all([makePipes(pipes, mode), put(path("command"), connectionTo(port))]);
    // Opened for both, so that neither waits for the other side; and the errors, so that their writer does not.
    const [input, output, errors, status] = await Promise.all([
      opened(path("in"), constants.O_RDWR),
      opened(path("out"), constants.O_RDONLY),
      opened(path("err"), constants.O_RDONLY),
      opened(path("status"), constants.O_RDONLY),
    ]);
    const into = new Socket({ fd: input, readable: false, writable: true });
    const ends = [output, errors, status].map((fd) => new Socket({ fd, readable: true, writable: false }));
    const [out, err, over] = ends as [Socket, Socket, Socket];
    const close = (): void => {
      say("end");
      for (const each of [into, out, err, over]) each.destroy();
    };
    for (const each of [socket, into, out, err, over]) each.on("error", () => undefined);
    err.resume();
    over.resume();
    say("run");
    socket.pipe(into);
    out.pipe(socket);
    await new Promise<void>((resolve) => socket.once("close", () => resolve()));
    close();
  } finally {
    socket.destroy();
    say("over");
    await Promise.all([...pipes, path("command")].map((at) => unlink(at).catch(() => undefined)));
  }
}

const opened = (path: string, flags: number): Promise<number> =>
  new Promise((resolve, reject) => open(path, flags | constants.O_NONBLOCK, (error, fd) => (error === null ? resolve(fd) : reject(error))));

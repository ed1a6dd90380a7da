import { execFile } from "node:child_process";
import { close, constants, open } from "node:fs";
import { chmod } from "node:fs/promises";
import { Socket } from "node:net";
import { promisify } from "node:util";
import type { WalledOutput } from "./wall.ts";

const LINE_END = 10;
const run = promisify(execFile);

/** Makes named pipes. `mode` as of `chmod`. */
export async function makePipes(paths: readonly string[], mode: number): Promise<void> {
  await run("mkfifo", [...paths]);
  // Not by mkfifo's own option, which the mask of this process would narrow.
  await Promise.all(paths.map((path) => chmod(path, mode)));
}

/** The reading end of a named pipe, which keeps so much and throws away the rest, so that who writes never waits for long. */
export class BoundedPipe {
  readonly #socket: Socket;
  readonly #chunks: Buffer[] = [];
  readonly #limit: number;
  #kept = 0;
  #truncated = false;
  #seen = 0;
  /** Resolves when nobody can write to it any more. It must have been opened for writing once. */
  readonly ended: Promise<void>;
  /** Resolves with the first line, too. */
  readonly said: Promise<void>;
  #onLine: () => void = () => undefined;

  private constructor(descriptor: number, limit: number) {
    this.#limit = limit;
    this.#socket = new Socket({ fd: descriptor, readable: true, writable: false });
    this.ended = new Promise((resolve) => {
      this.#socket.once("close", () => resolve());
    });
    this.said = Promise.race([
      this.ended,
      new Promise<void>((resolve) => {
        this.#onLine = resolve;
      }),
    ]);
    this.#socket.on("error", () => undefined);
    this.#socket.on("data", (bytes: Buffer) => this.#take(bytes));
  }

  /** Opens it whether or not somebody writes yet. */
  static async open(path: string, limit: number): Promise<BoundedPipe> {
    const descriptor = await new Promise<number>((resolve, reject) =>
      open(path, constants.O_RDONLY | constants.O_NONBLOCK, (error, opened) => (error === null ? resolve(opened) : reject(error))),
    );
    try {
      return new BoundedPipe(descriptor, limit);
    } catch (thrown) {
      close(descriptor, () => undefined);
      throw thrown;
    }
  }

  #take(bytes: Buffer): void {
    this.#seen += bytes.length;
    if (bytes.includes(LINE_END)) this.#onLine();
    const room = this.#limit - this.#kept;
    if (bytes.length > room) this.#truncated = true;
    if (room <= 0) return;
    // A copy: a part of a chunk would keep the whole of it.
    this.#chunks.push(Buffer.from(bytes.subarray(0, room)));
    this.#kept += Math.min(room, bytes.length);
  }

  /** Bytes that came so far, kept or not. */
  get seen(): number {
    return this.#seen;
  }

  get output(): WalledOutput {
    return { bytes: Buffer.concat(this.#chunks), truncated: this.#truncated };
  }

  close(): void {
    this.#socket.destroy();
  }
}

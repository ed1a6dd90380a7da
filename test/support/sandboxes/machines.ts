import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

export interface Machine {
  readonly id: string;
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  readonly labels: readonly string[];
  readonly madeAt: Date;
}

export type Event =
  | { readonly start: number }
  | { readonly stdout: Buffer }
  | { readonly stderr: Buffer }
  | { readonly code: number | null; readonly signal: string | null };

/** What scripted providers have in place of machines: folders of this one, and processes in them that do what they are told. */
export class Machines {
  readonly made = new Map<string, Machine>();
  #count = 0;

  create(env: Readonly<Record<string, string>>, labels: readonly string[]): Machine {
    const machine = {
      id: `m${++this.#count}x${Math.random().toString(36).slice(2, 8)}`,
      folder: mkdtempSync(join(tmpdir(), "edgewise-machine-")),
      env,
      labels,
      madeAt: new Date(),
    };
    this.made.set(machine.id, machine);
    return machine;
  }

  delete(id: string): boolean {
    const machine = this.made.get(id);
    if (machine !== undefined) rmSync(machine.folder, { recursive: true, force: true });
    return this.made.delete(id);
  }

  /** Runs a program and tells what comes of it; it goes on when nobody listens any more, as it does there. */
  run({ folder, env }: Machine, cmd: string, args: readonly string[], cwd: string | undefined, tell: (event: Event) => void): void {
    const child = spawn(cmd, args, { cwd: cwd ?? folder, env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "pipe"] });
    tell({ start: child.pid ?? 0 });
    child.stdout.on("data", (stdout: Buffer) => tell({ stdout }));
    child.stderr.on("data", (stderr: Buffer) => tell({ stderr }));
    child.once("close", (code, signal) => tell({ code, signal }));
  }

  write({ folder }: Machine, path: string, content: Uint8Array): void {
    const file = within(folder, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
  }

  read({ folder }: Machine, path: string): Uint8Array<ArrayBuffer> | null {
    const file = within(folder, path);
    return existsSync(file) ? new Uint8Array(readFileSync(file)) : null;
  }
}

const within = (folder: string, path: string): string => (path.startsWith(`${folder}/`) ? path : join(folder, path));

/** A streaming answer of the Connect protocol: `write` frames a message, `end` the last one. */
export function connectAnswer(
  contentType: string,
  begin: (stream: { write: (message: Uint8Array) => void; end: (error?: { code: string; message: string }) => void }) => void,
): Response {
  let over = false;
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      const frame = (flags: number, message: Uint8Array): void => {
        if (over) return;
        const head = Buffer.alloc(5);
        head.writeUInt8(flags, 0);
        head.writeUInt32BE(message.length, 1);
        const framed = Buffer.concat([head, message]);
        // As networks do: not where messages end.
        const middle = Math.ceil(framed.length / 2);
        controller.enqueue(new Uint8Array(framed.subarray(0, middle)));
        controller.enqueue(new Uint8Array(framed.subarray(middle)));
      };
      begin({
        write: (message) => frame(0, message),
        end: (error) => {
          frame(2, Buffer.from(JSON.stringify(error === undefined ? {} : { error })));
          if (!over) controller.close();
          over = true;
        },
      });
    },
    cancel: () => {
      over = true;
    },
  });
  return new Response(body, { headers: { "content-type": contentType } });
}

/** The one message of a streaming request. */
export async function framedMessage(request: Request): Promise<Buffer> {
  const body = Buffer.from(await request.arrayBuffer());
  if (body.readUInt8(0) !== 0 || body.readUInt32BE(1) !== body.length - 5) throw new Error("the request is no single message of the Connect protocol");
  return body.subarray(5);
}

export const json = (value: unknown, status = 200, headers: Record<string, string> = {}): Response => Response.json(value, { status, headers });

import { parseShallow } from "../../config/json-depth.ts";
import type { JsonObject } from "../../config/plan/run-config.ts";
import { InfraError } from "../../errors/rollout-errors.ts";

/** The part of the platform's WebSocket that a session needs; the same in workerd and in Node from 22 on. */
export interface Socket {
  send(text: string): void;
  close(): void;
  addEventListener(type: "open" | "close" | "error" | "message", hear: (event: { readonly data?: unknown; readonly message?: unknown }) => void): void;
}

/** Time for a connection, and for an answer: openenv-core's own client (`env_client.py`) waits as long. */
const CONNECT_MS = 10_000;
const ANSWER_MS = 60_000;

/** The server refused what it was asked; the session goes on. */
export class OpenEnvRefusal extends Error {
  override readonly name = "OpenEnvRefusal";
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

interface Asked {
  readonly resolve: (answer: JsonObject) => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * Questions and answers over one WebSocket, in their order. A connection that ends, or is silent for a minute, ends all that wait with an `InfraError`; what the server
 * answers with an error is an `OpenEnvRefusal`.
 */
export class OpenEnvSocket {
  readonly #socket: Socket;
  readonly #opened: Promise<void>;
  readonly #asked: Asked[] = [];
  #over: Error | null = null;
  #ended = false;

  constructor(socket: Socket) {
    this.#socket = socket;
    this.#opened = new Promise((resolve, reject) => {
      const late = setTimeout(() => this.#end(`no connection within ${CONNECT_MS / 1_000} s`), CONNECT_MS);
      this.#asked.push({
        resolve: () => {
          clearTimeout(late);
          resolve();
        },
        reject: (reason) => {
          clearTimeout(late);
          reject(reason);
        },
      });
      socket.addEventListener("open", () => this.#asked.shift()?.resolve({}));
    });
    // Whoever asks is told; a session that nobody asks anything is nobody's.
    this.#opened.catch(() => undefined);
    socket.addEventListener("message", ({ data }) => this.#hear(data));
    socket.addEventListener("error", ({ message }) => this.#end(typeof message === "string" && message !== "" ? message : "the connection failed"));
    socket.addEventListener("close", () => this.#end("the server closed the connection"));
  }

  /** The `data` of the answer. */
  async ask(type: string, data?: JsonObject): Promise<JsonObject> {
    await this.#opened;
    if (this.#over !== null) throw this.#over;
    return await new Promise((resolve, reject) => {
      const late = setTimeout(() => this.#end(`no answer within ${ANSWER_MS / 1_000} s`), ANSWER_MS);
      const done =
        <T>(then: (value: T) => void) =>
        (value: T): void => {
          clearTimeout(late);
          then(value);
        };
      this.#asked.push({ resolve: done(resolve), reject: done(reject) });
      this.#socket.send(JSON.stringify(data === undefined ? { type } : { type, data }));
    });
  }

  close(): void {
    if (this.#ended) return;
    try {
      this.#socket.send(JSON.stringify({ type: "close" }));
    } catch {
      // It was not open yet.
    }
    this.#end("the session was closed");
  }

  #hear(data: unknown): void {
    let answer: { readonly type?: unknown; readonly data?: unknown };
    try {
      answer = parseShallow(String(data)) as typeof answer;
      if (typeof answer !== "object" || answer === null) throw new TypeError("no object");
    } catch {
      this.#end("it answered what is no message");
      return;
    }
    const said = (typeof answer.data === "object" && answer.data !== null ? answer.data : {}) as JsonObject;
    if (answer.type !== "error") {
      this.#asked.shift()?.resolve(said);
      return;
    }
    const refusal = new OpenEnvRefusal(String(said.code ?? ""), refusalText(said));
    const waiting = this.#asked.shift();
    // Unasked, as of a server that has no room: the next question's.
    if (waiting === undefined) this.#over ??= refusal;
    else waiting.reject(refusal);
  }

  #end(reason: string): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#over ??= new InfraError(`the OpenEnv server cannot be talked to: ${reason}`);
    for (const { reject } of this.#asked.splice(0)) reject(this.#over);
    this.#socket.close();
  }
}

/** What is wrong with which field, where the server says so. */
function refusalText({ message, errors }: JsonObject): string {
  const text = typeof message === "string" ? message : "an error without a message";
  const details = (Array.isArray(errors) ? errors : []).slice(0, 10).flatMap((each) => {
    const { loc, msg } = (each ?? {}) as { readonly loc?: unknown; readonly msg?: unknown };
    return typeof msg === "string" ? [`${Array.isArray(loc) ? `${loc.join(".")}: ` : ""}${msg}`] : [];
  });
  return details.length === 0 ? text : `${text}: ${details.join("; ")}`;
}

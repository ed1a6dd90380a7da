/** The protocol by which a Chromium is steered (https://chromedevtools.github.io/devtools-protocol/). */
export interface DevToolsEvent {
  readonly method: string;
  readonly params: object;
}

interface Message extends Partial<DevToolsEvent> {
  readonly id?: number;
  readonly sessionId?: string;
  readonly result?: unknown;
  readonly error?: { readonly message: string };
}

export class DevTools {
  readonly #socket: WebSocket;
  readonly #limitMs: number;
  readonly #waiting = new Map<number, (message: Message) => void>();
  readonly #listeners = new Map<string, ((event: DevToolsEvent) => void)[]>();
  #last = 0;

  private constructor(socket: WebSocket, limitMs: number) {
    this.#socket = socket;
    this.#limitMs = limitMs;
    socket.addEventListener("message", ({ data }) => this.#heard(JSON.parse(String(data)) as Message));
  }

  /** `limitMs`: how long an answer may take. */
  static async connect(url: string, limitMs: number): Promise<DevTools> {
    const socket = new WebSocket(url);
    await new Promise<void>((resolve, reject) => {
      socket.addEventListener("open", () => resolve());
      socket.addEventListener("error", () => reject(new Error(`no connection to ${url}`)));
    });
    return new DevTools(socket, limitMs);
  }

  ask<T = unknown>(method: string, params: object, sessionId?: string): Promise<T> {
    const id = ++this.#last;
    return new Promise<T>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`${method}: no answer within ${this.#limitMs} ms`)), this.#limitMs);
      this.#waiting.set(id, ({ result, error }) => {
        clearTimeout(timer);
        if (error === undefined) resolve(result as T);
        else reject(new Error(`${method}: ${error.message}`));
      });
      this.#socket.send(JSON.stringify({ id, method, params, ...(sessionId === undefined ? {} : { sessionId }) }));
    });
  }

  listen(sessionId: string, listener: (event: DevToolsEvent) => void): void {
    this.#listeners.set(sessionId, [...(this.#listeners.get(sessionId) ?? []), listener]);
  }

  once(sessionId: string, method: string, limitMs: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`no ${method} within ${limitMs} ms`)), limitMs);
      this.listen(sessionId, (event) => {
        if (event.method !== method) return;
        clearTimeout(timer);
        resolve();
      });
    });
  }

  close(): void {
    this.#socket.close();
  }

  #heard(message: Message): void {
    if (message.id !== undefined) {
      this.#waiting.get(message.id)?.(message);
      this.#waiting.delete(message.id);
    } else if (message.method !== undefined) {
      for (const listener of this.#listeners.get(message.sessionId ?? "") ?? []) listener({ method: message.method, params: message.params ?? {} });
    }
  }
}

import type { RunView } from "../../../durable-objects/run/control.ts";
import type { AiBinding } from "../../../src/clients/client.ts";
import { Executor } from "../../../src/executor/executor.ts";
import { IsolateBytes } from "../../../src/executor/isolate-bytes.ts";
import type { ExecutorBudget, ExecutorPorts } from "../../../src/executor/ports.ts";
import { Isolate } from "../../../src/executor/session/isolate.ts";
import { budgetOf, portsOf } from "../../../src/executor/hosting/worker-executor.ts";
import { whenSettled } from "./runs.ts";
import { pause, service, setQueue } from "./service.ts";

/** A call of an executor on its way out. `send` carries it out; what the hook returns or throws is what the executor sees. */
export interface Call {
  readonly by: Invocation;
  readonly method: string;
  readonly args: readonly unknown[];
  readonly send: () => Promise<unknown>;
}
export type Hook = (call: Call) => Promise<unknown>;

export interface FleetOptions {
  readonly model: { readonly fetch: (url: string, init: RequestInit) => Promise<Response> };
  /** Executors at once; a message that finds so many is acknowledged and forgotten. */
  readonly executors?: number;
  readonly budget?: Partial<ExecutorBudget>;
  /** How often each message of the queue is delivered. */
  readonly deliveries?: number;
  /** On calls to the Run, to storage and to the model. */
  readonly onRun?: Hook;
  readonly onStore?: Hook;
  /** On calls to the desks of kept answers. */
  readonly onDesk?: Hook;
  readonly onFetch?: Hook;
  /** By how much the waits of executors between requests (300 ms and longer) are shortened; default 1. */
  readonly haste?: number;
  /** In place of the environments that the service was put together with. */
  readonly offered?: ExecutorPorts["offered"];
  /** Digest of every environment, for an executor of another version. */
  readonly envDigest?: string;
  /** Memory that these executors share; default as much as they like. */
  readonly bytes?: IsolateBytes;
  /** What an executor that begins now shares with others; absent = each has its own. */
  readonly isolate?: () => Isolate;
  /** In place of the binding that a deployment may have. */
  readonly ai?: AiBinding;
}

/** What a dead executor gets for an answer. */
export const NEVER = new Promise<never>(() => undefined);
const unlimited = Number.POSITIVE_INFINITY;
const NO_SLICES = { slice: unlimited, wanted: unlimited, wall: unlimited, rollouts: unlimited, subrequests: unlimited, unitDeadline: null, connections: null };

/** One executor with a life of its own: `kill` is the power cut, after which nothing it does has an effect. */
export class Invocation {
  readonly id = crypto.randomUUID();
  readonly logs: string[] = [];
  /** Resolves when the executor ends by itself; never when it is killed. */
  readonly ended: Promise<void>;
  #over = false;
  readonly #death = new AbortController();

  constructor(options: FleetOptions) {
    this.ended = new Executor(this.#ports(options), { ...budgetOf(service), ...NO_SLICES, ...options.budget }).run().then(() => {
      this.#over = true;
    });
  }

  get lives(): boolean {
    return !this.#over && !this.#death.signal.aborted;
  }

  kill(): void {
    this.#death.abort(new Error("killed"));
  }

  #ports(options: FleetOptions): ExecutorPorts {
    const { model, onRun, onStore, onDesk, onFetch, ai, offered, envDigest, bytes, isolate, haste = 1 } = options;
    const ports = portsOf(ai === undefined ? service : { ...service, AI: ai });
    ports.bytes.close();
    return {
      ...ports,
      id: this.id,
      bytes: (bytes ?? new IsolateBytes(unlimited)).open({ now: ports.now, sleep: (ms, signal) => this.#alive(() => ports.sleep(ms, signal)) }),
      isolate: isolate?.() ?? new Isolate(ports.now),
      ...(offered === undefined ? {} : { offered }),
      ...(envDigest === undefined ? {} : { envDigest: async () => envDigest }),
      dispatcher: () => this.#mortal(ports.dispatcher()),
      run: (runId) => this.#mortal(ports.run(runId), onRun),
      limiter: (name) => {
        const limiter = ports.limiter(name);
        return limiter === null ? null : this.#mortal(limiter);
      },
      answers: (team, digit) => {
        const desk = ports.answers(team, digit);
        return desk === null ? null : this.#mortal(desk, onDesk);
      },
      store: this.#mortal(ports.store, onStore),
      fetch: (url, init = {}) => {
        const signal = AbortSignal.any([this.#death.signal, ...(init.signal ? [init.signal] : [])]);
        const send = (): Promise<Response> => model.fetch(url, { ...init, signal });
        return this.#alive(() => (onFetch === undefined ? send() : (onFetch({ by: this, method: "fetch", args: [url, init], send }) as Promise<Response>)));
      },
      sleep: (ms, signal) => this.#alive(() => ports.sleep(ms < 300 ? ms : ms / haste, signal)),
      log: (message) => void this.logs.push(message),
    };
  }

  /** `target` with every call passed through `hook`, and through death. */
  #mortal<T extends object>(target: T, hook?: Hook): T {
    return new Proxy(target, {
      get: (_, method) => {
        const call: unknown = Reflect.get(target, method);
        if (typeof call !== "function") return call;
        return (...args: unknown[]) => {
          const send = (): Promise<unknown> => Reflect.apply(call, target, args) as Promise<unknown>;
          return this.#alive(() => (hook === undefined ? send() : hook({ by: this, method: String(method), args, send })));
        };
      },
    });
  }

  /** What `work` gives, or nothing ever once this executor is dead. */
  async #alive<T>(work: () => Promise<T>): Promise<T> {
    if (this.#death.signal.aborted) return NEVER;
    try {
      const value = await work();
      return this.#death.signal.aborted ? NEVER : value;
    } catch (thrown) {
      if (this.#death.signal.aborted) return NEVER;
      throw thrown;
    }
  }
}

/** Stands in for the platform between queue and consumers: each message the Dispatcher sends starts an executor, if there is room. */
export class Fleet {
  readonly executors: Invocation[] = [];
  /** Messages sent so far. */
  messages = 0;
  #waiting = 0;
  #closed = false;
  readonly #options: FleetOptions;
  readonly #pump: Promise<void>;

  constructor(options: FleetOptions) {
    this.#options = options;
    // Called inside the Dispatcher: an executor belongs to the test, whose I/O the object must not do.
    setQueue({
      sendBatch: async (messages) => {
        const sent = [...messages].length;
        this.messages += sent;
        this.#waiting += sent * (options.deliveries ?? 1);
        return { metadata: { metrics: { backlogCount: 0, backlogBytes: 0 } } };
      },
    });
    this.#pump = this.#deliver();
  }

  get living(): readonly Invocation[] {
    return this.executors.filter(({ lives }) => lives);
  }

  /** A further executor, as if a message had come. */
  start(changes: Partial<FleetOptions> = {}): Invocation {
    const executor = new Invocation({ ...this.#options, ...changes });
    this.executors.push(executor);
    return executor;
  }

  settled(runId: string, ms?: number): Promise<RunView> {
    return whenSettled(runId, ms);
  }

  /** Ends everything this fleet has started. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const executor of this.executors) executor.kill();
    await this.#pump;
  }

  async #deliver(): Promise<void> {
    while (!this.#closed) {
      while (this.#waiting > 0) {
        this.#waiting--;
        if (this.living.length < (this.#options.executors ?? 1)) this.start();
      }
      await pause(5);
    }
  }
}

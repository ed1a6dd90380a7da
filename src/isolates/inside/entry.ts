import * as platform from "cloudflare:workers";
import type { Channel } from "../../environment-protocol/channel.ts";
import type { EnvironmentDefinition } from "../../environments/definition/definition.ts";
import { environmentOf } from "../../environments/definition/environment-of.ts";
import { knowSources } from "../../errors/own-frames.ts";
import { openSession } from "../../environment-session/session.ts";
import { printsTo } from "../../logging/worker-console.ts";
import { environmentFailed } from "../../rollouts/file-access.ts";
import { batchOf, textOf } from "../../environment-protocol/batch-text.ts";
import { PacedBatches } from "../../environment-protocol/paced-batches.ts";

/** What the host of an isolate is known by in it. */
interface HostStub extends Disposable {
  deliver(batch: string): Promise<void>;
  dup(): HostStub;
}

/** The code of the one environment that an isolate has. */
export interface IsolatedCode {
  /** Its digest. */
  readonly source: string;
  /** Name of its module, as stacks have it. */
  readonly script: string;
  readonly module: () => Promise<Readonly<Record<string, unknown>>>;
  /** Source map of the module as JSON; "" where there is none. */
  readonly map: () => Promise<string>;
}

/** Code that broke when it was loaded stays so for as long as its isolate lives. */
let isSpoiled = false;

async function definitionOf({ source, script, module, map }: IsolatedCode): Promise<EnvironmentDefinition> {
  try {
    // Before the module, whose errors are told by their places too.
    const sources = await map();
    if (sources !== "") knowSources(script, sources);
    return environmentOf(await module(), source);
  } catch (thrown) {
    isSpoiled = true;
    throw environmentFailed("the environment could not be loaded", thrown);
  }
}

/** One session with this isolate, of one host. */
class IsolateSession extends platform.RpcTarget {
  readonly #host: HostStub;
  readonly #channel: Channel;
  readonly #ended = Promise.withResolvers<void>();
  readonly #out: PacedBatches;
  #over = false;

  constructor(host: HostStub, code: IsolatedCode) {
    super();
    this.#host = host;
    this.#out = new PacedBatches({ call: (batch) => host.deliver(batch), failed: () => this[Symbol.dispose]() });
    this.#channel = { send: (batch) => this.#send(batch), onBatch: () => undefined, onBroken: () => undefined, close: () => this.#close() };
    openSession(() => definitionOf(code), this.#channel, { printsTo });
  }

  deliver(batch: string): void {
    if (!this.#over) this.#channel.onBatch(batchOf(batch));
  }

  /** Settles when the session is over: a host that waits for it hears of an isolate that ends. */
  over(): Promise<void> {
    return this.#ended.promise;
  }

  /** The host has let go of it. */
  [Symbol.dispose](): void {
    if (this.#over) return;
    this.#over = true;
    this.#ended.resolve();
    this.#host[Symbol.dispose]();
    this.#channel.onBroken({ code: "sandbox_error", message: "the host of this isolate is gone" });
    if (isSpoiled) abortIsolate();
  }

  #send(batch: readonly unknown[]): void {
    if (!this.#over) this.#out.send(textOf(batch));
  }

  /** The host hears what was said last before it hears that nothing more comes. */
  #close(): void {
    void this.#out.sent().then(() => this[Symbol.dispose]());
  }
}

/** Of the platform, which its types do not have: ends this isolate, and the next of its name is loaded anew. */
const abortIsolate = (): void => (platform as unknown as { abortIsolate(reason: string): void }).abortIsolate("dropped");

/** The class that the main module of an isolate exports: `begin` begins a session, `drop` ends the isolate, whoever works in it. */
export const isolateEntrypoint = (code: IsolatedCode) =>
  class extends platform.WorkerEntrypoint {
    begin(host: HostStub): IsolateSession {
      return new IsolateSession(host.dup(), code);
    }

    drop(): void {
      abortIsolate();
    }
  };

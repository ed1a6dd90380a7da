import { RpcTarget } from "cloudflare:workers";
import type { Channel } from "../environment-protocol/channel.ts";
import { EdgewiseError, type Failure, failureOf } from "../errors/result.ts";
import { ISOLATE_CPU_MS, ISOLATE_SUBREQUESTS, MAX_BATCH_CHARACTERS, WALLED_OPENING_MS } from "../limits.ts";
import { batchOf, textOf } from "../environment-protocol/batch-text.ts";
import type { IsolateLibrary } from "./built-library.ts";
import { COMPATIBILITY_DATE, COMPATIBILITY_FLAGS, ENTRYPOINT, ENVIRONMENT_MODULE, type IsolateCode, isolateModules, MAIN_MODULE } from "./isolate-modules.ts";
import { type IsolateIdentity, type IsolateNames, identityDigest } from "./isolate-names.ts";
import { PacedBatches } from "../environment-protocol/paced-batches.ts";

/** What a Worker makes isolates with. */
export interface IsolateHost {
  readonly loader: WorkerLoader;
  readonly library: IsolateLibrary;
  readonly names: IsolateNames;
  /** Where requests of an isolate go that may reach these hosts. */
  readonly outbound: (hosts: readonly string[]) => Fetcher;
  /** Isolates that nobody works in are ended here, and not by the platform. */
  readonly dropsIdle: boolean;
  /** Characters that may wait for one isolate to take them. */
  readonly mostWaiting: number;
  /** How long an isolate may take to begin a session, in milliseconds; default: as its environment to open. */
  readonly beginMs?: number;
}

/** Whose isolate it is, and what it has. */
export interface IsolatePlan extends Pick<IsolateIdentity, "team" | "hosts" | "secrets"> {
  readonly code: IsolateCode;
}

interface SessionStub extends Disposable {
  deliver(batch: string): Promise<void>;
  over(): Promise<void>;
}
interface EntryStub extends Disposable {
  begin(host: RpcTarget): Promise<SessionStub>;
  drop(): Promise<void>;
}

/** A session with an isolate. `drop` ends the isolate with it: whoever comes next gets a new one. */
export type IsolateChannel = Channel & Required<Pick<Channel, "drop">>;

/**
 * Begins a session with the isolate of an environment, which is loaded where none of its identity is. For the request that asks: of what it opens nothing may be
 * used by another. Throws `sandbox_error` for an isolate that does not begin.
 */
export async function openIsolate(host: IsolateHost, plan: IsolatePlan): Promise<IsolateChannel> {
  const { team, hosts, secrets, code } = plan;
  const name = host.names.enter(await identityDigest({ team, hosts, secrets, code: code.digest, library: host.library.digest }));
  if (host.dropsIdle) for (const idle of host.names.retireIdle()) end(entryOf(host, idle, plan));
  const entry = entryOf(host, name, plan);
  const channel = new OpenChannel(host, name, entry);
  try {
    await channel.begin();
  } catch (thrown) {
    channel.close();
    host.names.retire(name);
    throw startFailure(thrown);
  }
  return channel;
}

/** What is wrong in the environment's module is found when the isolate begins, and told with its place. All else may be otherwise the next time. */
function startFailure(thrown: unknown): EdgewiseError {
  const { message } = failureOf(thrown);
  if (message.includes(`at ${ENVIRONMENT_MODULE}:`))
    return new EdgewiseError(
      "environment_failed",
      `the environment could not be loaded: ${message.replace(/^Failed to start Worker:\s*(Uncaught )?/, "").replaceAll(/\s+/g, " ")}`,
    );
  return new EdgewiseError("sandbox_error", `the isolate of the environment could not be started: ${message}`, { cause: thrown, passing: true });
}

function entryOf({ loader, library, outbound }: IsolateHost, name: string, { code, hosts }: IsolatePlan): EntryStub {
  const limits = { cpuMs: ISOLATE_CPU_MS, subRequests: ISOLATE_SUBREQUESTS };
  const worker = loader.get(name, () => ({
    compatibilityDate: COMPATIBILITY_DATE,
    compatibilityFlags: COMPATIBILITY_FLAGS,
    mainModule: MAIN_MODULE,
    modules: isolateModules(code, library),
    env: {},
    globalOutbound: hosts.length === 0 ? null : outbound(hosts),
    limits,
  }));
  return worker.getEntrypoint(ENTRYPOINT) as unknown as EntryStub;
}

/** Whether it hears that or not: nobody asks for it by its name any more. */
const end = (entry: EntryStub): void => void entry.drop().catch(() => undefined);

/** What an isolate knows of its host: one function. */
class HostTarget extends RpcTarget {
  readonly #heard: (batch: unknown) => void;

  constructor(heard: (batch: unknown) => void) {
    super();
    this.#heard = heard;
  }

  deliver(batch: unknown): void {
    this.#heard(batch);
  }
}

class OpenChannel implements IsolateChannel {
  onBatch: Channel["onBatch"] = () => undefined;
  onBroken: Channel["onBroken"] = () => undefined;
  readonly #host: IsolateHost;
  readonly #name: string;
  readonly #entry: EntryStub;
  #session: SessionStub | null = null;
  #out: PacedBatches | null = null;
  #closed = false;

  constructor(host: IsolateHost, name: string, entry: EntryStub) {
    this.#host = host;
    this.#name = name;
    this.#entry = entry;
  }

  async begin(): Promise<void> {
    const session = await this.#begun();
    this.#session = session;
    this.#out = new PacedBatches({
      call: (batch) => session.deliver(batch),
      failed: (thrown) => this.#end(failureOf(thrown).message),
      most: this.#host.mostWaiting,
      full: () => this.#break({ code: "environment_error", message: "the environment does not take what it is sent, and asks for more" }),
    });
    session.over().then(
      () => this.#end("it has ended"),
      (thrown: unknown) => this.#end(failureOf(thrown).message),
    );
  }

  /** Code that was there before may have put itself in the place of what a session begins with: nobody waits for it without end. */
  async #begun(): Promise<SessionStub> {
    const { beginMs = WALLED_OPENING_MS } = this.#host;
    const begun = this.#entry.begin(new HostTarget((batch) => this.#hear(batch)));
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      late.reject(new Error(`it began no session within ${Math.round(beginMs / 1_000)} s`));
      begun.then(
        (session) => session[Symbol.dispose](),
        () => undefined,
      );
      end(this.#entry);
    }, beginMs);
    try {
      return await Promise.race([begun, late.promise]);
    } finally {
      clearTimeout(timer);
    }
  }

  send(batch: readonly unknown[]): void {
    if (!this.#closed) this.#out?.send(textOf(batch));
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#session?.[Symbol.dispose]();
    this.#host.names.leave(this.#name);
  }

  drop(): void {
    this.#host.names.retire(this.#name);
    end(this.#entry);
    this.close();
  }

  #hear(batch: unknown): void {
    if (this.#closed) return;
    if (typeof batch === "string" && batch.length > MAX_BATCH_CHARACTERS)
      return this.#break({ code: "environment_error", message: `the environment sent ${batch.length} characters at once; ${MAX_BATCH_CHARACTERS} are taken` });
    let messages: readonly unknown[];
    try {
      messages = batchOf(batch);
    } catch (thrown) {
      return this.#break({ code: "environment_error", message: `the environment sent what is no batch of messages: ${failureOf(thrown).message}` });
    }
    this.onBatch(messages);
  }

  #end(message: string): void {
    this.#break({ code: "sandbox_error", message: `the isolate of the environment is gone: ${message}` });
  }

  #break(reason: Failure): void {
    if (this.#closed) return;
    this.drop();
    this.onBroken(reason);
  }
}

import type { Sleep } from "../clients/client.ts";
import { sleep } from "../clients/transport/sleep.ts";
import type { JsonObject } from "../config/plan/run-config.ts";
import type { Channel } from "../environment-protocol/channel.ts";
import { crossing, thrownOf } from "../environment-protocol/crossed-error.ts";
import { Outbox } from "../environment-protocol/outbox.ts";
import type { ToEnvironment, ToEnvironmentOf } from "../environment-protocol/to-environment.ts";
import { crossingTraits } from "./crossing-traits.ts";
import { HeardSignals } from "./heard-signals.ts";
import { PROTOCOL_VERSION } from "../environment-protocol/values.ts";
import type { EnvironmentDefinition, LoadContext } from "../environments/definition/definition.ts";
import { describeEnvironment } from "../environments/definition/describe.ts";
import { traitsOf } from "../environments/hosted/in-process.ts";
import type { Environment } from "../environments/kinds/environment.ts";
import { EdgewiseError } from "../errors/result.ts";
import type { Printer } from "../logging/environment-line.ts";
import { RolloutLeft } from "../rollouts/kept/left.ts";
import type { RolloutInput } from "../rollouts/types.ts";
import { DataReads } from "./data-reads.ts";
import { ModelCalls } from "./model-calls.ts";
import { nextPage } from "../environment-protocol/pages.ts";
import { SandboxCalls } from "./sandbox-calls.ts";
import { playOrdered, scoreOrdered, type UnitHost } from "./played-unit.ts";
import { Prints } from "./prints.ts";

/** How long it may take until somebody hears how a rollout gets on. Milliseconds. */
const PROGRESS_MS = 500;

/** What the place of a session offers it. */
export interface SessionHost {
  /** Has what `work` and all that it starts prints go to `printer`; default: it goes where it goes. */
  readonly printsTo?: <T>(printer: Printer, work: () => T) => T;
  readonly now?: () => number;
  readonly sleep?: Sleep;
  readonly random?: () => number;
}

/**
 * The environment's side of a channel: plays rollouts with the library as the messages say, and asks for models, data and keys by messages. Knows no
 * platform. `definition` is called with the first message; what it throws is `environment_failed`.
 */
export function openSession(definition: () => EnvironmentDefinition | Promise<EnvironmentDefinition>, channel: Channel, host: SessionHost = {}): void {
  const session = new Session(definition, channel, host);
  channel.onBatch = (batch) => session.take(batch as readonly ToEnvironment[]);
  channel.onBroken = () => session.end();
}

class Session {
  readonly #definition: () => EnvironmentDefinition | Promise<EnvironmentDefinition>;
  readonly #channel: Channel;
  readonly #host: SessionHost;
  readonly #outbox: Outbox;
  readonly #clock = { at: null as number | null };
  readonly #calls: ModelCalls;
  readonly #data: DataReads;
  readonly #sandboxes: SandboxCalls;
  readonly #prints: Prints;
  readonly #signals = new HeardSignals();
  readonly #turns = new Map<number, () => void>();
  readonly #reads = new Map<number, AsyncIterator<RolloutInput>>();
  #units: UnitHost | null = null;

  constructor(definition: () => EnvironmentDefinition | Promise<EnvironmentDefinition>, channel: Channel, host: SessionHost) {
    this.#definition = definition;
    this.#channel = channel;
    this.#host = host;
    this.#outbox = new Outbox({ send: (batch) => channel.send(batch), waitMs: PROGRESS_MS });
    this.#calls = new ModelCalls(this.#outbox, this.#clock);
    this.#data = new DataReads(this.#outbox);
    this.#sandboxes = new SandboxCalls(this.#outbox);
    this.#prints = new Prints(this.#outbox);
  }

  take(batch: readonly ToEnvironment[]): void {
    const work = (): void => {
      for (const message of batch) this.#take(message);
    };
    if (this.#host.printsTo === undefined) work();
    else this.#host.printsTo(this.#prints, work);
  }

  /** The other side is gone: what is under way ends. */
  end(): void {
    this.#outbox.close();
    this.#signals.abortAll(new Error("nobody waits for this environment any more"));
    const environment = this.#units?.environment;
    this.#units = null;
    environment?.teardown().catch(() => undefined);
  }

  #take(message: ToEnvironment): void {
    switch (message.type) {
      case "describe":
        return this.#answer(message, async (definition) => ({ type: "described", facts: { ...describeEnvironment(definition), source: definition.source } }));
      case "check":
        return this.#answer(message, async (definition) => ({ type: "checked", problem: checked(definition, message) }));
      case "resolve_args":
        return this.#answer(message, async (definition) => ({ type: "resolved", args: definition.resolveArgs(message.args as JsonObject) }));
      case "open":
        return this.#answer(message, async (definition) => this.#open(definition, message));
      case "read":
        this.#reads.set(message.read, this.#opened().environment.examples(message.count)[Symbol.asyncIterator]());
        return void this.#readPage(message.read);
      case "read_next":
        return void this.#readPage(message.read);
      case "read_end":
        void this.#reads.get(message.read)?.return?.();
        return void this.#reads.delete(message.read);
      case "play":
        return void this.#unit(message, () => playOrdered(this.#opened(), message));
      case "score":
        return void this.#unit(message, () => scoreOrdered(this.#opened(), message));
      case "permitted":
        return this.#calls.permitted(message);
      case "waits":
        return this.#calls.waits(message);
      case "answering":
        return this.#calls.answering(message.call);
      case "answer":
        return this.#calls.answered(message);
      case "data_rows":
        return this.#data.taken(message);
      case "sandbox_result":
        return this.#sandboxes.answered(message);
      case "scoring_turn":
        this.#turns.get(message.unit)?.();
        return void this.#turns.delete(message.unit);
      case "leaving":
        this.#opened().pace.leaving = true;
        return;
      case "unkept":
        this.#opened().pace.unkept = true;
        return;
      case "abort":
        return this.#signals.abort(message.signal, message.left ? new RolloutLeft(message.reason.message) : thrownOf(message.reason));
      case "close":
        return void this.#close();
    }
  }

  #opened(): UnitHost {
    if (this.#units === null) throw new EdgewiseError("internal", "the environment is not open");
    return this.#units;
  }

  /** Answers one of the messages that begin. */
  #answer({ v }: { readonly v: number }, make: (definition: EnvironmentDefinition) => Promise<object>): void {
    const answer = async (): Promise<object> => {
      if (v !== PROTOCOL_VERSION)
        throw new EdgewiseError("environment_failed", `the messages have version ${String(v)}; this environment's library knows ${PROTOCOL_VERSION}`);
      return await make(await this.#definition());
    };
    answer().then(
      (message) => this.#outbox.put(message),
      (thrown: unknown) => this.#outbox.put({ type: "failed", error: crossing(thrown) }),
    );
  }

  #open(definition: EnvironmentDefinition, { args, extra, rubric, keys, variables }: ToEnvironmentOf<"open">): object {
    const context: LoadContext = {
      datasets: UNREACHED,
      rows: this.#data.of,
      key: (name) => keys[name] ?? null,
      secrets: keys,
      variables,
      client: ({ base_url, api_key_var, client_type }) => this.#calls.of({ base_url, api_key_var, ...(client_type === undefined ? {} : { client_type }) }),
      sandbox: this.#sandboxes.of,
      ...(rubric === null ? {} : { rubric }),
    };
    const environment = definition.load(args as JsonObject, context, extra as JsonObject);
    this.#units = this.#unitHost(environment);
    return { type: "opened", traits: crossingTraits(traitsOf(environment)) };
  }

  #unitHost(environment: Environment): UnitHost {
    const now = this.#host.now ?? Date.now;
    return {
      environment,
      outbox: this.#outbox,
      calls: this.#calls,
      pace: { scoresQuickly: false, leaving: false, unkept: false, toldUnkept: false },
      now: () => this.#clock.at ?? now(),
      sleep: this.#host.sleep ?? sleep,
      random: this.#host.random ?? Math.random,
      signal: (number) => this.#signals.of(number),
      scoringTurn: (unit) =>
        new Promise((resolve) => {
          this.#turns.set(unit, resolve);
          this.#outbox.put({ type: "generated_all", unit });
        }),
    };
  }

  async #unit({ unit, stops, stops_generation }: ToEnvironmentOf<"play" | "score">, play: () => Promise<void>): Promise<void> {
    const over = this.#signals.begin([stops, stops_generation]);
    try {
      await play();
    } catch (thrown) {
      this.#outbox.put({ type: "unit_failed", unit, error: crossing(thrown) });
    } finally {
      this.#turns.delete(unit);
      over();
    }
  }

  async #readPage(read: number): Promise<void> {
    const rows = this.#reads.get(read);
    if (rows === undefined) return;
    try {
      const page = await nextPage(rows);
      if (page.done) this.#reads.delete(read);
      this.#outbox.put({ type: "examples", read, ...page, size: this.#units?.environment.datasetSize ?? null });
    } catch (thrown) {
      this.#reads.delete(read);
      this.#outbox.put({ type: "examples", read, rows: [], done: true, size: null, error: crossing(thrown) });
    }
  }

  async #close(): Promise<void> {
    try {
      await this.#units?.environment.teardown();
      this.#outbox.put({ type: "closed" });
    } catch (thrown) {
      this.#outbox.put({ type: "failed", error: crossing(thrown) });
    }
    this.#units = null;
    this.#outbox.flush();
    this.#channel.close();
  }
}

/** Keys are checked on the other side, and no value of one is needed to say what is wrong with arguments. */
function checked(definition: EnvironmentDefinition, { request, keys }: ToEnvironmentOf<"check">) {
  const unread = Object.fromEntries(keys.map((name) => [name, "unread"]));
  return definition.check({ ...(request as { env_args: JsonObject }), secrets: unread }, (name) => unread[name] ?? null);
}

const refused = (): never => {
  throw new EdgewiseError("environment_failed", "data sets are read on the other side");
};
const UNREACHED: LoadContext["datasets"] = {
  fetch: refused,
  sleep: refused,
  upload: refused,
  hub: { endpoint: "", viewer: "", token: null },
  allowPrivate: false,
  note: refused,
};

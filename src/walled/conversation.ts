import type { Broken, Channel } from "../environment-protocol/channel.ts";
import { crossing, thrownOf } from "../environment-protocol/crossed-error.ts";
import { Outbox } from "../environment-protocol/outbox.ts";
import type { ToEngine, ToEngineOf } from "../environment-protocol/to-engine.ts";
import type { JsonObject } from "../config/plan/run-config.ts";
import type { LoadContext } from "../environments/definition/definition.ts";
import { EdgewiseError, type Failure } from "../errors/result.ts";
import { WALLED_ABORT_MS, WALLED_OPENING_MS, WALLED_SILENCE_MS } from "../limits.ts";
import type { EnvironmentLine } from "../logging/environment-line.ts";
import { isRolloutErrorCode } from "../rollouts/failure.ts";
import { isLeft } from "../rollouts/kept/left.ts";
import { DatasetServer } from "./dataset-server.ts";
import { ModelAnswers } from "./model-answers.ts";
import { SandboxAnswers } from "./sandbox-answers.ts";
import { readMessage } from "./read-message.ts";
import { ToldSignals } from "./told-signals.ts";
import type { OpenUnit, UnitLine } from "./walled-unit.ts";

/** Times of a conversation, in milliseconds; each has its default in src/limits.ts. */
export interface Patience {
  readonly silenceMs?: number;
  readonly openingMs?: number;
  readonly abortMs?: number;
  /** How often units are looked after; default: eight times within the silence, and each half minute. */
  readonly watchMs?: number;
}

export interface ConversationWith extends Patience {
  /** Of the environment, for messages. */
  readonly id: string;
  readonly context: Pick<LoadContext, "datasets" | "rows" | "client" | "sandbox" | "print" | "inside">;
  /** Of the run. */
  readonly args: JsonObject;
  /** That the environment declares. */
  readonly hosts: readonly string[];
  readonly now: () => number;
  /** Called once, when nothing more comes. */
  readonly onEnd: () => void;
}

/** How long the news of a permit may wait for the answer, with which it costs nothing. Milliseconds. */
const PERMIT_MS = 20;
/** Prints of one conversation: the other side sends no more of its own accord. */
const MAX_PRINTS = 2_000;

interface Waiting<T> {
  readonly resolve: (value: T) => void;
  readonly reject: (thrown: unknown) => void;
}

/** One channel to an environment behind a wall, on this side: what is said, what is heard, and how long one waits for it. */
export class Conversation {
  readonly #channel: Channel;
  readonly #with: ConversationWith;
  readonly #outbox: Outbox;
  readonly #calls: ModelAnswers;
  readonly #data: DatasetServer;
  readonly #sandboxes: SandboxAnswers;
  readonly #units = new Map<number, OpenUnit>();
  #unitCount = 0;
  #reply: (Waiting<ToEngine> & { readonly type: ToEngine["type"] }) | null = null;
  readonly #pages = new Map<number, Waiting<ToEngineOf<"examples">>>();
  #reads = 0;
  readonly #signals = new ToldSignals((signal, reason) => this.#outbox.put({ type: "abort", signal, reason: crossing(reason), left: isLeft(reason) }));
  #prints = 0;
  /** It has torn itself down. */
  #closed = false;
  #ended: Broken | null = null;
  #watch: ReturnType<typeof setTimeout> | undefined;
  /** When something was heard last that is of no unit. */
  #heardAt: number;
  #told = { leaving: false, unkept: false };

  constructor(channel: Channel, options: ConversationWith) {
    const { context, args, hosts, now } = options;
    this.#channel = channel;
    this.#with = options;
    this.#outbox = new Outbox({ send: (batch) => channel.send(batch), waitMs: PERMIT_MS });
    this.#calls = new ModelAnswers(this.#outbox, { client: context.client, now });
    this.#data = new DatasetServer(this.#outbox, context, { args, hosts });
    this.#sandboxes = new SandboxAnswers(this.#outbox, context.sandbox);
    this.#heardAt = now();
    const { inside = (work) => work() } = context;
    channel.onBatch = (batch) => inside(() => this.#hear(batch));
    channel.onBroken = (reason) => inside(() => this.end(reason));
  }

  /** Why nothing more comes; null while it does. */
  get ended(): Failure | null {
    return this.#ended;
  }

  /** Sends the first message, or the last, and gives its answer. Rejects with what the environment threw. */
  async ask<Type extends ToEngine["type"]>(message: object, type: Type): Promise<ToEngineOf<Type>> {
    this.#mustLive();
    const { openingMs = WALLED_OPENING_MS } = this.#with;
    const timer = setTimeout(() => this.end(this.#failure(`it did not answer within ${Math.round(openingMs / 1_000)} s`)), openingMs);
    try {
      return (await new Promise<ToEngine>((resolve, reject) => {
        this.#reply = { type, resolve, reject };
        this.#outbox.put(message);
      })) as ToEngineOf<Type>;
    } finally {
      clearTimeout(timer);
      this.#reply = null;
    }
  }

  /** Begins a unit: `make` gives this side of it, `say` its first message. Rejects for what `make` throws. */
  begin<Unit extends OpenUnit>(make: (line: UnitLine) => Unit, say: (unit: number) => { readonly message: object; readonly characters: number }): Unit {
    this.#mustLive();
    const number = ++this.#unitCount;
    const unit = make({ number, say: (message, characters) => this.#sayOnce(message, characters), now: this.#with.now });
    try {
      const { message, characters } = say(number);
      this.#outbox.put(message, characters);
    } catch (thrown) {
      this.#signals.end(number);
      throw thrown;
    }
    this.#units.set(number, unit);
    this.#setWatch();
    return unit;
  }

  /** The unit is over on this side: what it asked for goes unanswered. */
  finish(unit: OpenUnit, number: number): void {
    this.#units.delete(number);
    this.#signals.end(number);
    if (unit.calls > 0) this.#calls.endAll(new Error("the unit is over"), unit);
  }

  /** The number of `signal` in the messages of that unit: when it aborts, the other side is told. */
  signal(signal: AbortSignal, unit: number): number {
    return this.#signals.of(signal, unit);
  }

  /** A unit was told to end; it is over in time, or the other side is given up. */
  expectEnd(unit: OpenUnit): () => void {
    const { abortMs = WALLED_ABORT_MS } = this.#with;
    const timer = setTimeout(() => {
      if (unit.isOver) return;
      unit.cut();
      this.end(this.#failure(`it did not end an example within ${Math.round(abortMs / 1_000)} s of being told to`));
    }, abortMs);
    return () => clearTimeout(timer);
  }

  /** A page of examples. */
  async page(message: { readonly type: "read"; readonly count: number } | { readonly type: "read_next" }, read: number): Promise<ToEngineOf<"examples">> {
    this.#mustLive();
    this.#heardAt = this.#with.now();
    try {
      return await new Promise((resolve, reject) => {
        this.#pages.set(read, { resolve, reject });
        this.#outbox.put({ ...message, read });
        this.#setWatch();
      });
    } finally {
      this.#pages.delete(read);
    }
  }

  newRead(): number {
    return ++this.#reads;
  }

  endRead(read: number): void {
    if (this.#ended === null) this.#outbox.put({ type: "read_end", read });
  }

  /** Ends it: every open unit is what it is, with `reason` as the error of what it lacks. */
  end(reason: Broken): void {
    if (this.#ended !== null) return;
    this.#ended = reason;
    clearTimeout(this.#watch);
    const error = brokenError(reason);
    this.#reply?.reject(error);
    for (const { reject } of this.#pages.values()) reject(error);
    this.#calls.endAll(new Error(reason.message));
    this.#data.endAll();
    this.#sandboxes.end(!this.#closed);
    const code = isRolloutErrorCode(reason.code) ? reason.code : "environment_error";
    for (const unit of [...this.#units.values()]) if (!unit.isOver) unit.broken(code, reason.message);
    this.#units.clear();
    this.#signals.endAll();
    this.#outbox.close();
    if (reason.code === "environment_error" && this.#channel.drop !== undefined) this.#channel.drop();
    else this.#channel.close();
    this.#with.onEnd();
  }

  #mustLive(): void {
    if (this.#ended !== null) throw brokenError(this.#ended);
  }

  #failure(message: string): Failure {
    return { code: "environment_error", message };
  }

  #breach(problem: string): void {
    this.end(this.#failure(`it broke the protocol: ${problem}`));
  }

  /** What concerns all units is said once. */
  #sayOnce(message: object, characters?: number): void {
    const { type } = message as { type: string };
    if (type === "leaving" || type === "unkept") {
      if (this.#told[type]) return;
      this.#told[type] = true;
    }
    this.#outbox.put(message, characters);
  }

  #hear(batch: readonly unknown[]): void {
    if (!Array.isArray(batch)) return this.#breach("it sent no batch of messages");
    for (const raw of batch) {
      if (this.#ended !== null) return;
      const read = readMessage(raw);
      if (read.ok) this.#take(read.message);
      else this.#breach(read.problem);
    }
  }

  #take(message: ToEngine): void {
    switch (message.type) {
      case "call":
        return this.#call(message);
      case "cancel_call":
        return this.#calls.cancel(message.call);
      case "data": {
        const problem = this.#data.begin(message.read, message.spec);
        return problem === null ? undefined : this.#breach(problem);
      }
      case "data_next":
        return this.#data.next(message.read);
      case "data_end":
        return this.#data.end(message.read);
      case "sandbox": {
        const problem = this.#sandboxes.ask(message);
        return problem === null ? undefined : this.#breach(problem);
      }
      case "cancel_sandbox":
        return this.#sandboxes.cancel(message.call);
      case "examples": {
        const waiting = this.#pages.get(message.read);
        if (waiting === undefined && message.read > this.#reads) return this.#breach("it gave examples that nobody asked for");
        return waiting?.resolve(message);
      }
      case "print":
        return this.#print(message);
      case "described":
      case "checked":
      case "resolved":
      case "opened":
      case "closed":
      case "failed":
        return this.#replied(message);
      default:
        return this.#ofUnit(message);
    }
  }

  #ofUnit(message: Extract<ToEngine, { readonly unit: number }>): void {
    if (message.unit > this.#unitCount) return this.#breach(`it spoke of a unit ${message.unit}, which there is not`);
    // Of one that is over: its last words and ours have crossed.
    this.#units.get(message.unit)?.take(message);
  }

  #call(message: ToEngineOf<"call">): void {
    const { unit } = message;
    if (unit !== null && unit > this.#unitCount) return this.#breach(`it called a model for a unit ${unit}, which there is not`);
    const known = unit === null ? null : (this.#units.get(unit) ?? null);
    known?.heard();
    const problem = this.#calls.ask(message, known, unit !== null && (known === null || known.isOver));
    if (problem !== null) this.#breach(problem);
  }

  #replied(message: ToEngine): void {
    const reply = this.#reply;
    if (reply === null) return this.#breach(`it answered ${message.type}, which nobody had asked for`);
    if (message.type === "failed") reply.reject(thrownOf(message.error));
    else if (message.type === reply.type) {
      this.#closed = message.type === "closed";
      reply.resolve(message);
    } else this.#breach(`it answered ${message.type} where ${reply.type} was asked for`);
  }

  #print({ level, text }: ToEngineOf<"print">): void {
    if (++this.#prints > MAX_PRINTS) return this.#breach(`it printed more than ${MAX_PRINTS} times`);
    this.#with.context.print?.(level as EnvironmentLine["level"], () => text);
  }

  #setWatch(): void {
    const { silenceMs = WALLED_SILENCE_MS, watchMs = Math.min(Math.max(10, silenceMs / 8), 30_000), now } = this.#with;
    this.#watch ??= setTimeout(() => {
      this.#watch = undefined;
      if (this.#ended !== null) return;
      const at = now();
      for (const unit of [...this.#units.values()]) if (unit.isLate(at)) unit.broken("timeout", "it went on after its time was over");
      if (this.#calls.unnamed === 0 && !this.#data.isReading && !this.#sandboxes.isBusy) this.#lookForSilence(at, silenceMs);
      if (this.#ended === null && (this.#units.size > 0 || this.#pages.size > 0)) this.#setWatch();
    }, watchMs);
  }

  #lookForSilence(now: number, silenceMs: number): void {
    const seconds = Math.round(silenceMs / 100) / 10;
    if (this.#pages.size > 0 && now - this.#heardAt >= silenceMs)
      return this.end({ code: "environment_failed", message: `environment ${this.#with.id} gave no examples for ${seconds} s` });
    for (const unit of [...this.#units.values()])
      if (!unit.isOver && unit.silence(now) >= silenceMs)
        unit.broken("environment_error", `nothing was heard of it for ${seconds} s, and no model was at work for it`);
  }
}

const brokenError = ({ code, message, ...more }: Broken): EdgewiseError => new EdgewiseError(code, message, more);

import { Book } from "../../../durable-objects/limiter/book.ts";
import type { ExchangeAnswer, ExchangeRequest, LimitedPlace, LimiterView } from "../../../durable-objects/limiter/limiter-control.ts";
import type { StoredLimiter } from "../../../durable-objects/limiter/stored-limiter.ts";
import { Gate } from "../../../src/clients/gate.ts";
import type { Amounts, Cap, RequestCost } from "../../../src/endpoint-limits/limit-kinds.ts";
import type { Holder } from "../../../src/executor/limiting/holder.ts";
import { LimiterLink } from "../../../src/executor/limiting/limiter-link.ts";
import { Clockwork } from "../../simulation/world/clockwork.ts";
import { Random } from "../../simulation/world/random.ts";

export interface RunOfWorld {
  readonly name: string;
  readonly team?: string;
  readonly kind?: "model" | "judges";
  readonly priority?: number;
  readonly caps?: readonly Cap[];
  /** At each executor. */
  readonly lanes: number;
  readonly requests?: number;
  /** Executors that it is at; absent = all. */
  readonly at?: readonly number[];
  /** Of a request; drawn between half of it and half more. Milliseconds. */
  readonly takes?: number;
  readonly cost?: RequestCost;
}

/** What happens to messages on their way: shares of them, and how long one takes. */
export interface Network {
  readonly lost: number;
  readonly doubled: number;
  readonly late: number;
}

export interface Begun {
  readonly at: number;
  readonly run: string;
}

const PLACE: LimitedPlace = { base_url: "http://127.0.0.1:9/v1", api_key_var: "K", model_class: "m" };
const COST: RequestCost = { input_tokens: 300, output_tokens: 100 };
const GOOD: Network = { lost: 0, doubled: 0, late: 0 };

interface Executor {
  readonly link: LimiterLink;
  readonly gates: Map<string, Gate>;
  alive: boolean;
}

/** Executors as they are, and the book of a Limiter, over a network that may be bad, in virtual time. Nothing is refused: what they are told is all that limits them. */
export class LimiterWorld {
  readonly clock = new Clockwork();
  readonly random: Random;
  readonly place: LimitedPlace;
  readonly executors: Executor[] = [];
  network: Network = GOOD;
  given: { readonly everybody: Amounts | null; readonly teams: Readonly<Record<string, Amounts>> };
  book: Book | null = null;
  stored: StoredLimiter | null = null;
  writes = 0;
  exchanges = 0;
  inFlight = new Map<string, number>();
  most = 0;
  readonly begun: Begun[] = [];
  readonly answers: ExchangeAnswer[] = [];
  /** Called before each exchange is decided on. */
  onExchange: (request: ExchangeRequest) => void = () => undefined;

  constructor({
    seed = 1,
    executors = 1,
    given = {},
    teams = {},
    place = PLACE,
  }: { seed?: number; executors?: number; given?: Amounts; teams?: Record<string, Amounts>; place?: LimitedPlace } = {}) {
    this.random = new Random(seed);
    this.place = place;
    this.given = { everybody: Object.keys(given).length === 0 ? null : given, teams };
    for (let n = 0; n < executors; n++) this.start();
  }

  get now(): number {
    return this.clock.now;
  }
  get open(): number {
    let sum = 0;
    for (const count of this.inFlight.values()) sum += count;
    return sum;
  }

  start(): Executor {
    const executor: Executor = { alive: true, gates: new Map(), link: null as unknown as LimiterLink };
    const alive = (then: () => void) => (): void => {
      if (executor.alive) then();
    };
    const link = new LimiterLink(
      { executor: `x${this.executors.length}`, boot: "b", runtime: "r", place: this.place },
      {
        now: () => this.now,
        timer: (ms, then) => this.clock.timer(ms, alive(then)),
        random: this.random.next,
        send: (request, answered, failed) =>
          this.#send(
            request,
            (answer) => alive(() => answered(answer))(),
            (message) => alive(() => failed(message))(),
          ),
      },
    );
    Object.assign(executor, { link });
    this.executors.push(executor);
    return executor;
  }

  /** The Limiter is gone; whoever calls next begins a new one from what was stored. */
  reset(): void {
    this.book = null;
  }

  /** All that it had in flight is broken off. */
  kill(at: number): void {
    const executor = this.executors[at] as Executor;
    executor.alive = false;
    this.inFlight.delete(`${at}`);
  }

  serve(run: RunOfWorld): void {
    for (const [at, executor] of this.executors.entries()) {
      if (executor.alive && (run.at === undefined || run.at.includes(at))) this.serveAt(at, run);
    }
  }

  /** Lanes that ask one after the other, until so many requests have ended. */
  serveAt(at: number, { name, team = "default", kind = "model", priority = 1, caps = [], lanes, requests, takes = 1_000, cost = COST }: RunOfWorld): Holder {
    const executor = this.executors[at] as Executor;
    const gate = new Gate(lanes);
    executor.gates.set(name, gate);
    const holder = executor.link.open({ id: `${name} ${executor.gates.size}`, run: name, team, kind, priority, caps, gate });
    let left = requests ?? Number.POSITIVE_INFINITY;
    const lane = async (): Promise<void> => {
      while (executor.alive && left-- > 0) {
        await holder.enter(null, cost);
        if (!executor.alive) return;
        this.#began(at, name);
        const ms = Math.round(takes * (0.5 + this.random.next()));
        await new Promise<void>((ended) => this.clock.after(ms, ended));
        if (!executor.alive) return;
        this.inFlight.set(`${at}`, (this.inFlight.get(`${at}`) ?? 0) - 1);
        holder.leave({ kind: "accepted", ms, cost, used: cost, told: null, named: null, named_limit: null, retry_after_ms: null });
      }
      if (gate.inFlight === 0 && holder.waiting === 0) holder.close();
    };
    for (let n = 0; n < lanes; n++) void lane();
    return holder;
  }

  async pass(ms: number, each: () => void = () => undefined): Promise<void> {
    const until = this.now + ms;
    let reached = false;
    this.clock.at(until, () => {
      reached = true;
    });
    while (!reached) {
      this.clock.step();
      for (let turn = 0; turn < 6; turn++) await Promise.resolve();
      each();
    }
  }

  /** Requests that each run began since then. */
  begunSince(since: number): ReadonlyMap<string, number> {
    const counts = new Map<string, number>();
    for (const { at, run } of this.begun) if (at >= since) counts.set(run, (counts.get(run) ?? 0) + 1);
    return counts;
  }

  /** Most that began in any minute. */
  get mostInAMinute(): number {
    let most = 0;
    let from = 0;
    for (const [to, { at }] of this.begun.entries()) {
      while ((this.begun[from]?.at ?? 0) <= at - 60_000) from++;
      most = Math.max(most, to - from + 1);
    }
    return most;
  }

  view(team: string | null = null): LimiterView | null {
    return this.book?.view(team, this.now) ?? null;
  }

  exchange(request: ExchangeRequest): ExchangeAnswer {
    this.onExchange(request);
    this.exchanges++;
    if (this.book === null) {
      this.book = new Book({ stored: this.stored, life: "b r", now: this.now });
      this.book.give(null, this.given.everybody);
      for (const [team, limits] of Object.entries(this.given.teams)) this.book.give(team, limits);
    }
    const answer = this.book.exchange(request, this.now);
    const unwritten = this.book.unwritten(this.now);
    if (unwritten !== null) {
      this.writes++;
      this.stored = structuredClone(unwritten);
    }
    this.answers.push(answer);
    return answer;
  }

  #began(at: number, run: string): void {
    this.inFlight.set(`${at}`, (this.inFlight.get(`${at}`) ?? 0) + 1);
    this.begun.push({ at: this.now, run });
    this.most = Math.max(this.most, this.open);
  }

  #send(request: ExchangeRequest, answered: (answer: ExchangeAnswer) => void, failed: (message: string) => void): void {
    const { lost, doubled, late } = this.network;
    const way = (): number => (this.random.chance(late) ? this.random.int(500, 9_000) : this.random.int(1, 20));
    const copy = structuredClone(request);
    if (this.random.chance(doubled)) this.clock.after(way(), () => this.exchange(copy));
    if (this.random.chance(lost)) return this.clock.after(this.random.int(5, 200), () => failed("lost"));
    this.clock.after(way(), () => {
      const answer = this.exchange(copy);
      if (this.random.chance(lost)) this.clock.after(this.random.int(5, 200), () => failed("lost"));
      else this.clock.after(way(), () => answered(answer));
    });
  }
}

/** Jain's index: 1 = all have the same. */
export function jain(amounts: readonly number[]): number {
  const sum = amounts.reduce((total, amount) => total + amount, 0);
  return sum ** 2 / (amounts.length * amounts.reduce((total, amount) => total + amount ** 2, 0));
}

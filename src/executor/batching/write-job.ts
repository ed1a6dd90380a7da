import type { BatchOutcome, BatchPlan } from "../../../durable-objects/run/batching/batching-protocol.ts";
import type { Grant, UnitRange } from "../../../durable-objects/run/protocol.ts";
import { runsOf } from "../../../durable-objects/run/state/runs-of.ts";
import { requestsKey } from "../../../r2-layout/keys.ts";
import type { BatchRoute } from "../../clients/batching/batch-route.ts";
import { EdgewiseError } from "../../errors/result.ts";
import { BATCH_WRITE_BYTES } from "../../limits.ts";
import type { ExecutorPorts } from "../ports.ts";
import type { Slice } from "../slice.ts";
import type { Held, JobPurse } from "../spending/job-purse.ts";
import { Inputs } from "../units/inputs.ts";
import type { AnswerIndexes } from "./answer-indexes.ts";
import { unaskable } from "./askable.ts";
import { customIdOf } from "./custom-id.ts";
import { type CatchingHost, type FirstRequest, firstRequests } from "./first-requests.ts";
import { JobFile } from "./job-file.ts";
import { resultsInOrder } from "./results-in-order.ts";

/** Rollouts that are played beside each other for their first requests: mostly none of them waits for anything. */
const ROLLOUTS_AT_ONCE = 32;

type Write = Extract<BatchPlan, { kind: "write" }>;
export type Wrote = Extract<BatchOutcome, { kind: "wrote" }>;

export interface WritingHost extends Omit<CatchingHost, "config"> {
  readonly ports: ExecutorPorts;
  readonly slice: Slice;
  readonly indexes: AnswerIndexes;
  /** Of the place that the job is for, and which one that is. */
  readonly route: Pick<BatchRoute, "limits" | "line">;
  readonly place: number;
  /** What its object is to be called. */
  readonly object: string;
  readonly purse: JobPurse;
}

/** A request as it is written, with the most that it can cost: nano-dollars, null = nobody knows, and no budget holds. */
interface PaidLine {
  readonly line: string;
  readonly bound: number | null;
}

/** Of one example, what is to be asked. */
interface UnitLines {
  readonly unit: number;
  readonly lines: readonly PaidLine[];
}

/** There is no money for a request: something that is held may come back, or (`over`) nothing that would be enough. */
export type Unpaid = Exclude<Held, { readonly kind: "held" }>;

/**
 * Writes the requests of as many examples as one job takes, from the front of the plan, and puts them into storage. Ends early when the slice does: what is
 * written by then is a job; so does it where budgets have no more to hold. What it can cost is held for it when it resolves. Rejects with `environment_failed` for an environment that asks something else each time, with the signal's reason, and where storage does not answer.
 */
export async function writeJob(host: WritingHost, { config }: Grant, plan: Write, signal: AbortSignal): Promise<Wrote | Unpaid> {
  const { ports, slice, place, object } = host;
  const { run_id } = config;
  const held = await ports.bytes.hold(BATCH_WRITE_BYTES, signal);
  const inputs = new Inputs(ports.store, run_id, ports.bytes);
  const ended = new AbortController();
  try {
    const writer = new JobWriter({ ...host, config }, plan, inputs, AbortSignal.any([signal, ended.signal]));
    const file = new JobFile(host.route.limits);
    const money = new JobMoneyCount(await host.purse.room(plan.job));
    const units: number[] = [];
    const ready: number[] = [];
    let isCut = false;
    const begins = (): boolean => units.length === 0 || !slice.isOver;
    for await (const { unit, lines } of resultsInOrder(eachOf(plan.units), (next) => writer.linesOf(next), writer.unitsAtOnce, begins)) {
      const paid = money.within(lines, file.requests === 0);
      const taken = file.add(paid.map(({ line }) => line));
      money.take(paid.slice(0, taken));
      if (taken === 0 && lines.length > 0 && (file.requests > 0 || paid.length < lines.length)) {
        if (units.length === 0) return await unpaid(host.purse, plan.job, lines);
        break;
      }
      units.push(unit);
      if (taken === 0) ready.push(unit);
      else if (taken < lines.length) {
        isCut = true;
        break;
      }
    }
    const { requests, bytes } = file;
    if (requests > 0) {
      const paid = await host.purse.reserve(plan.job, { amount: money.amount, requests, least: money.least });
      if (paid.kind !== "held") return paid;
      slice.spend();
      await ports.store.create(requestsKey(run_id, object), file.take());
    }
    const told = { kind: "wrote", job: plan.job, place, bytes, requests, ...(isCut ? { cut: true as const } : {}), bound: money.known } as const;
    return { ...told, object: requests > 0 ? object : null, units: runsOf(units, 0), ready: runsOf(ready, 0) };
  } finally {
    ended.abort(new Error("the job is written"));
    inputs.drop();
    held.release();
  }
}

/** What there is no money for is asked for: the answer says whether it may come. */
async function unpaid(purse: JobPurse, job: number, [first]: readonly PaidLine[]): Promise<Unpaid> {
  const least = first?.bound ?? 0;
  const held = await purse.reserve(job, { amount: least, requests: 1, least });
  // It has come back meanwhile.
  return held.kind === "held" ? { kind: "short", room: least } : held;
}

/** What the requests of a job can cost, as they are taken. Nano-dollars. */
class JobMoneyCount {
  readonly #room: number;
  amount = 0;
  least = Number.MAX_SAFE_INTEGER;
  #isKnown = true;

  constructor(room: number) {
    this.#room = room;
  }

  /** Null where that of one is not known. */
  get known(): number | null {
    return this.#isKnown ? this.amount : null;
  }

  /** As many of an example's requests as there is money for: all or none, but for the first example of a job. */
  within(lines: readonly PaidLine[], isFirst: boolean): readonly PaidLine[] {
    let sum = this.amount;
    for (const [at, { bound }] of lines.entries()) {
      sum += bound ?? 0;
      if (sum > this.#room) return isFirst ? lines.slice(0, at) : [];
    }
    return lines;
  }

  take(lines: readonly PaidLine[]): void {
    for (const { bound } of lines) {
      this.amount += bound ?? 0;
      this.least = Math.min(this.least, bound ?? 0);
      this.#isKnown &&= bound !== null;
    }
  }
}

function* eachOf(ranges: readonly UnitRange[]): Generator<number> {
  for (const { lo, hi } of ranges) for (let unit = lo; unit < hi; unit++) yield unit;
}

/** Plays examples for the lines that they add to a job. */
class JobWriter {
  readonly #host: WritingHost & CatchingHost;
  readonly #plan: Write;
  readonly #inputs: Inputs;
  readonly #signal: AbortSignal;
  #isChecked: boolean;

  constructor(host: WritingHost & CatchingHost, plan: Write, inputs: Inputs, signal: AbortSignal) {
    this.#host = host;
    this.#plan = plan;
    this.#inputs = inputs;
    this.#signal = signal;
    this.#isChecked = !plan.first;
  }

  get unitsAtOnce(): number {
    const { environment, config } = this.#host;
    const { concurrency } = environment.traits;
    return Math.max(1, Math.min(Math.floor(ROLLOUTS_AT_ONCE / config.rollouts_per_example), concurrency ?? ROLLOUTS_AT_ONCE));
  }

  async linesOf(unit: number): Promise<UnitLines> {
    const { route, purse } = this.#host;
    const lines: PaidLine[] = [];
    const rollouts = this.#owedOf(unit);
    for (let from = 0; from < rollouts.length; from += ROLLOUTS_AT_ONCE) {
      for (const { id, request } of await this.#askedBy(unit, rollouts.slice(from, from + ROLLOUTS_AT_ONCE))) {
        const line = route.line(customIdOf(this.#host.config.run_id, id), request.body);
        if (unaskable(line) === null && !(await this.#isAnswered(id))) lines.push({ line, bound: purse.boundOf(request) });
      }
    }
    return { unit, lines };
  }

  /** Its rollouts but for those that are there: as rows that stay, or generated. */
  #owedOf(unit: number): number[] {
    const { redo, pieces } = this.#plan;
    const isOf = (each: { readonly unit: number }): boolean => each.unit === unit;
    const there = new Set([
      ...redo.filter(isOf).flatMap(({ keep }) => keep),
      ...pieces.filter(isOf).flatMap(({ rollouts, unscored = [] }) => [...rollouts, ...unscored]),
    ]);
    return Array.from({ length: this.#host.config.rollouts_per_example }, (_, index) => index).filter((index) => !there.has(index));
  }

  async #isAnswered(id: FirstRequest["id"]): Promise<boolean> {
    const { known } = this.#plan;
    return known.length > 0 && (await this.#host.indexes.saidOf(known, id)).answer !== null;
  }

  async #askedBy(unit: number, rollouts: readonly number[]): Promise<FirstRequest[]> {
    this.#host.slice.startRollouts(rollouts.length);
    const input = await this.#inputs.of(unit, this.#plan.chunks);
    const asked = await firstRequests(this.#host, input, { unit, rollouts }, this.#signal);
    if (!this.#isChecked && asked.size > 0) {
      this.#isChecked = true;
      this.#check(unit, asked, await firstRequests(this.#host, input, { unit, rollouts }, this.#signal));
    }
    return rollouts.flatMap((rollout) => asked.get(rollout) ?? []);
  }

  /** Answers are found again by what was asked: it must be the same whenever it is asked. */
  #check(unit: number, asked: ReadonlyMap<number, FirstRequest>, again: ReadonlyMap<number, FirstRequest>): void {
    for (const [rollout, { id }] of asked) {
      const second = again.get(rollout);
      if (second === undefined || second.id.asked === id.asked) continue;
      const { id: name } = this.#host.environment.traits;
      const message = `environment ${name} asks the model something else each time that it plays example ${unit}, and --batch has each played twice`;
      throw new EdgewiseError("environment_failed", message, { hint: "have what it draws come from the example or a seed, or leave out --batch" });
    }
  }
}

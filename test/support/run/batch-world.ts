import type { BatchPlan } from "../../../durable-objects/run/batching/batching-protocol.ts";
import { runsOf } from "../../../durable-objects/run/state/runs-of.ts";
import type { Block, CollectedJob, Grant, Redo, UnitRange } from "../../../durable-objects/run/protocol.ts";
import type { RunConfig } from "../../../src/config/plan/run-config.ts";
import { seededRandom } from "../../../src/seeded-random.ts";
import { type Asked, BatchProvider } from "./batch-provider.ts";
import { BatchRun } from "./batch-run.ts";
import { summary } from "./rule-run.ts";

const unitsOf = (ranges: readonly UnitRange[]): number[] => ranges.flatMap(({ lo, hi }) => Array.from({ length: hi - lo }, (_, at) => lo + at));
const isLiveBatch = (state: string): boolean => state === "submitted" || state === "cancelling";

export interface WorldPlan extends Partial<RunConfig> {
  readonly units: number;
  readonly lost: number;
  readonly room: number;
}

/**
 * A Run in batches with its executors, their storage and a provider. What one of them does stops where the world says so, between any two of its calls; nothing of
 * it is heard again, and whoever comes next goes on.
 */
export class BatchWorld {
  readonly run: BatchRun;
  readonly random: () => number;
  readonly provider: BatchProvider;
  readonly rollouts: number;
  /** Requests as they were written, by object. */
  readonly objects = new Map<string, readonly Asked[]>();
  /** Answers by index: null = that request was lost. */
  readonly indexes = new Map<string, ReadonlyMap<Asked, boolean>>();
  /** How often each unit was accepted, over all that there were. */
  readonly committed = new Map<number, number>();
  /** Rollouts that ended without an answer when their unit was played. */
  readonly unanswered = new Set<Asked>();
  kills = 0;
  /** One call in so many is the last of its executor; 0 = none. */
  deadly = 12;
  #names = 0;
  #carrying: Generator<void, void> | null = null;
  #playing: Generator<void, void> | null = null;
  #carrier: Grant | null = null;
  #player: Grant | null = null;

  constructor(seed: number, { units, lost, room, ...config }: WorldPlan) {
    this.random = seededRandom(seed);
    this.rollouts = config.rollouts_per_example ?? 1;
    this.run = BatchRun.open(units, config);
    this.provider = new BatchProvider(this.random, () => this.run.now, { lost, room });
  }

  int(below: number): number {
    return Math.floor(this.random() * below);
  }

  /** Somebody does something, or time goes by. */
  step(): void {
    const kind = this.int(10);
    if (kind < 5) this.#carrying = this.#go(this.#carrying, () => this.#carry());
    else if (kind < 8) this.#playing = this.#go(this.#playing, () => this.#play());
    else this.#wait(this.int(kind === 8 ? 3_000 : 30_000));
    this.check();
  }

  /** Executors that are at work beat meanwhile. */
  #wait(ms: number): void {
    for (let left = ms; left > 0; left -= 2_000) {
      this.run.now += Math.min(left, 2_000);
      this.run.call("wake", null);
      for (const [work, grant] of [[this.#carrying, this.#carrier] as const, [this.#playing, this.#player] as const])
        if (work !== null && grant !== null) this.run.beat(grant);
    }
  }

  #go(open: Generator<void, void> | null, begin: () => Generator<void, void>): Generator<void, void> | null {
    const work = open ?? begin();
    if (this.deadly > 0 && this.int(this.deadly) === 0) {
      this.kills++;
      return null;
    }
    return work.next().done === true ? null : work;
  }

  *#carry(): Generator<void, void> {
    const { run } = this;
    const answer = run.join(`carrier-${++this.#names}`, { batches: true });
    if (answer.kind !== "grant") return;
    if (answer.task.kind !== "batch") return run.leave(answer);
    this.#carrier = answer;
    for (;;) {
      yield;
      const plan = run.plan(answer);
      if (plan.kind === "write") yield* this.#write(answer, plan);
      else if (plan.kind === "upload") yield* this.#tell(answer, { kind: "uploaded", job: plan.job, file_id: `file-of-${plan.object}` });
      else if (plan.kind === "create") yield* this.#create(answer, plan);
      else if (plan.kind === "look" || plan.kind === "cancel") yield* this.#look(answer, plan);
      else if (plan.kind === "collect") yield* this.#collect(answer, plan);
      else if (plan.kind === "release") yield* this.#tell(answer, { kind: "released", job: plan.job });
      else if (plan.kind === "lost") return;
      else return run.leave(answer);
    }
  }

  *#tell(grant: Grant, outcome: Parameters<BatchRun["tell"]>[1]): Generator<void, string> {
    yield;
    if (this.random() < 0.05)
      return yield* this.#tell(grant, { kind: "refused", job: outcome.job, failure: { code: "provider_error", message: "not now" }, how: "passing" });
    const answer = this.run.tell(grant, outcome);
    // Said twice, as whoever lost the answer does.
    if (this.random() < 0.2 && answer === "ok") this.run.tell(grant, outcome);
    return answer;
  }

  /** Which rollouts of a unit are still to be asked. */
  #wanted(unit: number, redo: readonly Redo[], known: readonly CollectedJob[]): Asked[] {
    const kept = redo.find((each) => each.unit === unit)?.keep ?? [];
    const all = Array.from({ length: this.rollouts }, (_, rollout) => rollout).filter((rollout) => !kept.includes(rollout));
    return all.map((rollout) => `${unit}/${rollout}`).filter((asked) => !this.#isAnswered(asked, known));
  }
  #isAnswered(asked: Asked, known: readonly CollectedJob[]): boolean {
    return known.some(({ index }) => this.indexes.get(index)?.get(asked) === true);
  }

  *#write(grant: Grant, plan: Extract<BatchPlan, { kind: "write" }>): Generator<void, void> {
    const all = unitsOf(plan.units);
    const units = all.slice(0, 1 + this.int(all.length));
    const requests = units.flatMap((unit) => this.#wanted(unit, plan.redo, plan.known));
    const ready = units.filter((unit) => this.#wanted(unit, plan.redo, plan.known).length === 0);
    const object = requests.length === 0 ? null : `requests-${++this.#names}`;
    if (object !== null) this.objects.set(object, requests);
    const ranges = { units: runsOf(units, 0), ready: runsOf(ready, 0) };
    yield* this.#tell(grant, { kind: "wrote", job: plan.job, place: 0, object, bytes: requests.length * 100, requests: requests.length, ...ranges, bound: 7 });
  }

  *#create(grant: Grant, plan: Extract<BatchPlan, { kind: "create" }>): Generator<void, void> {
    const { job } = plan;
    if (plan.creating_at !== null) {
      const found = this.provider.find(job, plan.taken);
      if (found !== null) return void (yield* this.#tell(grant, { kind: "submitted", job, batch_id: found.id, expires_at: null }));
      if (plan.find_only === true) return void (yield* this.#tell(grant, { kind: "absent", job }));
    }
    yield;
    if (this.run.tell(grant, { kind: "creating", job }) !== "ok") return;
    yield;
    const batch = this.provider.create(job, this.objects.get(plan.object) ?? []);
    yield;
    const failure = { code: "rate_limited", message: "the queue is full" } as const;
    if (batch === null) return void (yield* this.#tell(grant, { kind: "refused", job, failure, how: "full" }));
    // Its answer is lost on the way.
    if (this.random() < 0.1)
      return void (yield* this.#tell(grant, { kind: "refused", job, failure: { code: "provider_error", message: "gone" }, how: "passing" }));
    if (batch.state === "failed" && this.random() < 0.5)
      return void (yield* this.#tell(grant, { kind: "refused", job, failure, how: "full", batch_id: batch.id }));
    yield* this.#tell(grant, { kind: "submitted", job, batch_id: batch.id, expires_at: null });
  }

  *#look(grant: Grant, { kind, job, batch_id }: Extract<BatchPlan, { kind: "look" | "cancel" }>): Generator<void, void> {
    const { state, answered, requests } = kind === "look" ? this.provider.look(batch_id) : this.provider.cancel(batch_id);
    const counts = { answered: answered.size, failed: state === "ended" ? requests.length - answered.size : 0 };
    if (state !== "failed") yield* this.#tell(grant, { kind: "seen", job, state, counts });
    else yield* this.#tell(grant, { kind: "refused", job, failure: { code: "rate_limited", message: "the queue is full" }, how: "full", batch_id });
  }

  *#collect(grant: Grant, { job, batch_id, object }: Extract<BatchPlan, { kind: "collect" }>): Generator<void, void> {
    const { answered } = this.provider.look(batch_id);
    const requests = this.objects.get(object) ?? [];
    const index = `index-${++this.#names}`;
    this.indexes.set(index, new Map(requests.map((asked) => [asked, answered.has(asked)])));
    const lostOf = requests.filter((asked) => !answered.has(asked));
    const unit = (asked: Asked): number => Number(asked.split("/")[0]);
    const again = new Set(lostOf.map(unit));
    const ready = [...new Set(requests.map(unit))].filter((each) => !again.has(each));
    const counts = { answered: answered.size, failed: 0 };
    const lost: Record<string, number> = lostOf.length === 0 ? {} : { expired: lostOf.length };
    yield* this.#tell(grant, { kind: "collected", job, index, counts, lost, ready: runsOf(ready, 0), again: runsOf([...again], 0) });
  }

  *#play(): Generator<void, void> {
    const { run } = this;
    const answer = run.join(`player-${++this.#names}`, { batches: true });
    if (answer.kind !== "grant") return;
    if (answer.task.kind === "finalise") return void run.call("finalised", run.id(answer));
    if (answer.task.kind === "prepare") return void run.pin(run.ledger.config().num_examples, { grant: answer });
    if (answer.task.kind !== "units") return run.leave(answer);
    this.#player = answer;
    for (let seq = 1; ; seq++) {
      yield;
      const block = run.claim(answer, seq);
      if (block.kind !== "block") return block.kind === "lost" ? undefined : run.leave(answer);
      yield* this.#playBlock(answer, block);
    }
  }

  *#playBlock(grant: Grant, block: Block): Generator<void, void> {
    const { jobs = [] } = block;
    for (const unit of unitsOf([block])) {
      yield;
      const kept = block.redo.find((each) => each.unit === unit)?.keep ?? [];
      const rollouts = Array.from({ length: this.rollouts }, (_, rollout) => {
        const asked = `${unit}/${rollout}`;
        if (kept.includes(rollout) || this.#isAnswered(asked, jobs)) return summary();
        this.unanswered.add(asked);
        return summary({ error: "batch_unanswered" });
      });
      const [verdict] = this.run.commit(grant, [unit], rollouts);
      if (verdict === "accepted") this.committed.set(unit, (this.committed.get(unit) ?? 0) + 1);
    }
  }

  /** Every unit is in one place, and nothing is paid for twice. */
  check(): void {
    const { head, ledger } = this.run;
    const { batching, n } = head;
    if (batching === undefined || n === null) throw new Error("a run in batches has lost its batches");
    const places = new Map<number, string[]>();
    const put = (ranges: readonly UnitRange[], place: string): void => {
      for (const unit of unitsOf(ranges)) places.set(unit, [...(places.get(unit) ?? []), place]);
    };
    put([...ledger.returned.values()], "ready");
    put(
      [...ledger.claims.values()].filter(({ ticket }) => ledger.ticket(ticket) !== null),
      "claimed",
    );
    put(
      ledger.waitingSuspects().map(({ unit }) => ({ lo: unit, hi: unit + 1 })),
      "suspect",
    );
    put([...ledger.batching.ranges.values(), { lo: head.cursor, hi: n }], "unasked");
    for (const job of ledger.batching.jobs()) if (job.state !== "collected" && job.state !== "dropped") put(ledger.batching.unitsOf(job.job), `job ${job.job}`);
    const done = ledger.settledIn({ lo: 0, hi: n });
    for (const unit of done) if (!places.get(unit)?.every((place) => place === "claimed")) places.set(unit, [...(places.get(unit) ?? []), "done"]);
    for (let unit = 0; unit < n; unit++) {
      const at = places.get(unit) ?? [];
      if (at.length !== 1) throw new Error(`unit ${unit} is in ${at.length === 0 ? "no place" : at.join(" and ")}`);
    }
    const unasked = unitsOf([...ledger.batching.ranges.values()]).length + n - head.cursor;
    if (batching.unasked !== unasked) throw new Error(`the head counts ${batching.unasked} units that are not asked, of ${unasked}`);
    const alive = Map.groupBy(
      this.provider.batches.filter(({ state }) => state !== "failed"),
      ({ job }) => job,
    );
    for (const [job, batches] of alive) if (batches.length > 1) throw new Error(`job ${job} was created ${batches.length} times`);
    const paid = new Map<Asked, number>();
    for (const { answered } of this.provider.batches) for (const asked of answered) paid.set(asked, (paid.get(asked) ?? 0) + 1);
    for (const [asked, times] of paid) if (times > 1) throw new Error(`${asked} was answered ${times} times`);
  }

  /** Nothing of the run is at the provider. */
  get isQuiet(): boolean {
    return this.provider.batches.every(({ state }) => !isLiveBatch(state));
  }

  /** Until the run has settled; throws where it takes longer than it may. */
  untilSettled(steps = 20_000): void {
    for (let step = 0; this.run.head.phase !== "settled"; step++) {
      if (step > steps) throw new Error(`the run does not settle: ${JSON.stringify(this.run.head)} ${JSON.stringify(this.run.ledger.batching.jobs())}`);
      // Whoever is killed all the time is blamed in the end.
      if (step > steps / 4) this.deadly = 0;
      this.step();
    }
  }
}

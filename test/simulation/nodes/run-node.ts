import { type Answer, create, type Request, transit, type TransitionName } from "../../../durable-objects/run/transition.ts";
import { nextWake } from "../../../durable-objects/run/sending/wake.ts";
import { LOADINGS_TO_FAIL } from "../../../durable-objects/run/grants/load-wait.ts";
import { MemoryLedger } from "../../support/run/memory-ledger.ts";
import type { Outbox } from "../../../durable-objects/run/sending/outbox.ts";
import { broken, checkRun } from "../invariants.ts";
import { sweepDue } from "../../../durable-objects/run/course/sweep.ts";
import { isSuspended } from "../../../durable-objects/run/grants/offers.ts";
import { Cleaning, type CleaningPlan } from "../world/cleaning.ts";
import { LastScores } from "../world/last-scores.ts";
import type { Scene } from "../world/scene.ts";
import { checkStopping } from "../stopping.ts";

/** After faults have ended: no late alarm of before is still to come. */
const CALM_MS = 30_000;

export const TIMING = { lease: 6_000, grace: 2_000, beat: 1_000, heartbeat: 30_000, refusals: 30_000, code: 600_000, look: 5_000, sweep: 60_000 };

/** The Run's Durable Object as the simulator plays it: transactions on a ledger that survives, an alarm, an outbox. */
export class RunNode {
  readonly ledger = new MemoryLedger();
  readonly #world: Scene;
  readonly #offset: number;
  #alarm: number | null = null;
  #alarmId = 0;
  readonly #cleaning: Cleaning;
  /** Deleted by its user, and then without anything left. */
  #there: "yes" | "buried" | "gone" = "yes";

  constructor(world: Scene, cleaning: CleaningPlan, grow: (examples: number) => void) {
    this.#world = world;
    this.#cleaning = new Cleaning(world, this.ledger, cleaning, {
      swept: (outcome) => this.#transit("swept", outcome),
      grow: (examples) => this.#quietly(() => grow(examples)),
      forget: () => {
        this.#there = "gone";
      },
    });
    // Never before 1970, which is what "at no time" is stored as.
    this.#offset = world.random.int(0, 10_000);
    const created = create(this.ledger, { config: world.plan.config, boot: world.boot, import: null }, this.context());
    this.#after(created.ok ? created.value : null);
  }

  context() {
    return {
      now: this.#world.clock.now + this.#offset,
      boot: this.#world.boot,
      runtime: this.#world.runtime,
      timing: TIMING,
      slice: 3,
      merge_after: 6,
      // Smaller than real ones: few runs of a schedule have many rollouts of an example.
      span: this.#world.plan.config.rollouts_per_example > 8 ? 16 : 2,
    };
  }

  get isDeleted(): boolean {
    return this.#there !== "yes";
  }
  /** Nothing is left to be done, for ever or until its user comes back. */
  get isAtRest(): boolean {
    const head = this.ledger.head();
    return this.#there === "gone" || (this.#there === "yes" && head?.phase === "settled" && head.swept && !this.#cleaning.busy);
  }
  checkEnd(): void {
    this.#cleaning.checkEnd();
  }

  /** The user deletes the run; false while somebody works for it. */
  remove(): boolean {
    const head = this.ledger.head();
    if (head === null || this.isDeleted) return true;
    const idle = head.phase === "settled" || (isSuspended(this.ledger.config(), head, this.context()) && this.ledger.ticketRows.size === 0);
    if (!idle || this.#cleaning.busy) return false;
    this.#there = "buried";
    this.#cleaning.remove();
    return true;
  }

  /** One transaction; throws when a crash strikes before its effect (nothing is stored) or after it (the answer is lost). */
  call<N extends TransitionName>(name: N, request: Request<N>): Answer<N> {
    const world = this.#world;
    if (world.strikes(world.plan.fault.lost)) throw new Error("request lost");
    if (this.isDeleted) return { kind: "gone" } as Answer<N>;
    const before = this.ledger.head();
    const doneBefore = before?.done ?? 0;
    if (before?.last_scores !== undefined && (name === "cancel" || name === "fail")) this.#lastScores.isCut = true;
    const done = this.#transit(name, request);
    if (name === "commit") this.#noteAnswers(request as unknown as Request<"commit">, doneBefore);
    if (name === "fail") this.#checkEnd();
    this.#checkLoading(name, request);
    if (name === "claim") this.#checkRepeat(request as unknown as Request<"claim">, done.answer as unknown as Answer<"claim">);
    if (world.strikes(world.plan.fault.lostAnswer)) throw new Error("answer lost");
    return done.answer as Answer<N>;
  }

  #transit<N extends TransitionName>(name: N, request: Request<N>) {
    const done = this.ledger.transaction(() => transit(this.ledger, name, request, this.context()));
    if (done === null) throw new Error(`${name}: gone`);
    checkRun(this.#world, this.ledger, this.context());
    const head = this.ledger.head();
    if (head !== null) checkStopping(this.ledger, head);
    this.#lastScores.check(this.ledger, this.context().now);
    this.#after(done.outbox);
    return done;
  }

  readonly #lastScores = new LastScores();

  /** When rows were last accepted, by the Run's clock, and in which generation. */
  #answered = { generation: 0, at: 0 };
  #noteAnswers({ units }: Request<"commit">, doneBefore: number): void {
    const head = this.ledger.head();
    if (head === null || head.done === doneBefore || !units.every(({ rollouts }) => rollouts.every(({ error }) => error === null))) return;
    this.#answered = { generation: head.generation, at: this.context().now };
  }

  /** Refusals end a run that had answers only when there was none for long. */
  #checkEnd(): void {
    const head = this.ledger.head();
    if (head?.failure?.code !== "auth_failed" || head.generation !== this.#answered.generation || head.ended_at !== this.context().now) return;
    const silent = head.ended_at - this.#answered.at;
    if (silent < TIMING.refusals) broken(`a refusal ended the run ${silent} ms after an answer`);
  }

  /** Attempts in a row to load the environment that came to nothing. */
  #unloaded = 0;
  /** What may pass does not end the run before it has been tried often. */
  #checkLoading(name: TransitionName, request: unknown): void {
    const head = this.ledger.head();
    if (name === "claim" || name === "prepared") this.#unloaded = 0;
    if (name !== "fail" || (request as Request<"fail">).passing !== true) return;
    this.#unloaded++;
    const ended = head?.failure?.code === "storage_unavailable" && head.unwritten !== true && head.ended_at === this.context().now;
    if (ended && this.#unloaded < LOADINGS_TO_FAIL) broken(`the run ended after ${this.#unloaded} attempts to load its environment`);
  }

  /** The same claim gets the same block, however often it is asked. */
  #checkRepeat({ epoch, seq }: Request<"claim">, answer: Answer<"claim">): void {
    if (answer.kind !== "block") return;
    const key = `${epoch}/${seq}`;
    const block = `${answer.lo}-${answer.hi} ${JSON.stringify(answer.span)}`;
    const before = this.#world.blocks.get(key) ?? block;
    if (before !== block) broken(`claim ${key} was answered with ${before} and with ${block}`);
    if (!this.#world.blocks.has(key)) this.#lastScores.handsOut(this.ledger, answer);
    this.#world.blocks.set(key, block);
  }

  /** What the Durable Object does after each transaction: set the alarm, send what is due. A crash may come between. */
  #after(outbox: Outbox | null): void {
    const head = this.ledger.head();
    if (head === null || this.isDeleted) return;
    const wake = nextWake(head, this.ledger.tickets(), TIMING);
    if (wake !== this.#alarm) {
      this.#alarm = wake;
      const id = ++this.#alarmId;
      const late = this.#world.calm ? 0 : this.#world.random.pick([0, 0, 5, 300, 3_000]);
      if (wake !== null) this.#world.clock.at(wake - this.#offset + late, () => this.#ring(id));
    }
    if (outbox?.offer) this.#send(outbox.offer);
    if (outbox?.alerts !== undefined) {
      const ids = outbox.alerts.map(({ id }) => id);
      this.#world.message(() => this.#quietly(() => this.call("alertsTold", ids)));
    }
    if (outbox?.projection) this.#world.message(() => this.#quietly(() => this.call("projected", outbox.projection ?? 0)));
  }

  #send(offer: NonNullable<Outbox["offer"]>): void {
    const world = this.#world;
    world.message(() => {
      world.dispatcher.offer(offer);
      world.message(() => this.#quietly(() => this.call("offered", offer.seq)));
    });
  }

  #ring(id: number): void {
    if (id !== this.#alarmId || this.isDeleted) return;
    // The object has one alarm at a time: the next comes when a sweep is over.
    if (this.#cleaning.busy) return;
    this.#alarm = null;
    const before = this.#alarmId;
    this.#quietly(() => this.call("wake", null));
    // An alarm whose handler threw is retried by the platform.
    if (this.#alarmId === before) this.#world.clock.after(2_000, () => this.#quietly(() => this.call("wake", null)));
    const head = this.ledger.head();
    const due = head === null ? null : sweepDue(head, TIMING);
    if (head !== null && due !== null && this.context().now >= due)
      this.#cleaning.sweep(head.epoch, () => {
        this.#alarm = null;
        this.#after(null);
      });
  }

  /** Faults are over, and the watchdog has been here since. */
  #isWell = false;
  poke(): void {
    const { clock, plan } = this.#world;
    // Messages of before are over by then, an alarm that was lost has been made good, and none is due just now.
    const isQuiet = this.#isWell && (this.#alarm === null || this.#alarm - this.#offset > clock.now + 100);
    const before = this.#due();
    this.#quietly(() => this.call("poke", null));
    this.#isWell = clock.now > plan.calmAt + CALM_MS;
    if (isQuiet && before !== this.#due()) broken(`the watchdog found what no alarm had: ${before}, ${this.#due()}`);
  }

  /** What happens when it is due, and by no call. */
  #due(): string {
    const { status, phase, lapses, offer } = this.ledger.head() ?? {};
    return JSON.stringify({ status, phase, lapses, want: offer?.want });
  }

  /** For calls whose loss the system must bear without noticing. An invariant that breaks is not such a loss. */
  #quietly(call: () => void): void {
    try {
      call();
    } catch (thrown) {
      if (thrown instanceof Error && thrown.message.startsWith("invariant")) throw thrown;
    }
  }
}

import { UnitTime } from "../../../src/environments/unit/unit-time.ts";
import type { SessionEvent, UnitWork } from "../../../src/executor/session/session-events.ts";
import type { Grant } from "../../../durable-objects/run/protocol.ts";
import type { RolloutSummary } from "../../../src/metrics/rollout-summary.ts";
import type { Calls } from "../world/calls.ts";
import { broken } from "../invariants.ts";
import type { Invocation } from "./invocation.ts";
import type { Loose, Made } from "../world/loose.ts";
import type { Requests } from "../world/requests.ts";
import type { Scene } from "../world/scene.ts";
import { summary } from "../world/storage.ts";
import { beginUnit, endUnit, isScoredAlone, scoredAs, type Unit } from "./unit-state.ts";
import { ticketOf } from "../work-search.ts";

/** What one grant's units are played with. */
interface PlayerHost {
  readonly world: Scene;
  readonly grant: Grant;
  readonly requests: Requests;
  readonly invocation: Invocation;
  readonly calls: Calls;
  readonly loose: Loose;
  /** What a row says of the code that made it, and, as a metric, which it was. */
  readonly made: Made;
  /** The model server refuses it. */
  readonly misplaced: boolean;
  /** By the executor's clock. Milliseconds. */
  now(): number;
  isAlive(): boolean;
  feed(event: SessionEvent): void;
  /** The executor ends, or its isolate with it. */
  crash(): void;
  dies(): void;
  /** A span of the unit is generated, and on its way. */
  spanEnds(unit: number): void;
  finished(unit: number, rows: readonly RolloutSummary[]): void;
}

/** Plays the units of one grant: requests to the model, turn by turn, and scores. What it has it tells the session of as `units-ticket.ts` does. */
export class UnitPlayer {
  readonly #host: PlayerHost;
  readonly #world: Scene;
  readonly #units = new Map<number, Unit>();
  /** Rollouts stop at their next turn. */
  #leaving = false;
  #told = false;
  /** Requests that were answered. */
  answered = 0;
  /** How long the executor is to stay away from the run after this grant. Milliseconds. */
  pause = 0;

  constructor(host: PlayerHost) {
    this.#host = host;
    this.#world = host.world;
  }

  start(work: UnitWork): void {
    const { grant, invocation } = this.#host;
    const [world, { unit, block }] = [this.#world, work];
    if (this.#units.has(unit)) broken(`unit ${unit} runs twice in one executor`);
    const state = beginUnit(world, work, grant.config.rollouts_per_example, this.#host.made, this.#host.now());
    if (!block.poisoned) invocation.mayBegin(grant.config.run_id, unit, state.begun);
    if (grant.scores_only === true && state.left.size > 0) broken(`unit ${unit} is handed out for its scores, and not all of it is generated`);
    this.#units.set(unit, state);
    if (!block.poisoned && world.plan.killers.has(unit)) world.clock.after(world.plan.killAfter, () => this.#isOpen(unit, state) && this.#host.dies());
    if (block.poisoned) world.clock.after(1, () => this.finish(unit));
    else if (state.left.size === 0) world.clock.after(world.random.int(1, 500), () => this.#generated(unit, state));
    const { deadline } = invocation;
    if (deadline !== null) state.time = new UnitTime(deadline, { now: () => world.clock.now, timer: world.clock.timer }, () => this.#expire(unit, state));
    for (const index of [...state.unscored]) this.#scoreAlone(unit, state, index);
    for (const index of state.left) {
      this.#host.loose.begins(unit, index, world.clock.now);
      this.#request(unit, state, index);
    }
  }

  #isOpen(unit: number, state: Unit): boolean {
    return this.#host.isAlive() && this.#units.get(unit) === state;
  }

  /** As long as something of it is not generated, or waits for scores of its own, nothing happens. */
  #generated(unit: number, state: Unit): void {
    const { grant, loose } = this.#host;
    if (!this.#isOpen(unit, state) || state.left.size > 0 || state.unscored.size > 0) return;
    if (state.span) {
      this.#units.delete(unit);
      this.#host.spanEnds(unit);
      return this.#host.feed({ type: "span-ended", unit });
    }
    if (grant.config.no_interleave_scoring === true) return this.#host.feed({ type: "unit-generated", unit });
    if (isScoredAlone(this.#world.plan)) return this.finish(unit);
    const { scoringMs, scorerDies } = this.#world.plan;
    if (scoringMs === 0) {
      loose.letGo(unit);
      this.#host.feed({ type: "unit-scoring", unit });
    }
    this.#world.clock.after(this.#world.random.int(0, scoringMs), () => {
      if (!this.#isOpen(unit, state)) return;
      if (scoringMs > 0 && this.#world.strikes(scorerDies)) return this.#host.crash();
      this.finish(unit);
    });
  }

  /** One that waits for nothing but scores of its own. */
  #scoreAlone(unit: number, state: Unit, index: number): void {
    const { scoringMs, scorerDies } = this.#world.plan;
    this.#world.clock.after(this.#world.random.int(0, scoringMs), () => {
      if (!this.#isOpen(unit, state) || !state.unscored.has(index)) return;
      if (scoringMs > 0 && this.#world.strikes(scorerDies)) return this.#host.crash();
      this.#world.scoredAlone(`${unit}/${index}`, this.#host.made);
      const said = scoredAs(this.#world, state.summaries[index] ?? broken("a rollout that was never generated is scored"), this.#host.made);
      state.summaries[index] = said;
      state.unscored.delete(index);
      this.#keepScored(unit, state, index, said);
      this.#goneOn(unit, state);
    });
  }

  #keepScored(unit: number, state: Unit, index: number, said: RolloutSummary): void {
    const last = state.left.size === 0 && state.unscored.size === 0;
    // The unit has its rows in a moment.
    if (last && !state.span) return;
    this.#host.loose.ended(unit, index, { turns: this.#world.plan.turns, said });
    this.#host.feed({ type: "rollout-scored", unit, rollout: index });
  }

  /** One model request under the gate of the grant. */
  #request(unit: number, state: Unit, index: number): void {
    const { requests, invocation } = this.#host;
    const world = this.#world;
    const key = `${unit}/${index}`;
    // Who waits behind one that is over has its permit.
    if (this.#units.get(unit) !== state || !state.left.has(index)) return requests.admit();
    const call = state.calls.get(index) ?? state.time?.call();
    if (call !== undefined) state.calls.set(index, call);
    const turn = (state.turns.get(index) ?? 0) + 1;
    if (!requests.enter(key, turn, () => this.#request(unit, state, index))) return;
    state.inFlight.add(index);
    call?.permitted();
    const { deadline } = invocation;
    state.permittedAt ??= world.clock.now;
    state.time?.permitted();
    const [least, most] = world.plan.request;
    const took = world.plan.killers.has(unit) ? 3_000 : Math.ceil(world.random.int(least, most) / world.plan.turns);
    world.clock.after(took, () => {
      if (!this.#isOpen(unit, state) || !state.left.has(index)) return;
      requests.leave(key);
      state.inFlight.delete(index);
      state.calls.delete(index);
      call?.over();
      if (this.#host.misplaced && !world.calm) {
        state.left.delete(index);
        this.#refuse(state);
      } else {
        this.answered++;
        const error = world.strikes(world.plan.infraError) ? "provider_error" : null;
        if (error === null && turn < world.plan.turns) return this.#turned(unit, state, index, turn);
        state.left.delete(index);
        this.#ended(unit, state, index, error, deadline !== null);
        if (this.#units.get(unit) !== state) return requests.admit();
      }
      requests.admit();
      this.#goneOn(unit, state);
    });
  }

  /** Between two turns of a rollout. */
  #turned(unit: number, state: Unit, index: number, turn: number): void {
    const { requests, loose, invocation, grant } = this.#host;
    const { now } = this.#world.clock;
    state.turns.set(index, turn);
    const unwritten = loose.turned(unit, index, turn, now);
    invocation.resumes(grant.config.run_id);
    state.time?.beginAnew();
    state.permittedAt = now;
    if (this.#leaving) state.parked.add(index);
    if (this.#leaving || unwritten >= this.#world.plan.keepTurns) this.#host.feed({ type: "turns-due" });
    if (this.#units.get(unit) !== state) return requests.admit();
    if (!this.#leaving) this.#request(unit, state, index);
    requests.admit();
    this.#goneOn(unit, state);
  }

  /** A rollout is generated, whatever it ended in. */
  #ended(unit: number, state: Unit, index: number, error: "provider_error" | null, tells: boolean): void {
    const { loose } = this.#host;
    const world = this.#world;
    const alone = isScoredAlone(world.plan);
    const scorer = error === null && !alone && world.strikes(world.plan.scorerError) ? "scorer_error" : error;
    const said = { ...summary(unit % 3, scorer, world.generated()), ...this.#host.made };
    state.summaries[index] = said;
    if (alone && error === null) {
      state.unscored.add(index);
      if (world.plan.scoringMs > 0) {
        loose.ended(unit, index, { turns: world.plan.turns, said, unscored: true });
        this.#host.feed({ type: "rollout-ended", unit, rollout: index, keeps: true });
      }
      return this.#scoreAlone(unit, state, index);
    }
    const keeps = !world.plan.whole && (state.span || error !== "provider_error");
    if (keeps) loose.ended(unit, index, { turns: world.plan.turns, said });
    if (keeps || tells) this.#host.feed({ type: "rollout-ended", unit, rollout: index, keeps });
  }

  #goneOn(unit: number, state: Unit): void {
    if (this.#units.get(unit) !== state) return;
    if (state.left.size === 0 && state.refused) return this.#drop(unit);
    if (state.left.size === 0) return this.#generated(unit, state);
    // Others go on from there; what is being scored by itself is waited for.
    if (state.parked.size > 0 && [...state.left].every((index) => state.parked.has(index)) && state.unscored.size === 0) this.#drop(unit);
  }

  /** Its time is over. */
  #expire(unit: number, state: Unit): void {
    const { invocation, loose, requests } = this.#host;
    if (!this.#isOpen(unit, state) || state.left.size === 0) return;
    const took = this.#world.clock.now - (state.permittedAt ?? this.#world.clock.now);
    if (took < (invocation.deadline ?? 0)) broken(`unit ${unit} ends as late ${took} ms after its first permit, or its last turn`);
    const late = [...state.left];
    endUnit(this.#world, state, "timeout", this.#host.made);
    for (const rollout of state.span ? late : []) {
      loose.ended(unit, rollout, { turns: this.#world.plan.turns, said: state.summaries[rollout] ?? broken("a rollout that is late has no row") });
      this.#host.feed({ type: "rollout-scored", unit, rollout });
    }
    requests.cut(unit, state.inFlight);
    requests.admit();
    if (state.refused) return this.#drop(unit);
    this.#generated(unit, state);
  }

  /** A refusal that every call would meet: told once, and nothing new begins. */
  #refuse(state: Unit): void {
    state.refused = true;
    if (this.#told) return;
    this.#told = true;
    this.#host.feed({ type: "stop", how: "drain" });
    const failure = { code: "auth_failed", message: "no" } as const;
    this.#host.calls.make("fail", { ...ticketOf(this.#host.grant), failure, progress: this.answered }, (answer) => {
      if (answer?.pause_ms === undefined) this.#host.feed({ type: "stop", how: "abort" });
      else this.pause = answer.pause_ms;
    });
  }

  #drop(unit: number): void {
    this.#units.delete(unit);
    this.#host.feed({ type: "unit-dropped", unit });
  }

  /** The unit has its rows. */
  finish(unit: number): void {
    const { invocation, loose, grant, now } = this.#host;
    const state = this.#units.get(unit);
    if (!this.#host.isAlive() || state === undefined || state.left.size > 0) return;
    this.#units.delete(unit);
    loose.letGo(unit);
    invocation.ended(grant.config.run_id, now() - state.begun);
    this.#host.finished(unit, state.summaries);
    this.#host.feed({ type: "unit-finished", unit, full: false });
  }

  /** The executor is to end soon: what others can go on with stops at its next turn, and where it stands is written. */
  leave(): void {
    if (this.#leaving) return;
    this.#leaving = true;
    this.#keepTurns();
  }

  #keepTurns(): void {
    if (this.#host.loose.hasTurns) this.#host.feed({ type: "turns-due" });
  }

  /** What is not generated by now never will be; what is goes on to its scores. */
  endGeneration(): void {
    const cut = [...this.#units].filter(([, { left }]) => left.size > 0);
    for (const [unit, state] of cut) {
      this.#units.delete(unit);
      this.#host.requests.cut(unit, state.inFlight);
    }
    this.#host.requests.admit();
    this.#world.clock.after(0, () => {
      for (const [unit] of cut) this.#host.feed({ type: "unit-dropped", unit });
      this.#keepTurns();
    });
  }

  abort(): void {
    this.#host.requests.abort();
    const units = [...this.#units.keys()];
    this.#units.clear();
    this.#world.clock.after(0, () => {
      this.#keepTurns();
      for (const unit of units) this.#host.feed({ type: "unit-dropped", unit });
    });
  }
}

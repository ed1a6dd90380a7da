import type { ToEngine, ToEngineOf } from "../environment-protocol/to-engine.ts";
import type { EnvironmentTraits } from "../environments/hosted/traits.ts";
import { isScoredAlone, mergeSamplingArgs } from "../environments/hosted/traits.ts";
import type { PlayedUnit, PlayOptions } from "../environments/unit/play-unit.ts";
import type { Stored } from "../environments/unit/stored-rollout.ts";
import { storedOf } from "../environments/unit/stored-rollout.ts";
import type { RolloutErrorCode } from "../errors/codes.ts";
import { isRolloutErrorCode, rolloutFailure } from "../rollouts/failure.ts";
import { type KeptBase, type KeptTurn, markUnkept, type OpenedState } from "../rollouts/kept/kept-state.ts";
import { askedTimesOf, keepAskedTimes } from "../rollouts/state/asked-questions.ts";
import { cacheUsageOf } from "../rollouts/state/cache-meter.ts";
import { judgementsOf } from "../rollouts/state/judgements.ts";
import { judgeUsageOf } from "../rollouts/state/judge-usage.ts";
import { createState, type StateOptions } from "../rollouts/state/state.ts";
import type { RolloutInput, State } from "../rollouts/types.ts";
import { believedRow } from "./believed-row.ts";
import { applyScores } from "./believed-scores.ts";
import { believedState, NotBelieved } from "./believed-state.ts";
import { type UnitLine, WalledUnit } from "./walled-unit.ts";

export interface PlayedOf {
  readonly traits: EnvironmentTraits;
  readonly input: RolloutInput;
  readonly indices: readonly number[];
  readonly options: PlayOptions;
}

/** One unit of rollouts that are played behind the wall. */
export class PlayedRollouts extends WalledUnit<PlayedUnit> {
  readonly #of: PlayedOf;
  readonly #base: KeptBase;
  readonly #ended = new Map<number, State>();
  readonly #stored: ReadonlyMap<number, Stored>;
  readonly #rescored = new Set<number>();
  /** What whoever asked was told: rollouts that are generated, scored ones, and those of which scoring began. */
  readonly #told = new Set<number>();
  readonly #scored = new Set<number>();
  readonly #scoring = new Set<number | null>();
  /** Why a rollout has no state. */
  readonly #bad = new Map<number, string>();
  #left = false;

  /** Throws for rows that are none. */
  constructor(line: UnitLine, of: PlayedOf) {
    const { input, indices, options, traits } = of;
    super(line, {
      ...{ client: options.client, model: options.model, exampleId: input.example_id, scoringTurn: options.scoringTurn },
      deadlineMs: options.deadlineMs,
      ...{ rollouts: indices.length, attempts: options.maxRetries + 2 },
    });
    this.#of = of;
    this.#base = { input, tools: traits.toolDefs };
    for (const [rollout, { state }] of options.begun ?? []) this.standIns.goesOn(rollout, askedTimesOf(state));
    for (const [rollout, state] of options.generated ?? []) this.standIns.goesOn(rollout, askedTimesOf(state));
    this.#stored = new Map((options.stored?.rows ?? []).map((kept) => [kept.index, this.#storedOf(kept)]));
  }

  #storedOf(kept: Stored["kept"]): Stored {
    const { input, options } = this.#of;
    return storedOf(input, kept, options.stored?.stateColumns ?? [], this.#asked());
  }

  /** What was asked of which model. */
  #asked(): Pick<StateOptions, "client" | "model" | "samplingArgs"> {
    const { options, traits } = this.#of;
    const { client, model, sampling_args } = options;
    return { client, model, samplingArgs: mergeSamplingArgs(traits, sampling_args) };
  }

  protected override said(message: ToEngine): void {
    switch (message.type) {
      case "generated":
        return this.#generated(message);
      case "scoring":
        return this.#tellScoring(message.rollout);
      case "scored":
        return this.#scoredAlone(message);
      case "turn":
        return this.#turn(message);
      case "ended":
        return this.#end(message);
      case "rescored":
        return this.#rescore(message);
      case "played":
        return this.#finish(message);
      default:
        return this.broken("environment_error", `it sent ${message.type} for an example that is played`);
    }
  }

  /** The rollout's state, or null where it gave none that is one. */
  #open(rollout: number, text: string, state: number | null): OpenedState | null {
    const { options } = this.#of;
    const before = options.begun?.get(rollout)?.state ?? options.generated?.get(rollout);
    return this.#believed(rollout, () => {
      const opened = believedState(text, {
        base: this.#base,
        client: options.client,
        wasRefused: this.wasRefused,
        judges: (said) => this.standIns.usageOf(state, said === null || before === undefined ? null : judgeUsageOf(before)),
        judgements: (said) => this.standIns.judgementsOf(state, said === null || before === undefined ? null : judgementsOf(before)),
        cache: (said) => this.standIns.cacheOf(state, said === null || before === undefined ? null : cacheUsageOf(before)),
      });
      // Its own count is nobody's word either.
      keepAskedTimes(opened.state, this.standIns.askedOf(rollout) ?? {});
      return opened;
    });
  }

  /** The same of one that comes with its row. */
  #openRow(rollout: number, row: string, code: string | undefined, state: number | null): State | null {
    const { input } = this.#of;
    const judges = this.standIns.usageOf(state, null);
    const judgements = this.standIns.judgementsOf(state, null);
    const cache = this.standIns.cacheOf(state, null);
    return this.#believed(rollout, () => believedRow(row, { input, ...this.#asked(), code, wasRefused: this.wasRefused, judges, judgements, cache }));
  }

  /** What `open` gives, or null where that is not to be believed. */
  #believed<T>(rollout: number, open: () => T): T | null {
    if (!this.#of.indices.includes(rollout) || this.#stored.has(rollout)) return null;
    try {
      return open();
    } catch (thrown) {
      if (!(thrown instanceof NotBelieved)) throw thrown;
      this.#bad.set(rollout, thrown.message);
      return null;
    }
  }

  #generated({ rollout, text }: ToEngineOf<"generated">): void {
    if (this.#isKnown(rollout)) return;
    const opened = this.#open(rollout, text, null);
    if (opened !== null && opened.turn === null) this.#tellGenerated(rollout, opened.state);
  }

  #isKnown(rollout: number): boolean {
    return this.#told.has(rollout) || this.#of.options.generated?.has(rollout) === true;
  }

  #tellGenerated(rollout: number, state: State): void {
    if (this.#isKnown(rollout)) return;
    this.#told.add(rollout);
    this.#of.options.onRollout?.(rollout, state);
  }

  #tellScoring(rollout: number | null): void {
    if (this.#scoring.has(rollout) || (rollout !== null && !this.#of.indices.includes(rollout))) return;
    this.#scoring.add(rollout);
    this.#of.options.onScoring?.(rollout);
  }

  #scoredAlone({ rollout, text }: ToEngineOf<"scored">): void {
    if (!isScoredAlone(this.#of.traits, this.#of.options) || this.#scored.has(rollout)) return;
    const opened = this.#open(rollout, text, null);
    if (opened === null || opened.turn !== null || opened.state.reward === null) return;
    this.#tellScored(rollout, opened.state);
  }

  #tellScored(rollout: number, state: State): void {
    const { options } = this.#of;
    if (this.#scored.has(rollout) || options.scored?.has(rollout) === true) return;
    this.#scored.add(rollout);
    this.#tellGenerated(rollout, state);
    this.#tellScoring(rollout);
    if (state.reward !== null) options.onScored?.(rollout, state);
  }

  #turn({ rollout, text, problem }: ToEngineOf<"turn">): void {
    const { onTurn } = this.#of.options;
    if (onTurn === undefined || this.#isKnown(rollout) || !this.#of.indices.includes(rollout)) return;
    const opened = text === null ? this.#unkept(problem ?? { path: "state", problem: "is no JSON" }) : this.#open(rollout, text, null);
    if (opened === null || opened.turn === null) return;
    const answer = onTurn(rollout, opened.state, opened.turn);
    if (answer === "kept") this.beginAnew();
    if (answer === "leave") this.#left = true;
    if (answer !== "kept") this.line.say({ type: answer === "leave" ? "leaving" : "unkept" });
  }

  #unkept(problem: { path: string; problem: string }): { state: State; turn: KeptTurn } {
    const state = this.#emptyState();
    markUnkept(state, problem);
    return { state, turn: { prompt: null, elapsed_ms: 0 } };
  }

  #end({ rollout, text, row, code, state: number, problem }: ToEngineOf<"ended">): void {
    if (this.#ended.has(rollout)) return;
    const opened = text === undefined ? null : this.#open(rollout, text, number);
    const state = text === undefined ? this.#openRow(rollout, row ?? "", code, number) : (opened?.state ?? null);
    if (state === null) return;
    this.standIns.settle(number);
    if (opened !== null && opened.turn !== null) return void this.#bad.set(rollout, "is of one that is not over");
    if (problem !== undefined) markUnkept(state, problem);
    this.#ended.set(rollout, state);
  }

  #rescore({ rollout, scores }: ToEngineOf<"rescored">): void {
    const stored = this.#stored.get(rollout);
    if (stored === undefined || this.#rescored.has(rollout)) return;
    try {
      applyScores(stored, scores, { columns: this.#of.options.stored?.stateColumns ?? [], wasRefused: this.wasRefused, standIns: this.standIns });
      this.#rescored.add(rollout);
    } catch (thrown) {
      if (!(thrown instanceof NotBelieved)) throw thrown;
      this.#bad.set(rollout, thrown.message);
    }
  }

  #finish({ fatal, aborted }: ToEngineOf<"played">): void {
    const { signal, generation = signal } = this.#of.options;
    if (fatal !== null) {
      const own = isRolloutErrorCode(fatal.code) ? this.refusalOf(fatal.code) : undefined;
      if (own !== undefined) return this.resolve({ states: null, fatal: own, aborted: false });
      return this.broken("environment_error", `it said that the run cannot go on (${fatal.code.slice(0, 40)}), which is not its to say`);
    }
    if (signal.aborted) return this.cut();
    if (!aborted) return this.#give("environment_error", "it said that the rollout is over, and not what became of it");
    if (generation.aborted || this.#left) return this.cut();
    return this.broken("environment_error", "it gave the example up, which nobody had asked for");
  }

  override cut(): void {
    this.resolve({ states: null, fatal: null, aborted: true });
  }

  protected override giveUp(code: RolloutErrorCode, problem: string): void {
    if (this.#of.options.signal.aborted) return this.cut();
    this.#ended.clear();
    this.#rescored.clear();
    this.#bad.clear();
    this.#give(code, problem);
  }

  /** The states of all rollouts: of those that have none the error that says why. */
  #give(code: RolloutErrorCode, problem: string): void {
    const { indices, options } = this.#of;
    const states = indices.map((index) => {
      const stored = this.#stored.get(index);
      const failed = (): State => this.#failed(code, this.#bad.has(index) ? `the state that it gave of a rollout ${this.#bad.get(index)}` : problem);
      if (stored !== undefined) {
        if (!this.#rescored.has(index)) Object.assign(stored.own, { reward: null, error: failed().error });
        return stored.state;
      }
      return this.#ended.get(index) ?? failed();
    });
    this.#tellRest(states);
    this.resolve({ states, ...(options.stored === undefined ? {} : { stored: this.#stored }), fatal: null, aborted: false });
  }

  /** What was not told since it came in one moment. */
  #tellRest(states: readonly State[]): void {
    const { indices, options, traits } = this.#of;
    const own = indices.map((index, at) => [index, states[at] as State] as const).filter(([index]) => !this.#stored.has(index));
    for (const [index, state] of own) this.#tellGenerated(index, state);
    const alone = isScoredAlone(traits, options);
    if (options.part !== undefined && !(options.part.scores && alone)) return;
    if (alone) for (const [index, state] of own) this.#tellScored(index, state);
    else this.#tellScoring(null);
  }

  #emptyState(): State {
    const { input, options, traits } = this.#of;
    return createState(input, { ...this.#asked(), tools: traits.toolDefs, now: options.now() });
  }

  #failed(code: RolloutErrorCode, problem: string): State {
    const error = rolloutFailure(code, `environment ${this.#of.traits.id}: ${problem}`);
    return Object.assign(this.#emptyState(), { completion: [], is_completed: true, stop_condition: "has_error", error });
  }
}

import type { RolloutSummary } from "../../src/metrics/rollout-summary.ts";
import type { UnitWork } from "../../src/executor/session/session-events.ts";
import type { UnitTime } from "../../src/environments/unit-time.ts";
import { broken } from "./invariants.ts";
import { pieceAt } from "./merging.ts";
import type { Scene } from "./scene.ts";
import { summary } from "./storage.ts";

/** A unit as the simulated executor has it open. */
export interface Unit {
  /** Rollouts to be generated. */
  readonly left: Set<number>;
  /** The others of the unit are with others: what is generated here is kept, and not scored. */
  readonly span: boolean;
  readonly summaries: RolloutSummary[];
  refused: boolean;
  /** Model requests of it that are under way. */
  readonly inFlight: Set<number>;
  /** Its deadline; null without one, or before it has begun. */
  time: UnitTime | null;
  /** When it had its first permit, true time; null before. */
  permittedAt: number | null;
  /** When it began, by the executor's clock. */
  readonly begun: number;
}

type Made = Pick<RolloutSummary, "metrics" | "env_digest">;

/** Where a unit begins: rows that stay, rollouts that are generated already and are scored by this executor, and the rest. `made`: what its rows say of its code. */
export function beginUnit(world: Scene, { unit, block }: UnitWork, rollouts: number, made: Made, begun: number): Unit {
  const { lo, hi } = block.span ?? { lo: 0, hi: rollouts };
  const left = new Set(Array.from({ length: hi - lo }, (_, at) => lo + at));
  const state: Unit = { left, span: block.span !== undefined, summaries: [], refused: false, inFlight: new Set(), time: null, permittedAt: null, begun };
  const redo = block.redo.find((each) => each.unit === unit);
  for (const index of redo?.keep ?? []) {
    const kept = redo === undefined ? undefined : world.segments.get(pieceAt(world, redo.place) ?? "")?.[index];
    if (kept === undefined) broken(`rollout ${index} of unit ${unit} is to be kept, and has no row`);
    state.left.delete(index);
    state.summaries[index] = redo?.score?.includes(index) && !block.poisoned && world.random.chance(0.7) ? { ...kept, error: null, ...made } : kept;
  }
  for (const piece of block.poisoned ? [] : (block.pieces ?? [])) {
    for (const index of piece.unit === unit ? piece.rollouts : []) {
      const said = world.segments.get(`${piece.segment}/${unit}/${index}`)?.[0];
      if (said === undefined) broken(`rollout ${index} of unit ${unit} is kept where there is none`);
      if (!state.left.delete(index)) continue;
      if (said.error !== null && said.error !== "scorer_error") state.summaries[index] = said;
      else state.summaries[index] = { ...said, error: world.strikes(world.plan.scorerError) ? "scorer_error" : null, ...made };
    }
  }
  if (block.poisoned) endUnit(world, state, "poisoned", made);
  return state;
}

/** What is not answered never will be. */
export function endUnit(world: Scene, { left, summaries }: Unit, error: "poisoned" | "timeout", made: Made): void {
  for (const index of left) summaries[index] = { ...summary(0, error, world.generated()), ...made };
  left.clear();
}

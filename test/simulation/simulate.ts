import { broken } from "./invariants.ts";
import { isSlow } from "./world/plan.ts";
import type { RunWorld } from "./world/run-world.ts";
import { World } from "./world/world.ts";

/** Longest a run may take after the last fault, in simulated time. */
const PATIENCE_MS = 1_800_000;
/** With units that take minutes. */
const LONG_PATIENCE_MS = 6 * PATIENCE_MS;
/** After its end, until what it left behind is gone, another generation that begins meanwhile among it. */
const CLEANING_MS = 2 * PATIENCE_MS;
const MOST_STEPS = 1_000_000;

/** Plays one schedule to its end; returns null, or what went wrong in it. */
export function simulate(seed: number): string | null {
  const world = new World(seed);
  const patience = isSlow(world.plan) ? LONG_PATIENCE_MS : PATIENCE_MS;
  try {
    while (!ended(world)) {
      if (world.clock.now > world.plan.calmAt + patience + CLEANING_MS) broken(`a run does not end: ${world.runs.map(describe).join()}`);
      if (world.clock.steps > MOST_STEPS) broken(`too many steps: ${world.runs.map(describe).join()}`);
      if (!world.clock.step()) broken("nothing is left to happen");
    }
    for (const run of world.runs) checkEnd(run);
    return null;
  } catch (thrown) {
    return `seed ${seed} at ${world.clock.now} ms: ${thrown instanceof Error ? thrown.message : String(thrown)}`;
  }
}

const ended = (world: World): boolean => world.clock.now > world.plan.calmAt && world.executors.size === 0 && world.runs.every((run) => run.isOver);

function describe(world: RunWorld): string {
  const { head } = world.outcome();
  return JSON.stringify({
    status: head.status,
    phase: head.phase,
    n: head.n,
    done: head.done,
    pending: head.pending,
    offer: head.offer,
    tickets: world.run.ledger.tickets(),
  });
}

function checkEnd(world: RunWorld): void {
  world.run.checkEnd();
  if (world.run.isDeleted) return;
  const { head } = world.outcome();
  if (world.plan.unwritable !== (head.unwritten === true)) broken("the final files can never be written, and the run does not say so, or the other way round");
  if (world.inFlight !== 0) broken(`${world.inFlight} requests are in flight after the end`);
  if (head.status === "COMPLETED" && head.done !== head.n && head.stopped === undefined) broken("completed with units missing");
  if (head.status === "COMPLETED" && head.n !== world.run.ledger.config().num_examples) broken("completed before all examples were pinned");
  if (head.status !== "COMPLETED") return;
  for (const done of world.run.ledger.dones.values()) {
    const poisoned = done.rollouts.some((rollout) => rollout?.error === "poisoned");
    if (world.plan.killers.has(done.unit) && !poisoned) broken(`unit ${done.unit} ended well, though it kills every executor`);
  }
}

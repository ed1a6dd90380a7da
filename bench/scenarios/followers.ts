import { startService } from "../edgewise-process.ts";
import { type Seen, startFollowers } from "../follow-process.ts";
import { create, settled } from "../http-run.ts";
import { type Measure, median } from "../measure.ts";
import { startModelProcess } from "../model-process.ts";
import type { Scenario } from "../scenario.ts";

const FOLLOWERS = 200;
const ROLLOUTS = 10_000;
const CONCURRENCY = 64;
const PAIRS = 3;
const LOOK_MS = 500;

interface Once {
  /** Rollouts per second, and the seconds they took. */
  readonly rate: number;
  readonly seconds: number;
  /** Seconds of processor time of the runtime. */
  readonly processor: number;
  readonly seen: Seen | null;
}

/** What two hundred viewers of one run take from it, with a server that answers at once: run after run, with them and without. */
export const followers: Scenario = async (places) => {
  const model = await startModelProcess();
  const service = await startService(places("followers"));
  try {
    const once = async (viewers: number): Promise<Once> => {
      await model.clear();
      const before = service.processorTime();
      const id = await create({ url: service.url, modelUrl: model.url, examples: ROLLOUTS, concurrency: CONCURRENCY });
      const following = viewers === 0 ? null : await startFollowers(service.url, id, viewers, ROLLOUTS);
      const { status, finalized_at } = await settled(service.url, id, LOOK_MS);
      if (status !== "COMPLETED") throw new Error(`the run ended ${status}`);
      const seen = (await following?.seen()) ?? null;
      const seconds = (Date.parse(finalized_at) - ((await model.stats()).first_start_ms ?? Number.NaN)) / 1000;
      return { rate: ROLLOUTS / seconds, seconds, processor: service.processorTime() - before, seen };
    };
    // The first run of a service also pays for what it compiles.
    await once(0);
    const [alone, watched]: [Once[], Once[]] = [[], []];
    for (let pair = 0; pair < PAIRS; pair++) {
      alone.push(await once(0));
      const each = await once(FOLLOWERS);
      if (each.seen?.complete !== FOLLOWERS) throw new Error(`${each.seen?.complete} of ${FOLLOWERS} followers were told everything`);
      watched.push(each);
    }
    const middle = (runs: readonly Once[], value: (run: Once) => number): number => median(runs.map(value));
    const measure = (name: string, value: number, unit: string): Measure => ({ scenario: "followers", name, value, unit });
    const rates = [alone, watched].map((runs) => middle(runs, ({ rate }) => rate)) as [number, number];
    return [
      measure("nobody follows", rates[0], "rollouts/s"),
      measure(`${FOLLOWERS} follow`, rates[1], "rollouts/s"),
      measure(
        "events per follower and run",
        middle(watched, ({ seen }) => (seen?.events ?? 0) / FOLLOWERS),
        "events",
      ),
      measure(
        "what the followers take",
        (middle(watched, ({ processor }) => processor) - middle(alone, ({ processor }) => processor)) / middle(watched, ({ seconds }) => seconds),
        "processors",
      ),
      { ...measure("followed beside not followed", rates[1] / rates[0], "ratio"), target: { at_least: 0.9 } },
    ];
  } finally {
    await service.close();
    await model.close();
  }
};

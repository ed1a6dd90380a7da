import { sleep } from "../../../src/clients/transport/sleep.ts";
import { inProcess } from "../../../src/environments/hosted/in-process.ts";
import type { Playable } from "../../../src/environments/unit/playable.ts";
import { runUnit, type UnitOutcome } from "../../../src/environments/unit/run-unit.ts";
import type { Client } from "../../../src/rollouts/types.ts";

/** One unit of `environment` whose time is over after `deadlineMs`, as an executor plays it. */
export const playedUnit = (environment: Playable, client: Client, rollouts: number, deadlineMs: number): Promise<UnitOutcome> =>
  runUnit(
    inProcess(environment),
    { example_id: 0, prompt: [{ role: "user", content: "2+2" }], task: "t", answer: "4" },
    {
      unit: 0,
      rollouts: Array.from({ length: rollouts }, (_, index) => index),
      kept: [],
      rolloutsPerExample: rollouts,
      client,
      model: "m",
      sampling_args: {},
      maxRetries: 0,
      independent: false,
      stateColumns: [],
      signal: new AbortController().signal,
      deadlineMs,
      now: Date.now,
      sleep,
      random: Math.random,
    },
  );

import type { Batched, BatchedAnswer, BatchedRequest } from "../../clients/batching/batch-route.ts";
import { onAbort } from "../../clients/transport/on-abort.ts";
import type { RunConfig } from "../../config/plan/run-config.ts";
import type { HostedEnvironment } from "../../environments/hosted/hosted-environment.ts";
import { rolloutOf } from "../../rollouts/state/asked-questions.ts";
import type { Client, RolloutInput } from "../../rollouts/types.ts";
import type { ExecutorPorts } from "../ports.ts";
import { AskedBy } from "./asked-by.ts";
import type { RequestId } from "./custom-id.ts";
import type { NameRequest } from "./question-id.ts";
import { unanswered } from "./unanswered.ts";

/** The first request of a rollout, with its name. */
export interface FirstRequest {
  readonly id: RequestId;
  readonly request: Omit<BatchedRequest, "state">;
}

/** One play whose requests are caught. */
interface Catching {
  readonly unit: number;
  readonly caught: (rollout: number, request: FirstRequest) => void;
}

/** What a client is answered by whose requests are only written down: nothing, until its rollout is ended. */
export class CaughtRequests implements Batched {
  readonly #name: NameRequest;
  readonly #asked = new AskedBy<Catching>();

  constructor(name: NameRequest) {
    this.#name = name;
  }

  /** `client`, the requests of whose rollouts are told to `play`. */
  of(play: Catching, client: Client): Client {
    return this.#asked.of(play, client);
  }

  async answer({ state, ...request }: BatchedRequest, signal: AbortSignal | null): Promise<BatchedAnswer> {
    const play = this.#asked.ownerOf(state);
    const rollout = rolloutOf(state);
    if (play === undefined || rollout === null) throw unanswered("it does not say which rollout asks, and with --batch answers are known by that");
    play.caught(rollout, { id: await this.#name(play.unit, rollout, { ...request, state }), request });
    return await untilEnded(signal);
  }
}

const untilEnded = (signal: AbortSignal | null): Promise<never> =>
  new Promise((_, reject) => {
    if (signal === null) return;
    const end = (): void => reject(signal.reason);
    if (signal.aborted) end();
    else onAbort(signal, end);
  });

/** What plays are made with whose requests are caught. */
export interface CatchingHost extends Pick<ExecutorPorts, "now" | "sleep" | "random"> {
  readonly environment: HostedEnvironment;
  readonly config: RunConfig;
  readonly caught: CaughtRequests;
  /** A client that asks `caught`. */
  readonly clientOf: (unit: number) => Client;
  /** Milliseconds; null = none. */
  readonly deadlineMs: number | null;
}

/**
 * Plays rollouts of one example until each has asked its first question or has ended without one, and ends them there: nothing is scored, repeated or kept, and
 * what they hold is let go as of any that are given up. Gives what was asked, by rollout. Rejects when `signal` aborts, and for a fault of the engine.
 */
export async function firstRequests(
  { environment, config, caught, clientOf, deadlineMs, now, sleep, random }: CatchingHost,
  input: RolloutInput,
  { unit, rollouts }: { readonly unit: number; readonly rollouts: readonly number[] },
  signal: AbortSignal,
): Promise<ReadonlyMap<number, FirstRequest>> {
  const asked = new Map<number, FirstRequest>();
  const open = new Set(rollouts);
  const over = new AbortController();
  const settle = (rollout: number): void => {
    open.delete(rollout);
    if (open.size === 0) over.abort(new Error("all that it asks is known"));
  };
  const play: Catching = {
    unit,
    caught: (rollout, request) => {
      if (!open.has(rollout)) return;
      asked.set(rollout, request);
      settle(rollout);
    },
  };
  const { model, sampling_args, headers_from_state } = config;
  const { fatal } = await environment.play(input, rollouts, {
    client: caught.of(play, clientOf(unit)),
    model,
    sampling_args,
    ...(headers_from_state === undefined ? {} : { stateKeys: Object.values(headers_from_state) }),
    maxRetries: 0,
    independent: config.independent_scoring,
    part: { scores: false },
    onRollout: settle,
    signal: AbortSignal.any([signal, over.signal]),
    deadlineMs,
    now,
    sleep,
    random,
  });
  signal.throwIfAborted();
  // Whoever plays it for its answers is told the same, and says so.
  return fatal === null ? asked : new Map();
}

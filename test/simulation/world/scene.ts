import type { NextAnswer, NextRequest, OfferMessage } from "../../../durable-objects/dispatcher/offers.ts";
import type { RolloutSummary } from "../../../src/metrics/rollout-summary.ts";
import type { Answer, Request, TransitionName } from "../../../durable-objects/run/transition.ts";
import type { RunContext } from "../../../durable-objects/run/state/context.ts";
import type { MemoryLedger } from "../../support/run/memory-ledger.ts";
import type { Clockwork } from "./clockwork.ts";
import type { Made, Standing } from "./loose.ts";
import type { Plan } from "./plan.ts";
import type { Random } from "./random.ts";

/** Which version of the environment an executor has, and whether it is one that compares digests. */
export interface Code {
  readonly version: number;
  readonly checks: boolean;
}

/** What the parts of a schedule see of it and of each other; `World` puts it together. */
export interface Scene {
  readonly random: Random;
  readonly plan: Plan;
  readonly clock: Clockwork;
  /** Executor by epoch, over the whole life of the run. */
  readonly epochs: Map<number, string>;
  /** Requests that each grant was last known to have, by epoch and number of its allowance. */
  readonly granted: Map<string, number>;
  /** Those of all live grants, as last known. */
  counted: number;
  generating: number;
  /** The last epoch that was given out before the run was paused; null = it is not. */
  pausedAfter: number | null;
  /** Last known end of each lease, by epoch. */
  readonly leases: Map<number, number>;
  /** Blocks handed out, by epoch and claim number. */
  readonly blocks: Map<string, string>;
  /** Every time an executor fell silent with a unit begun and not committed, and whether that unit was alone in it. */
  readonly silences: { readonly unit: number; readonly alone: boolean }[];
  /** Rows by segment and unit. */
  readonly segments: Map<string, readonly RolloutSummary[]>;
  /** What is stored of kept rollouts, by segment, unit and rollout. */
  readonly standings: Map<string, Standing>;
  /** What is stored under a segment's name: of each piece the segment that it was committed in, and its unit. */
  readonly objects: Map<string, readonly string[]>;
  /** What is done of each rollout, by unit and index: which answer of the model it is, and how it ended. */
  readonly answers: Map<string, RolloutSummary>;
  /** Rollouts that were kept and whose units were not done then. */
  readonly kept: Map<string, RolloutSummary>;
  /** Turns that are kept of rollouts which stand between two, by unit and rollout. */
  readonly turnsKept: Map<string, number>;
  /** Of each unit that is done the segment with the scores that count. */
  readonly scored: Map<number, string>;
  /** Answers that infrastructure had ended when the newest generation began, each by its number: what that generation is to draw again. */
  repairs: { readonly generation: number; readonly owed: ReadonlyMap<string, number> };
  readonly dispatcher: {
    offer(message: Omit<OfferMessage, "run" | "weight">): void;
    next(request: NextRequest): NextAnswer;
  };
  readonly run: {
    readonly ledger: MemoryLedger;
    context(): RunContext;
    call<N extends TransitionName>(name: N, request: Request<N>): Answer<N>;
  };
  readonly executors: { delete(executor: unknown): boolean };
  readonly boot: string;
  /** Life of the process of its executors and the Run. */
  readonly runtime: string;
  /** Digests of the code that was deployed, the newest last. */
  readonly codes: readonly string[];
  readonly calm: boolean;
  /** Nothing can be stored now: a full disk. */
  readonly outage: boolean;
  readonly inFlight: number;
  /** The same world, as another of its runs sees it. */
  of(run: string): Scene;
  strikes(probability: number): boolean;
  message(deliver: () => void, lost?: () => void): void;
  /** For a rollout, by unit and index, and its so many-th turn. */
  requestStarted(rollout: string, turn: number): void;
  requestEnded(rollout: string): void;
  /** A rollout is scored by itself, by code that is made so. */
  scoredAlone(rollout: string, made: Made): void;
  /** The number of an answer of the model. */
  generated(): number;
}

/** What all runs of a schedule share, as each of them sees it. */
export interface SharedWorld
  extends Pick<Scene, "random" | "clock" | "calm" | "outage" | "boot" | "runtime" | "codes" | "of" | "strikes" | "message" | "generated"> {
  readonly executors: { delete(executor: unknown): boolean };
  readonly dispatcher: {
    offer(run: string, message: Omit<OfferMessage, "run" | "weight">): void;
    next(request: NextRequest): NextAnswer;
    forget(): void;
  };
  deploy(): void;
  restart(how: "whole" | "runtime"): void;
}

import type { BatchOutcome, BatchPlan } from "../../../durable-objects/run/batching/batching-protocol.ts";
import type { Grant, UnitRange } from "../../../durable-objects/run/protocol.ts";
import type { RunConfig } from "../../../src/config/plan/run-config.ts";
import { RuleRun } from "./rule-run.ts";

/** Bytes of one request of these tests. */
const REQUEST_BYTES = 100;

/** A Run whose requests go out in batches, and what its executors and its provider may say to it. */
export class BatchRun extends RuleRun {
  static override open(n: number, changes: Partial<RunConfig> = {}): BatchRun {
    const run = new BatchRun({ num_examples: n, batch: true, ...changes });
    run.pin(n);
    return run;
  }

  /** A grant to carry batches. */
  carrier(executor = "carrier"): Grant {
    const answer = this.join(executor, { batches: true });
    if (answer.kind !== "grant" || answer.task.kind !== "batch") throw new Error(`no batches to carry: ${JSON.stringify(answer)}`);
    return answer;
  }
  /** A grant of units, to one who knows of batches. */
  worker(executor = "worker"): Grant {
    const answer = this.join(executor, { batches: true });
    if (answer.kind !== "grant" || answer.task.kind !== "units") throw new Error(`no units: ${JSON.stringify(answer)}`);
    return answer;
  }
  override grant(executor: string): Grant {
    const answer = this.join(executor, { batches: true });
    if (answer.kind !== "grant") throw new Error(`no grant: ${answer.kind}`);
    return answer;
  }

  plan(grant: Grant): BatchPlan {
    return this.call("batchPlan", { ...this.id(grant), left_ms: 60_000 });
  }
  tell(grant: Grant, outcome: BatchOutcome): string {
    return this.call("batchTold", { ...this.id(grant), outcome }).kind;
  }

  /** What was planned is in storage, or the first so many units of it. */
  wrote(
    grant: Grant,
    plan: BatchPlan,
    changes: { readonly units?: readonly UnitRange[]; readonly ready?: readonly UnitRange[]; readonly cut?: true } = {},
  ): string {
    if (plan.kind !== "write") throw new Error(`nothing to write: ${plan.kind}`);
    const { units = plan.units, ready = [], ...cut } = changes;
    const requests = (sum(units) - sum(ready)) * this.ledger.config().rollouts_per_example;
    const object = requests === 0 ? null : `requests-${plan.job}`;
    return this.tell(grant, { kind: "wrote", job: plan.job, place: 0, object, bytes: requests * REQUEST_BYTES, requests, units, ready, ...cut, bound: null });
  }
  /** Answers of these units are in storage; of the others of the job none. */
  collect(grant: Grant, job: number, ready: readonly UnitRange[], again: readonly UnitRange[] = [], lost: Readonly<Record<string, number>> = {}): string {
    const counts = { answered: sum(ready), failed: sum(again) };
    return this.tell(grant, { kind: "collected", job, index: `answers-${job}`, counts, lost, ready, again });
  }
  /** Brings what is to be asked to the provider, as one job; returns its number. */
  submit(grant: Grant, batch_id?: string): number {
    const plan = this.plan(grant);
    this.wrote(grant, plan);
    if (plan.kind !== "write") throw new Error(`nothing to write: ${plan.kind}`);
    const { job } = plan;
    this.tell(grant, { kind: "uploaded", job, file_id: `file-${job}` });
    this.tell(grant, { kind: "creating", job });
    this.tell(grant, { kind: "submitted", job, batch_id: batch_id ?? `batch-${job}`, expires_at: null });
    return job;
  }
  /** It is over at the provider. */
  ended(grant: Grant, job: number, answered: number, failed = 0): string {
    return this.tell(grant, { kind: "seen", job, state: "ended", counts: { answered, failed } });
  }
}

const sum = (ranges: readonly UnitRange[]): number => ranges.reduce((units, { lo, hi }) => units + hi - lo, 0);

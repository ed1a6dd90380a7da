import type { BatchOutcome, BatchPlan } from "../../../durable-objects/run/batching/batching-protocol.ts";
import type { Ack, Grant } from "../../../durable-objects/run/protocol.ts";
import { jobObject } from "../../../r2-layout/keys.ts";
import { placesOf } from "../../config/plan/run-config.ts";
import { EdgewiseError } from "../../errors/result.ts";
import { askedPlace } from "../endpoints/asked-place.ts";
import type { BatchPlace } from "../endpoints/endpoint-clients.ts";
import type { Endpoints } from "../endpoints/endpoints.ts";
import { RunNotes } from "../endpoints/notes.ts";
import type { GrantEnvironments, Loaded } from "../grant-environments.ts";
import { EnvironmentLog } from "../hosting/environment-log.ts";
import { ticketOf } from "../keep-alive.ts";
import type { ExecutorBudget, ExecutorPorts } from "../ports.ts";
import type { Slice } from "../slice.ts";
import { JobBill } from "../spending/job-bill.ts";
import { JobPurse } from "../spending/job-purse.ts";
import { AnswerIndexes } from "./answer-indexes.ts";
import { collectJob } from "./collect-job.ts";
import { CaughtRequests } from "./first-requests.ts";
import { providerStep } from "./provider-steps.ts";
import { nameRequests } from "./question-id.ts";
import { silentBounds } from "./silent-bounds.ts";
import { refusalOf, unpaidOutcome } from "./step-refusals.ts";
import { type Unpaid, writeJob } from "./write-job.ts";

export interface BatchTicketHost {
  /** Of the run's team. */
  readonly ports: ExecutorPorts;
  readonly budget: Pick<ExecutorBudget, "unitDeadline">;
  readonly slice: Slice;
  readonly endpoints: Endpoints;
  readonly environments: GrantEnvironments;
}

type Step = Extract<BatchPlan, { readonly job: number }>;
type Write = Extract<BatchPlan, { kind: "write" }>;

/** The longest that the Run is told there is time for. Milliseconds. */
const MOST_LEFT_MS = 60 * 60_000;

/**
 * Carries the batches of one run for as long as a step is due and the slice lasts: asks the Run for the next step, does it and says what came of it. Nothing is
 * waited for: the Run has somebody come again when a step is due. The environment is loaded for as long as requests are written.
 */
export class BatchTicket {
  readonly #host: BatchTicketHost;
  readonly #grant: Grant;
  readonly #notes: RunNotes;
  readonly #indexes: AnswerIndexes;
  #places: readonly BatchPlace[] | null = null;
  #objects = 0;
  #steps = 0;

  constructor(host: BatchTicketHost, grant: Grant) {
    this.#host = host;
    this.#grant = grant;
    this.#notes = new RunNotes(host.ports, grant.config.run_id);
    this.#notes.ticket = ticketOf(grant);
    this.#indexes = new AnswerIndexes({ ...host.ports, slice: host.slice }, grant.config.run_id);
  }

  /** Rejects with what keeps a step from being done that is none of the provider's: it is left to the next ticket, or ends the run. */
  async run(signal: AbortSignal): Promise<void> {
    try {
      for (let step = await this.#next(signal); step !== null; )
        step = step.kind === "write" ? await this.#writing(step, signal) : await this.#do(step, signal);
    } finally {
      this.#indexes.drop();
    }
  }

  /** Null: nothing is due, or somebody else does it. */
  async #next(signal: AbortSignal): Promise<Step | null> {
    const { slice } = this.#host;
    signal.throwIfAborted();
    if (this.#steps++ > 0 && slice.isOver) return null;
    slice.spend();
    const plan = await this.#run().batchPlan({ ...ticketOf(this.#grant), left_ms: Math.min(slice.left, MOST_LEFT_MS) });
    return "job" in plan ? plan : null;
  }

  async #tell(outcome: BatchOutcome): Promise<Ack> {
    this.#host.slice.spend();
    return await this.#run().batchTold({ ...ticketOf(this.#grant), outcome });
  }

  async #do(step: Exclude<Step, Write>, signal: AbortSignal): Promise<Step | null> {
    const place = await this.#placeOf(step.place);
    if (place === null) return null;
    const outcome = await this.#outcomeOf(step, place, signal);
    // It may be paid, and nobody will know what.
    if (outcome?.kind === "refused" && outcome.how === "missing") await this.#purseOf(step.place).lose(step.job);
    if (outcome !== null) await this.#tell(outcome);
    return await this.#next(signal);
  }

  async #outcomeOf(step: Exclude<Step, Write>, place: BatchPlace, signal: AbortSignal): Promise<BatchOutcome | null> {
    if (step.kind === "collect") return await this.#collect(step, place, signal);
    if (step.kind !== "release") return await this.#atProvider(step, place, signal);
    await this.#purseOf(step.place).release(step.job);
    return { kind: "released", job: step.job };
  }

  #atProvider(step: Exclude<Step, { kind: "write" | "collect" | "release" }>, place: BatchPlace, signal: AbortSignal): Promise<BatchOutcome | null> {
    const { ports, slice } = this.#host;
    const creating = async (job: number): Promise<boolean> => (await this.#tell({ kind: "creating", job })).kind === "ok";
    const pays = async ({ job, bound, requests }: { job: number; bound: number | null; requests: number }): Promise<BatchOutcome | null> => {
      const held = await this.#purseOf(step.place).send(job, { amount: bound ?? 0, requests });
      if (held.kind === "held") return null;
      // Of more than one example smaller parts are tried first.
      if (held.kind === "over" && requests <= this.#grant.config.rollouts_per_example) await this.#endOverBudget(held);
      return unpaidOutcome(job);
    };
    return providerStep({ store: ports.store, slice, runId: this.#grant.config.run_id, place, creating, pays }, step, signal);
  }

  async #collect(step: Extract<Step, { kind: "collect" }>, { route, blot, named }: BatchPlace, signal: AbortSignal): Promise<BatchOutcome> {
    const { ports, slice } = this.#host;
    const { run_id, model } = this.#grant.config;
    const purse = this.#purseOf(step.place);
    const bill = purse.isHeld && purse.price !== null ? new JobBill(purse.price) : null;
    try {
      const host = { ports, slice, route, blot, object: this.#object(step.job), ...(bill === null ? {} : { bill }) };
      const collected = await collectJob(host, this.#grant, step, signal);
      // Budgets know it before the Run: whoever comes after a kill between the two says it again.
      if (bill !== null) {
        const bounds = await silentBounds({ store: ports.store, runId: run_id, object: step.object }, bill.silent, model, purse);
        await purse.settle(step.job, bill.spent(bounds));
      }
      return collected;
    } catch (thrown) {
      signal.throwIfAborted();
      return refusalOf(thrown, step, named);
    }
  }

  /** Writes jobs for as long as that is what is due; the step after that. */
  async #writing(first: Write, signal: AbortSignal): Promise<Step | null> {
    const { environments } = this.#host;
    let step: Step | null = first;
    const heard = { isOver: false };
    await environments.within(this.#grant, { notes: this.#notes, prints: this.#printsUntil(heard) }, async (loaded) => {
      heard.isOver = true;
      while (step?.kind === "write") {
        const place: number = step.job % placesOf(this.#grant.config).length;
        const outcome = await this.#write(step, place, loaded, signal);
        if (outcome === null) step = null;
        else {
          await this.#tell(outcome);
          step = await this.#next(signal);
        }
      }
    });
    // It could not be loaded, which the run was told.
    return step === first ? null : step;
  }

  async #write(step: Write, at: number, { environment, secrets }: Loaded, signal: AbortSignal): Promise<BatchOutcome | null> {
    const { ports, endpoints, budget, slice } = this.#host;
    const { config } = this.#grant;
    const [first] = placesOf(config);
    const place = await this.#placeOf(at);
    if (place === null || first === undefined) return null;
    const caught = new CaughtRequests(nameRequests(askedPlace(config, first)));
    const opened = await endpoints.open(this.#readingOnly(), this.#notes, secrets, undefined, caught);
    try {
      const { now, sleep, random } = ports;
      const { clientOf } = opened;
      const { route } = place;
      const catching = { now, sleep, random, environment, caught, clientOf, deadlineMs: budget.unitDeadline };
      const host = { ...catching, ports, slice, indexes: this.#indexes, route, place: at, object: this.#object(step.job), purse: this.#purseOf(at) };
      const written = await writeJob(host, this.#grant, step, signal);
      if (written.kind === "wrote") return written;
      if (written.kind === "short") return unpaidOutcome(step.job);
      await this.#endOverBudget(written);
      return null;
    } finally {
      opened.close();
    }
  }

  /** What is only written is no claim to a question: who answers it first has it kept. */
  #readingOnly(): Grant {
    const { config } = this.#grant;
    return config.cache === undefined ? this.#grant : { ...this.#grant, config: { ...config, cache: { ...config.cache, mode: "read" } } };
  }

  /** What the environment prints when its rollouts are played for their questions it prints when they are played for their answers. */
  #printsUntil(heard: { readonly isOver: boolean }): EnvironmentLog {
    const { sleep, log } = this.#host.ports;
    return new EnvironmentLog({ send: async (lines) => (heard.isOver ? undefined : await this.#notes.environment(lines)), sleep, log });
  }

  /** Null where the run was told that there is none. Throws `missing_key`. */
  async #placeOf(at: number): Promise<BatchPlace | null> {
    if (this.#places === null) {
      const secrets = await this.#host.environments.secretsOf(this.#grant);
      if (secrets === null) return null;
      this.#places = this.#host.endpoints.batchPlaces(this.#grant, this.#notes, secrets);
    }
    const place = this.#places[at];
    if (place === undefined) throw new EdgewiseError("internal", `a job is for place ${at} of a run that has ${this.#places.length}`);
    return place;
  }

  async #endOverBudget({ budget, over }: Extract<Unpaid, { readonly kind: "over" }>): Promise<void> {
    this.#host.slice.spend();
    await this.#run().endOverBudget({ ...ticketOf(this.#grant), budget, over });
  }

  /** What jobs for a place are paid from. */
  #purseOf(at: number): JobPurse {
    const { ports, slice } = this.#host;
    const { config, epoch } = this.#grant;
    const place = placesOf(config)[at];
    if (place === undefined) throw new EdgewiseError("internal", `a job is for place ${at} of a run that has fewer`);
    return new JobPurse({ ports, slice, config, epoch, place });
  }

  #object(job: number): string {
    const { ticket, epoch } = this.#grant;
    return jobObject(job, ticket, epoch, ++this.#objects);
  }

  /** A stub for one call. */
  #run() {
    return this.#host.ports.run(this.#grant.config.run_id);
  }
}

import type { BatchOutcome, BatchPlan } from "../../../durable-objects/run/batching/batching-protocol.ts";
import { requestsKey } from "../../../r2-layout/keys.ts";
import type { BatchFile, SeenBatch } from "../../clients/batching/batch-route.ts";
import { EdgewiseError } from "../../errors/result.ts";
import type { BatchPlace } from "../endpoints/endpoint-clients.ts";
import type { ExecutorStore } from "../ports.ts";
import type { Slice } from "../slice.ts";
import { askedIn } from "./asked-in.ts";
import { failedBatch, refusalOf } from "./step-refusals.ts";

type Plan<Kind extends BatchPlan["kind"]> = Extract<BatchPlan, { kind: Kind }>;
export type ProviderPlan = Plan<"upload"> | Plan<"create"> | Plan<"look" | "cancel">;

export interface StepHost {
  readonly store: Pick<ExecutorStore, "stream">;
  readonly slice: Pick<Slice, "spend">;
  readonly runId: string;
  readonly place: BatchPlace;
  /** Says that it is about to be created; whether it may be. */
  readonly creating: (job: number) => Promise<boolean>;
  /** Holds what it can cost, before; what is in the way of that, else null. */
  readonly pays: (plan: Plan<"create">) => Promise<BatchOutcome | null>;
}

/** Does a step of a job at its provider. Null: the run wants it no more. Rejects with what is none of the provider's. */
export async function providerStep(host: StepHost, plan: ProviderPlan, signal: AbortSignal): Promise<BatchOutcome | null> {
  const { route, named } = host.place;
  const { job } = plan;
  try {
    switch (plan.kind) {
      case "upload":
        return { kind: "uploaded", job, file_id: await route.upload(fileOf(host, { ...plan, requests: 0 }), signal) };
      case "create":
        return await create(host, plan, signal);
      case "look":
        return seen(host, job, await route.look(plan.batch_id, signal));
      case "cancel":
        return seen(host, job, await route.cancel(plan.batch_id, signal));
    }
  } catch (thrown) {
    signal.throwIfAborted();
    return refusalOf(thrown, plan, named);
  }
}

function fileOf(
  { store, slice, runId }: StepHost,
  { object, bytes, requests }: { readonly object: string; readonly bytes: number; readonly requests: number },
): BatchFile {
  const key = requestsKey(runId, object);
  return {
    name: object,
    bytes,
    requests,
    open: async () => {
      slice.spend();
      const stream = await store.stream(key);
      if (stream === null) throw new EdgewiseError("storage_damaged", `${key} is missing in storage`);
      return stream;
    },
  };
}

/** What somebody may have created is looked for before it is created again. */
async function create(host: StepHost, plan: Plan<"create">, signal: AbortSignal): Promise<BatchOutcome | null> {
  const { place, runId } = host;
  const { job, file_id, creating_at } = plan;
  const tag = { run_id: runId, job };
  if (creating_at !== null) {
    // Where it is created with its requests they are all that it is known by.
    const ours = file_id === null ? await askedIn(host.store, runId, plan.object, signal) : null;
    const { requests, taken } = plan;
    const isOurs = (custom_id: string): boolean => ours?.has(custom_id) ?? false;
    const found = await place.route.find({ tag, file_id, requests, since: creating_at, taken, isOurs }, signal);
    if (found === "undecided") {
      const message = `${place.named.url}: whether the batch was created is not known yet`;
      return { kind: "refused", job, failure: { code: "provider_error", message }, how: "passing" };
    }
    if (found !== null) return submitted(host, job, found);
  }
  if (plan.find_only === true) return { kind: "absent", job };
  const unpaid = await host.pays(plan);
  if (unpaid !== null) return unpaid;
  if (!(await host.creating(job))) return null;
  return submitted(host, job, await place.route.create(fileOf(host, plan), file_id, tag, signal));
}

function submitted({ place }: StepHost, job: number, batch: SeenBatch): BatchOutcome {
  if (batch.state === "failed" || batch.state === "missing") return failedBatch(batch, job, place.named);
  const { batch_id, expires_at } = batch;
  return { kind: "submitted", job, batch_id, expires_at };
}

function seen({ place }: StepHost, job: number, batch: SeenBatch): BatchOutcome {
  const { state, answered, failed } = batch;
  return state === "failed" || state === "missing" ? failedBatch(batch, job, place.named) : { kind: "seen", job, state, counts: { answered, failed } };
}

import { DurableObject } from "cloudflare:workers";
import type { Env } from "../../src/env.ts";
import type * as Batching from "./batching/batching-protocol.ts";
import type * as P from "./protocol.ts";
import type * as Pushed from "./pushed/pushed-protocol.ts";
import { RunVitals } from "./reading/vitals.ts";
import type { Answer, Request, TransitionName } from "./transition.ts";

export const GONE = { kind: "gone" } as const;

/** What executors call of a Run: each call is one transition. */
export abstract class RunForExecutors extends DurableObject<Env> {
  /** Fields of an instance are no methods of its stub: nobody but the object itself reaches them. */
  protected readonly vitals = new RunVitals();
  /** One transition in one transaction; null when there is no such run. */
  protected abstract readonly transit: <N extends TransitionName>(name: N, request: Request<N>) => Answer<N> | null;

  async join(request: P.JoinRequest): Promise<P.JoinAnswer> {
    return this.transit("join", request) ?? GONE;
  }
  async claim(request: P.ClaimRequest): Promise<P.ClaimAnswer> {
    if (request.vitals !== undefined) this.vitals.said(request.epoch, request.vitals);
    return this.transit("claim", request) ?? GONE;
  }
  async commit(call: P.CommitCall): Promise<P.CommitAnswer> {
    const { pieces, ...rest } = call;
    const units = JSON.parse(call.units) as P.CommitUnit[];
    const kept = pieces === undefined ? {} : { pieces: JSON.parse(pieces) as P.CommitPiece[] };
    if (call.vitals !== undefined) this.vitals.said(call.epoch, call.vitals);
    const answer = this.transit("commit", { ...rest, units, ...kept }) ?? GONE;
    if (answer.kind === "committed")
      this.vitals.committed(
        call.epoch,
        units.reduce((sum, { rollouts }) => sum + rollouts.length, 0),
      );
    return answer;
  }
  async beat(request: P.BeatRequest): Promise<P.BeatAnswer> {
    this.vitals.said(request.epoch, request.vitals);
    return this.transit("beat", request) ?? GONE;
  }
  async leave(request: P.LeaveRequest): Promise<P.Ack> {
    return this.transit("leave", request) ?? GONE;
  }
  async inputs(request: P.TicketId): Promise<P.InputsAnswer> {
    return this.transit("inputs", request) ?? GONE;
  }
  async adopt(call: P.AdoptCall): Promise<P.Ack> {
    return this.transit("adopt", { ...call, units: JSON.parse(call.units) as P.AdoptedUnit[] }) ?? GONE;
  }
  async adopted(request: P.TicketId): Promise<P.AdoptedAnswer> {
    return this.transit("adopted", request) ?? GONE;
  }
  async note(request: P.NoteRequest): Promise<P.Ack> {
    return this.transit("note", request) ?? GONE;
  }
  async otherCode(request: P.OtherCodeRequest): Promise<P.Ack> {
    return this.transit("otherCode", request) ?? GONE;
  }
  async fail(request: P.FailRequest): Promise<P.Ack> {
    return this.transit("fail", request) ?? GONE;
  }
  async endOverBudget(request: P.OverBudgetRequest): Promise<P.Ack> {
    return this.transit("endOverBudget", request) ?? GONE;
  }
  async sandbox(request: P.SandboxRequest): Promise<P.Ack> {
    return this.transit("sandbox", request) ?? GONE;
  }
  async mergePlan(request: P.MergePlanRequest): Promise<P.MergePlanAnswer> {
    return this.transit("mergePlan", request) ?? GONE;
  }
  async merged(request: P.MergedRequest): Promise<P.Ack> {
    return this.transit("merged", request) ?? GONE;
  }
  async window(request: P.TicketId): Promise<P.WindowAnswer> {
    return this.transit("window", request) ?? GONE;
  }
  async sorted(request: P.SortedRequest): Promise<P.Ack> {
    return this.transit("sorted", request) ?? GONE;
  }
  async upload(request: P.UploadRequest): Promise<P.Ack> {
    return this.transit("upload", request) ?? GONE;
  }
  async part(request: P.PartRequest): Promise<P.Ack> {
    return this.transit("part", request) ?? GONE;
  }
  async finalised(request: P.FinalisedRequest): Promise<P.Ack> {
    return this.transit("finalised", request) ?? GONE;
  }

  async intake(request: P.TicketId): Promise<Pushed.IntakeAnswer> {
    return this.transit("intake", request) ?? GONE;
  }
  async indexed(request: Pushed.IndexedRequest): Promise<P.Ack> {
    return this.transit("indexed", request) ?? GONE;
  }
  async placed(request: Pushed.PlacedRequest): Promise<P.Ack> {
    return this.transit("placed", request) ?? GONE;
  }

  async batchPlan(request: Batching.BatchPlanRequest): Promise<Batching.BatchPlan> {
    return this.transit("batchPlan", request) ?? GONE;
  }
  async batchTold(request: Batching.BatchToldRequest): Promise<P.Ack> {
    return this.transit("batchTold", request) ?? GONE;
  }
}

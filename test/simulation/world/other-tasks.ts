import type { Grant, TicketId } from "../../../durable-objects/run/protocol.ts";
import type { Calls } from "./calls.ts";
import { mergeAll } from "./merging.ts";
import { preparation } from "./preparation.ts";
import { toldForRule } from "../stopping.ts";
import type { Scene } from "./scene.ts";

/** What an executor does under a grant that is not for units: done is `then`. False when it is for units, and its environment has been loaded. */
export function doOtherTask(world: Scene, calls: Calls, grant: Grant, digest: string, then: () => void): boolean {
  const { task, ticket, epoch, protocol } = grant;
  const { plan, run } = world;
  const id: TicketId = { protocol, ticket, epoch };
  if (task.kind === "merge") {
    mergeAll(world, { ticket: id, call: calls.make.bind(calls), after: (ms, next) => calls.after(ms, next), end: then });
    return true;
  }
  if (task.kind === "finalise" ? plan.unwritable : world.strikes(plan.unloadable)) {
    const failure = { code: "storage_unavailable", message: "not now" } as const;
    calls.make("fail", { ...id, failure, passing: true }, then);
    return true;
  }
  if (task.kind === "finalise") calls.make("finalised", id, then);
  if (task.kind === "prepare") {
    const n = run.ledger.config().num_examples;
    const from = task.pinned?.count ?? 0;
    const pin = (lo: number, hi: number) => ({ ...id, ...preparation(plan, lo, hi, task, digest), ...toldForRule(plan, lo, hi) });
    const first = task.in_parts === true && n > from ? world.random.int(from, n - 1) : from;
    if (first === from) calls.make("prepared", pin(from, n), then);
    else
      calls.make("prepared", { ...pin(from, first), more: true }, (answer) => {
        if (answer?.kind !== "ok") return then();
        calls.after(world.random.int(0, 3_000), () => calls.make("prepared", pin(first, n), then));
      });
  }
  return task.kind !== "units";
}

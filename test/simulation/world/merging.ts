import { packed } from "../../../src/executor/merge.ts";
import type { MergeSource } from "../../../durable-objects/run/protocol.ts";
import { segmentName } from "../../../r2-layout/keys.ts";
import type { Answer, Request, TransitionName } from "../../../durable-objects/run/transition.ts";
import { relocated } from "../../../durable-objects/run/state/relocated.ts";
import type { MemoryLedger } from "../../support/run/memory-ledger.ts";
import type { Scene } from "./scene.ts";

/** Length of the rows of every unit. */
export const ROW_BYTES = 10;

/** The piece that is stored at a place, or undefined. */
export const pieceAt = ({ objects }: Scene, { segment, offset }: { readonly segment: string; readonly offset: number }): string | undefined =>
  objects.get(segment)?.[offset / ROW_BYTES];

/** Rows of a done unit that are not where they are said to be; null where all are. */
export function misplaced(world: Scene, ledger: MemoryLedger): string | null {
  for (const done of ledger.dones.values()) {
    const [place] = relocated(ledger, [done]);
    const found = place === undefined ? undefined : pieceAt(world, place);
    if (found !== `${done.segment}/${done.unit}`) return `rows of unit ${done.unit} are said to be at ${place?.segment} ${place?.offset}, where ${found} is`;
  }
  return null;
}

/** Kept rollouts whose segment is gone; null where all are there. */
export function lostPieces({ objects }: Scene, ledger: MemoryLedger): string | null {
  const lost = ledger.piecesIn({ lo: 0, hi: Number.POSITIVE_INFINITY }).find(({ segment }) => !objects.has(segment));
  return lost === undefined ? null : `rollouts of unit ${lost.unit} are said to be kept in ${lost.segment}, which is gone`;
}

/** What an executor has of its own: calls that may be lost, waits that its death ends, and the end of its ticket. */
interface Merger {
  readonly ticket: { readonly protocol: 1; readonly ticket: number; readonly epoch: number };
  call<N extends "mergePlan" | "merged">(name: N, request: Request<N & TransitionName>, then: (answer: Answer<N & TransitionName> | null) => void): void;
  after(ms: number, then: () => void): void;
  end(): void;
}

/** Merges as `src/executor/merge.ts` does: a call or a put that fails ends it, and the next ticket goes on. */
export function mergeAll(world: Scene, { ticket, call, after, end }: Merger): void {
  let targets = 0;
  const next = (through: number | null): void =>
    call("mergePlan", { ...ticket, through }, (plan) => {
      if (plan?.kind !== "plan") return end();
      const { through: done } = plan;
      store(packed(plan.sources), () => next(done));
    });
  const store = (groups: readonly (readonly MergeSource[])[], then: () => void): void => {
    const [sources, ...rest] = groups;
    if (sources === undefined) return then();
    const target = segmentName(ticket.ticket, ticket.epoch, ++targets);
    after(world.random.int(1, 60), () => {
      const fails = world.outage || world.strikes(world.plan.fault.putFails);
      const pieces = sources.flatMap(({ segment, length }) => (world.objects.get(segment) ?? []).slice(0, length / ROW_BYTES));
      if (!fails || (!world.outage && world.random.chance(0.5))) world.objects.set(target, pieces);
      if (fails) return end();
      call("merged", { ...ticket, target, sources }, (answer) => (answer?.kind === "ok" ? store(rest, then) : end()));
    });
  };
  next(null);
}

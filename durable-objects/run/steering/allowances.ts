/**
 * What live grants are allowed after the run was steered. More is counted in the transaction that allows it, before its executor hears; less is counted in full
 * until the executor says that no more is under way. So the requests of live tickets sum to no more than `max_concurrent`, and where that has fallen below
 * what they hold, the sum only falls.
 */
import type { RunConfig } from "../../../src/config/plan/run-config.ts";
import { freeLanes, lanesFor } from "../grants/offers.ts";
import type { Allowance, GivesBack, Holding, Steering } from "../protocol.ts";
import type { RunHead } from "../state/head.ts";
import type { Ledger, Ticket } from "../state/ledger.ts";
import { divide } from "./divide.ts";

/** Part of the answer to a call under the grant: what it is allowed, unless the call says that its executor knows. */
export const steeringOf = ({ allows }: Ticket, { holds }: GivesBack): Steering => (allows === undefined || holds?.size === allows.size ? {} : { allows });

/** Whether a grant of an executor that takes no other allowance is to end, since nothing of the run may begin. */
export const endsPaused = ({ task, steers }: Ticket, { paused }: RunHead): boolean => paused !== undefined && task.kind === "units" && steers !== true;

const isSteered = ({ task, steers }: Ticket): boolean => task.kind === "units" && steers === true;

const limitOf = (limit: number): number => (limit > 0 ? limit : Number.POSITIVE_INFINITY);

/** Gives every live grant of units its part of the run's limits as they are now; nothing where that is what it has, and to executors of before. */
export function allowAnew(ledger: Ledger, head: RunHead): void {
  const config = ledger.config();
  const tickets = ledger.tickets().filter(isSteered);
  const allowed = head.paused === undefined ? sharesOf(config, head, ledger.tickets(), tickets) : tickets.map((ticket) => nothing(config, ticket));
  for (const [at, ticket] of tickets.entries()) {
    const share = allowed[at];
    if (share === undefined) continue;
    // One that was made before the run had another weight is told of it with the rest.
    const weighed = config.priority === undefined ? share : { ...share, priority: config.priority };
    if (!isAllowed(ticket, weighed)) ledger.putTicket(allow(ticket, weighed));
  }
}

/** Judges of what is generated go on. Of a limit that is new what is under way counts too. */
const nothing = ({ max_concurrent_generation = 0 }: RunConfig, { generation, scoring }: Ticket): Holding => ({
  lanes: 0,
  requests: 0,
  ...(generation === undefined && max_concurrent_generation <= 0 ? {} : { generation: 0 }),
  ...(scoring === undefined ? {} : { scoring }),
});

function sharesOf(config: RunConfig, head: RunHead, all: readonly Ticket[], tickets: readonly Ticket[]): readonly Holding[] {
  const { max_concurrent, max_concurrent_generation = 0, max_concurrent_scoring = max_concurrent, rollouts_per_example } = config;
  const others = all.filter((ticket) => !isSteered(ticket));
  const left = (limit: number, held: (ticket: Ticket) => number): number => Math.max(0, limitOf(limit) - others.reduce((sum, each) => sum + held(each), 0));
  const requests = divide(
    left(max_concurrent, (each) => each.requests),
    tickets.map((each) => ({ held: each.requests, room: each.room ?? each.requests })),
  );
  // As large a part of the other limits as of the requests: who comes later is to have some too.
  const part = (limit: number, at: number): number =>
    max_concurrent > 0 ? Math.max(1, Math.ceil((limitOf(limit) * (requests[at] ?? 0)) / max_concurrent)) : limitOf(limit);
  const generation = divide(
    left(max_concurrent_generation, (each) => each.generation ?? 0),
    tickets.map((each, at) => ({ held: each.generation ?? each.requests, room: Math.min(requests[at] ?? 0, part(max_concurrent_generation, at)) })),
  );
  const scoring = divide(
    left(max_concurrent_scoring, (each) => each.scoring ?? 0),
    tickets.map((each, at) => ({ held: each.scoring ?? 0, room: part(max_concurrent_scoring, at) })),
  );
  let lanesLeft = freeLanes(head, all);
  return tickets.map((ticket, at) => {
    const own = requests[at] ?? 0;
    const generates = max_concurrent_generation > 0 ? { generation: Math.min(own, generation[at] ?? 0) } : {};
    const scores = max_concurrent_scoring > 0 ? { scoring: scoring[at] ?? 0 } : {};
    // One that could not ask, or not score, has nothing to do: what it has goes to others.
    if (own === 0 || generates.generation === 0 || scores.scoring === 0) return nothing(config, ticket);
    const needed = lanesFor(own, rollouts_per_example);
    const { concurrency } = head;
    const lanes =
      typeof concurrency !== "number"
        ? needed
        : Math.min(ticket.lanes + lanesLeft, max_concurrent > 0 ? Math.max(1, Math.ceil((concurrency * own) / max_concurrent)) : needed);
    lanesLeft -= Math.max(0, lanes - ticket.lanes);
    return { lanes, requests: own, ...generates, ...scores };
  });
}

type Share = Omit<Allowance, "size">;
const isAllowed = ({ allows }: Ticket, share: Share): boolean =>
  allows !== undefined &&
  allows.lanes === share.lanes &&
  allows.requests === share.requests &&
  allows.generation === share.generation &&
  allows.scoring === share.scoring &&
  allows.priority === share.priority;

/** Counted from here on: what it holds, or is allowed where that is more. */
function allow(ticket: Ticket, share: Share): Ticket {
  const { generation: held, scoring: judged, ...rest } = ticket;
  const more = (name: "generation" | "scoring", before: number | undefined): Pick<Ticket, "generation" | "scoring"> => {
    const allowed = share[name];
    return allowed === undefined ? {} : { [name]: Math.max(before ?? 0, allowed) };
  };
  return {
    ...rest,
    lanes: Math.max(ticket.lanes, share.lanes),
    requests: Math.max(ticket.requests, share.requests),
    ...more("generation", held ?? (share.generation === undefined ? undefined : ticket.requests)),
    ...more("scoring", judged),
    allows: { ...share, size: (ticket.allows?.size ?? 0) + 1 },
  };
}

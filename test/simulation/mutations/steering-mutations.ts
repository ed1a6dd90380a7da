import type { Mutation } from "./mutation.ts";

/** Rules of runs that are steered. */
export const STEERING_MUTATIONS: readonly Mutation[] = [
  {
    name: "count a lower limit before it is reached",
    file: "durable-objects/run/steering/allowances.ts",
    find: "requests: Math.max(ticket.requests, share.requests),",
    replace: "requests: share.requests,",
  },
  {
    name: "take a word of an older allowance for one of the newest",
    file: "durable-objects/run/grants/tickets.ts",
    find: "said !== undefined && (said.size ?? 0) === (ticket.allows?.size ?? 0) ? said : undefined;",
    replace: "said;",
  },
  {
    name: "say of a lower limit that it is reached when it is heard of",
    file: "src/executor/session/holdings.ts",
    find: "Math.max(before.requests, requests),",
    replace: "requests,",
    first: 1_460,
  },
  {
    name: "grant units of a run that is paused",
    file: "durable-objects/run/grants/tickets.ts",
    find: "if (!hasWork || head.paused !== undefined || ",
    replace: "if (!hasWork || ",
    first: 250,
  },
];

import type { LimitKind } from "../../../src/endpoint-limits/limit-kinds.ts";
import { METERS, type ProviderPlanInput } from "../model-server/limited/provider-plan.ts";
import { type PacedWorld, play } from "./paced-world.ts";

const MINUTE_MS = 60_000;

/** One row of the table: a provider, who calls it, and what happens to it in the middle. */
export interface Cell {
  readonly name: string;
  readonly world: Omit<PacedWorld, "seed">;
  /** When the limit changes or a storm ends, of the world's time; null where neither happens. */
  readonly event_ms: number | null;
}

export interface Measured {
  /** Of the hidden limit, after the first minute; storms, and the two minutes after a change, left out. */
  readonly use: number;
  /** Of requests after the first minute, storms left out. */
  readonly refused: number;
  /** Seconds from the event until 90 % of the limit were used over ten seconds; null without one, infinite where they never were. */
  readonly back_s: number | null;
}

const ONE = { executors: 1, each: 200, exchange_ms: 200 } as const;
const FIFTY = { executors: 50, each: 5, exchange_ms: 3_000 } as const;

const limitOf = (kind: LimitKind, fifty: boolean): number => {
  const requests = fifty ? 3_000 : 600;
  return { concurrent: fifty ? 100 : 20, requests, tokens: requests * 500, input_tokens: requests * 300, output_tokens: requests * 200 }[kind];
};

const PLANS = {
  plain: {},
  "retry-after": { retry_after: "exact" },
  "in words": { names_limit: true },
  headers: { headers: "openai" },
  "headers 2x": { headers: "openai", says: 2 },
  "headers 0.5x": { headers: "openai", says: 0.5 },
  "counts refused": { counts_refused: true },
} as const satisfies Record<string, ProviderPlanInput>;

const EVENTS = {
  "": { for_ms: 15 * MINUTE_MS, event_ms: null, plan: () => ({}) },
  doubled: { for_ms: 16 * MINUTE_MS, event_ms: 8 * MINUTE_MS, plan: (kind, limit) => ({ changes: [{ at_ms: 8 * MINUTE_MS, kind, limit: limit * 2 }] }) },
  halved: { for_ms: 16 * MINUTE_MS, event_ms: 8 * MINUTE_MS, plan: (kind, limit) => ({ changes: [{ at_ms: 8 * MINUTE_MS, kind, limit: limit / 2 }] }) },
  storm: { for_ms: 20 * MINUTE_MS, event_ms: 15 * MINUTE_MS, plan: () => ({ storms: [{ from_ms: 5 * MINUTE_MS, to_ms: 15 * MINUTE_MS }] }) },
} as const satisfies Record<string, { for_ms: number; event_ms: number | null; plan: (kind: LimitKind, limit: number) => ProviderPlanInput }>;

export type PlanName = keyof typeof PLANS;
export type EventName = keyof typeof EVENTS;

export function cell(kind: LimitKind, meter: (typeof METERS)[number], plan: PlanName, event: EventName, fifty: boolean): Cell {
  const limit = limitOf(kind, fifty);
  const hidden = kind === "concurrent" ? { kind, limit } : { kind, limit, meter };
  const { for_ms, event_ms, plan: eventPlan } = EVENTS[event];
  return {
    name: [kind, kind === "concurrent" ? "" : meter, plan, event, fifty ? "50 executors" : ""].filter((part) => part !== "").join(", "),
    world: { ...(fifty ? FIFTY : ONE), latency_ms: 2_000, start: 64, for_ms, plan: { limits: [hidden], ...PLANS[plan], ...eventPlan(kind, limit) } },
    event_ms,
  };
}

/** Every cell of the table. */
export function cells(): readonly Cell[] {
  const all: Cell[] = [];
  const kinds: readonly LimitKind[] = ["requests", "tokens", "output_tokens", "concurrent"];
  for (const fifty of [false, true]) {
    for (const kind of kinds) {
      for (const meter of kind === "concurrent" ? METERS.slice(0, 1) : METERS) {
        for (const plan of Object.keys(PLANS) as PlanName[]) {
          if (kind === "concurrent" && (plan.startsWith("headers") || plan === "counts refused")) continue;
          if (kind === "output_tokens" && plan !== "plain" && plan !== "in words") continue;
          for (const event of Object.keys(EVENTS) as EventName[]) all.push(cell(kind, meter, plan, event, fifty));
        }
      }
    }
  }
  return all;
}

export function measure({ world, event_ms }: Cell, seed: number): Measured {
  const { provider, began } = play({ ...world, seed });
  const { tally } = provider;
  const end = began + world.for_ms;
  const first = began + MINUTE_MS;
  const isStorm = provider.plan.storms.length > 0;
  const parts: [number, number][] =
    event_ms === null
      ? [[first, end]]
      : [
          [first, began + (isStorm ? 5 * MINUTE_MS : event_ms)],
          [began + event_ms + (isStorm ? 1 : 2) * MINUTE_MS, end],
        ];
  const length = parts.reduce((sum, [from, to]) => sum + to - from, 0);
  const use = parts.reduce((sum, [from, to]) => sum + tally.bestUse(from, to) * (to - from), 0) / length;
  const counted = isStorm ? parts : ([[first, end]] as const);
  const requests = counted.map(([from, to]) => tally.requests(from, to));
  const refused = requests.reduce((sum, one) => sum + one.refused, 0);
  const taken = requests.reduce((sum, one) => sum + one.taken, 0);
  return { use, refused: refused / Math.max(1, refused + taken), back_s: event_ms === null ? null : backAfter(tally, began + event_ms, end) };
}

const LOOKED_MS = 10_000;
function backAfter(tally: { bestUse(from: number, to: number): number }, event: number, end: number): number {
  for (let at = event; at + LOOKED_MS <= end; at += 1_000) if (tally.bestUse(at, at + LOOKED_MS) >= 0.9) return (at - event) / 1_000;
  return Number.POSITIVE_INFINITY;
}

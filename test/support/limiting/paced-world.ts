import { Ceilings, type CeilingsNow } from "../../../durable-objects/limiter/ceilings/ceilings.ts";
import type { Refusal, Sightings } from "../../../durable-objects/limiter/limiter-control.ts";
import { RATE_KINDS, type RateKind, type RequestCost, type ToldLimits } from "../../../src/endpoint-limits/limit-kinds.ts";
import { seededRandom } from "../../../src/seeded-random.ts";
import { LimitedProvider } from "../model-server/limited/limited-provider.ts";
import { type ProviderPlan, type ProviderPlanInput, providerPlan } from "../model-server/limited/provider-plan.ts";
import { sightings } from "./sightings.ts";

/** Executors that keep exactly to what they are told, and want more than any limit: what is measured is how the limit is found. */
export interface PacedWorld {
  readonly plan: ProviderPlanInput;
  readonly executors: number;
  /** Requests that each may have in flight. */
  readonly each: number;
  /** Between two exchanges of an executor. */
  readonly exchange_ms: number;
  /** Of an answer, on average; half of it at least. */
  readonly latency_ms: number;
  readonly start: number | null;
  readonly for_ms: number;
  readonly seed: number;
}

const STEP_MS = 20;
const REFUSED_AFTER_MS = 100;
/** An executor comes at once with a first refusal, and no sooner than this after its last exchange. */
const SOONEST_MS = 150;
const INPUT_TOKENS = 300;
const OUTPUT_TOKENS = 200;
const MAX_OUTPUT = 1_000;

interface Open {
  readonly asked: RequestCost;
  readonly output: number;
  readonly sent: number;
  readonly ends: number;
  readonly told: ToldLimits | null;
  readonly refusal: Omit<Refusal, "ago_ms"> | null;
}

/** One of the executors: its share is an even part of what the Limiter said when it was last there. */
class PacedExecutor {
  readonly name: string;
  readonly balance: Partial<Record<RateKind, number>> = {};
  now: CeilingsNow | null = null;
  open: Open[] = [];
  next: number;
  last = 0;
  refusedAt = Number.NEGATIVE_INFINITY;
  pausedUntil = 0;
  seen: Mutable<Sightings>;

  constructor(name: string, next: number) {
    this.name = name;
    this.next = next;
    this.seen = nothing();
  }
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

const nothing = (): Mutable<Sightings> => sightings({ over_ms: 0 });

export interface Played {
  readonly provider: LimitedProvider;
  readonly ceilings: Ceilings;
  /** When the world began by the provider's clock. */
  readonly began: number;
}

/** `watch` is called each second of the world. */
export function play(world: PacedWorld, watch?: (now: number, ceilings: CeilingsNow, provider: LimitedProvider) => void): Played {
  const random = seededRandom(world.seed);
  // A fixed minute does not begin with the world.
  const offset = Math.floor(random() * 60) * 1_000;
  const provider = new LimitedProvider(later(world.plan, offset));
  const ceilings = new Ceilings(null, 0, { start: world.start });
  const executors = Array.from({ length: world.executors }, (_, i) => new PacedExecutor(`e${i}`, Math.floor(random() * world.exchange_ms)));
  const mean = { input_tokens: INPUT_TOKENS, output_tokens: OUTPUT_TOKENS };
  // Of each pause after which one request is tried: whether it was.
  let triedAfter = -1;
  const exponential = (): number => -Math.log(1 - random());

  const costOf = (kind: RateKind, { input_tokens, output_tokens }: RequestCost): number =>
    ({ requests: 1, tokens: input_tokens + output_tokens, input_tokens, output_tokens })[kind];

  const send = (executor: PacedExecutor, now: number): void => {
    const asked = { input_tokens: Math.round(INPUT_TOKENS * (0.5 + exponential() / 2)), output_tokens: MAX_OUTPUT };
    const output = Math.min(MAX_OUTPUT, Math.round(OUTPUT_TOKENS * (0.5 + exponential() / 2)));
    const answer = provider.begin(asked, now + offset);
    for (const kind of RATE_KINDS) if (executor.balance[kind] !== undefined) executor.balance[kind] -= costOf(kind, mean);
    executor.seen.sent++;
    const taken = answer.kind === "taken";
    const in_flight = executor.open.filter(({ refusal }) => refusal === null).length;
    executor.open.push({
      asked,
      output,
      sent: now,
      ends: now + (taken ? world.latency_ms * (0.5 + exponential() / 2) : REFUSED_AFTER_MS),
      told: answer.told,
      refusal: taken
        ? null
        : {
            kind: answer.status === 529 ? "overloaded" : "rate_limited",
            named: answer.named,
            named_limit: answer.named_limit,
            retry_after_ms: answer.retry_after_ms,
            told: answer.told,
            in_flight,
          },
    });
  };

  const end = (executor: PacedExecutor, { asked, output, told, refusal, sent }: Open, now: number): void => {
    const { seen } = executor;
    if (told !== null) seen.told = told;
    if (refusal !== null) {
      if (refusal.kind === "overloaded") seen.overloaded++;
      else seen.rate_limited++;
      if (seen.refusals.length < 16) seen.refusals = [...seen.refusals, { ...refusal, ago_ms: now }];
      if (refusal.retry_after_ms !== null) executor.pausedUntil = Math.max(executor.pausedUntil, now + refusal.retry_after_ms);
      if (now - executor.refusedAt > 2_000) executor.next = Math.min(executor.next, Math.max(now, executor.last + SOONEST_MS));
      executor.refusedAt = now;
      return;
    }
    provider.end(asked, output, now + offset);
    const used = { input_tokens: asked.input_tokens, output_tokens: output };
    seen.accepted++;
    seen.used = { input_tokens: seen.used.input_tokens + used.input_tokens, output_tokens: seen.used.output_tokens + output };
    for (const kind of RATE_KINDS) if (executor.balance[kind] !== undefined) executor.balance[kind] += costOf(kind, mean) - costOf(kind, used);
    mean.input_tokens += (used.input_tokens - mean.input_tokens) / 200;
    mean.output_tokens += (used.output_tokens - mean.output_tokens) / 200;
    void sent;
  };

  const exchange = (executor: PacedExecutor, now: number): void => {
    const seen = { ...executor.seen, over_ms: now - executor.last, refusals: executor.seen.refusals.map((one) => ({ ...one, ago_ms: now - one.ago_ms })) };
    executor.seen = nothing();
    executor.last = now;
    executor.next = now + world.exchange_ms * (0.9 + 0.2 * random());
    ceilings.heard(seen, { executor: executor.name, in_flight: executor.open.length }, now);
    executor.now = ceilings.at(now);
  };

  const mayBegin = (executor: PacedExecutor, index: number, now: number): boolean => {
    if (executor.open.length >= world.each || now < executor.pausedUntil) return false;
    const view = executor.now;
    if (view === null) return executor.open.length * world.executors < (world.start ?? Number.POSITIVE_INFINITY);
    if (view.pause_until !== null && now < view.pause_until) return false;
    if (view.probe) {
      const after = view.pause_until ?? 0;
      if (after <= triedAfter) return false;
      triedAfter = after;
      return true;
    }
    for (const kind of RATE_KINDS) if ((executor.balance[kind] ?? 1) <= 0) return false;
    const most = Math.min(view.limits.concurrent?.pace ?? Number.POSITIVE_INFINITY, view.start ?? Number.POSITIVE_INFINITY);
    return executor.open.length < evenPart(most, world.executors, index);
  };

  for (let now = 0; now < world.for_ms; now += STEP_MS) {
    for (const [index, executor] of executors.entries()) {
      if (executor.open.some(({ ends }) => ends <= now)) {
        const ended = executor.open.filter(({ ends }) => ends <= now);
        executor.open = executor.open.filter(({ ends }) => ends > now);
        for (const one of ended) end(executor, one, now);
      }
      const limits = executor.now?.limits;
      for (const kind of RATE_KINDS) {
        const pace = limits?.[kind]?.pace;
        if (pace === undefined) delete executor.balance[kind];
        else {
          // Never more than a second's worth, or one request.
          const share = pace / world.executors;
          const most = Math.max(share / 60, costOf(kind, mean));
          executor.balance[kind] = Math.min(most, (executor.balance[kind] ?? random() * costOf(kind, mean)) + (share * STEP_MS) / 60_000);
        }
      }
      while (mayBegin(executor, index, now)) send(executor, now);
      if (now >= executor.next) exchange(executor, now);
    }
    if (watch !== undefined && now % 1_000 === 0) watch(now, ceilings.at(now), provider);
  }
  return { provider, ceilings, began: offset };
}

const later = (plan: ProviderPlanInput, by: number): ProviderPlan => {
  const { changes, storms, ...rest } = providerPlan(plan);
  return {
    ...rest,
    changes: changes.map((change) => ({ ...change, at_ms: change.at_ms + by })),
    storms: storms.map(({ from_ms, to_ms, status }) => ({ from_ms: from_ms + by, to_ms: to_ms + by, status })),
  };
};

const evenPart = (total: number, parts: number, index: number): number =>
  Number.isFinite(total) ? Math.floor(total / parts) + (index < total % parts ? 1 : 0) : Number.POSITIVE_INFINITY;

import type { ExchangeAnswer, ExchangeRequest, Share } from "../../../durable-objects/limiter/limiter-control.ts";
import type { RateKind } from "../../../src/endpoint-limits/limit-kinds.ts";
import { sleep } from "../../../src/clients/transport/sleep.ts";
import { timerOf } from "../../../src/clients/transport/timer.ts";
import { LimiterLink } from "../../../src/executor/limiting/limiter-link.ts";

export type Ok = Extract<ExchangeAnswer, { kind: "ok" }>;
type Amounts = { readonly [K in RateKind]?: number };

export const OPEN: Ok = {
  kind: "ok",
  mode: "open",
  shares: [],
  over_ms: 0,
  valid_ms: 6_000,
  again_ms: 2_000,
  pause_ms: null,
  down: null,
  bound: null,
};

/** Each holder the same, what it waits for too. */
export function limited(request: ExchangeRequest, concurrent: number | null, adds: Amounts = {}, changes: Partial<Ok> = {}): Ok {
  const most = Object.fromEntries(Object.keys(adds).map((kind) => [kind, 1_000]));
  const bound = changes.bound ? { bound: changes.bound } : {};
  const shares = request.holders.map(({ id }): Share => ({ id, concurrent, adds, most, ...bound }));
  return { ...OPEN, mode: "limited", shares, over_ms: 1_000, valid_ms: 3_000, again_ms: 1_000, ...changes };
}

/** A link to a Limiter that answers as it is told, after a millisecond or so many; `lost`: an exchange that nobody answers. Under the timers of the test. */
export function linked(
  answer: (request: ExchangeRequest, nth: number) => ExchangeAnswer | "lost" | "fails" | { readonly after: number; readonly answer: ExchangeAnswer },
) {
  const seen: { readonly at: number; readonly request: ExchangeRequest }[] = [];
  const troubles: string[] = [];
  const begun = Date.now();
  const link = new LimiterLink(
    { executor: "x", boot: "b", runtime: "r", place: { base_url: "https://m.example", api_key_var: "K", model_class: "m" } },
    {
      now: Date.now,
      timer: timerOf(sleep),
      random: () => 0,
      send: (request, answered, failed) => {
        seen.push({ at: Date.now() - begun, request });
        const said = answer(request, seen.length);
        if (said === "lost") return;
        if (said === "fails") setTimeout(() => failed("no object"), 1);
        else if ("after" in said) setTimeout(() => answered(said.answer), said.after);
        else setTimeout(() => answered(said), 1);
      },
      onTrouble: (kind, message) => void troubles.push(`${kind ?? "over"}: ${message}`),
    },
  );
  return { link, seen, troubles };
}

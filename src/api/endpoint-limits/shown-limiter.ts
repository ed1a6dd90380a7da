import type { LimiterView } from "../../../durable-objects/limiter/limiter-control.ts";
import type { KeptLimit, SeenLimiter } from "../../../durable-objects/registry/limiters/limiter-index-control.ts";
import { LIMIT_FIELDS } from "../../config/endpoints/given-limit.ts";
import { rowOfLimit } from "../../config/endpoints/limit-rows.ts";
import { isOf } from "../../endpoint-limits/given-limit.ts";
import type { LimitKind } from "../../endpoint-limits/limit-kinds.ts";
import { DEFAULT_TEAM } from "../../teams/team-name.ts";

/** A Limiter and a limit that is given as `/limits` shows them. */

const iso = (time: number | null): string | null => (time === null ? null : new Date(time).toISOString());
const kindOf = <Other extends string>(kind: LimitKind | Other): string => (LIMIT_FIELDS as Readonly<Record<string, string>>)[kind] ?? kind;

/** `view`: null where it knows nothing, or does not answer. `kept`: what the team keeps. */
export const shownLimiter = ({ id, place, seen_at }: SeenLimiter, view: LimiterView | null, kept: readonly KeptLimit[]) => ({
  limiter_id: id,
  api_base_url: place.base_url,
  api_key_var: place.api_key_var,
  model_class: place.model_class,
  seen_at: new Date(seen_at).toISOString(),
  given: kept.flatMap(({ name, limits }) => (limits.some((limit) => isOf(limit, place)) ? [name] : [])),
  state: view === null ? null : stateOf(view),
});

const stateOf = ({ mode, limits, bound, paused_until, down_since, in_flight, waiting, minute, latency_ms, users }: LimiterView) => ({
  mode,
  limits: limits.map(({ kind, limit, source }) => ({ kind: kindOf(kind), limit, source })),
  bound: bound === null ? null : { kind: kindOf(bound.kind), limit: bound.limit, source: bound.source },
  paused_until: iso(paused_until),
  down_since: iso(down_since),
  in_flight,
  waiting,
  minute: {
    sent: minute.sent,
    accepted: minute.accepted,
    refused: minute.refused,
    refused_share: minute.sent === 0 ? null : Math.min(1, minute.refused / minute.sent),
    input_tokens: minute.used.input_tokens,
    output_tokens: minute.used.output_tokens,
  },
  latency_ms: latency_ms === null ? null : { p50: latency_ms.p50, p95: latency_ms.p95, p99: latency_ms.p99 },
  users: users.map(({ run, team, kind, priority, in_flight: open, waiting: queued, accepted }) => ({
    // `acme/0000abcd`: the team is beside it. "" = those of other teams.
    run_id: run === "" ? null : (run.split("/").at(-1) ?? run),
    team: run === "" ? null : team || DEFAULT_TEAM,
    ...{ kind, priority, in_flight: open, waiting: queued, accepted },
  })),
});

export const shownGiven = ({ name, limits, created_at, updated_at, updated_by }: KeptLimit) => ({
  name,
  limits: limits.map(rowOfLimit),
  created_at: new Date(created_at).toISOString(),
  updated_at: new Date(updated_at).toISOString(),
  updated_by,
});

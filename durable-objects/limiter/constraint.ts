import type { Bound } from "../../src/endpoint-limits/bound.ts";
import { type Amounts, LIMIT_KINDS, type LimitKind } from "../../src/endpoint-limits/limit-kinds.ts";
import type { CeilingsNow } from "./ceilings/ceilings.ts";
import { givenId, type Party } from "./party.ts";

/** A limit that several parties keep to together: a ceiling of the endpoint, or a cap. */
export interface Constraint {
  /** "" = all parties; else the cap that its parties name. */
  readonly cap: string;
  readonly kind: LimitKind;
  /** What may be used: per minute, or in flight. */
  readonly limit: number;
  /** As people are told of it. */
  readonly bound: Bound;
}

export const isUnder = ({ cap }: Constraint, party: Party): boolean => cap === "" || party.caps.has(cap);

/** A person who gave a limit counts on it. */
export const isHard = ({ bound }: Constraint): boolean => bound.source === "given" || bound.source === "common";

/**
 * All that parties keep to now. `given`: what teams gave, beside what their runs brought along; of a cap that several name with different numbers the strictest
 * holds. `start`: requests in flight at an endpoint that nothing is known of.
 */
export function constraintsOf(
  { limits, start }: Pick<CeilingsNow, "limits" | "start">,
  given: ReadonlyMap<string, Amounts>,
  parties: Iterable<Party>,
): readonly Constraint[] {
  const ceilings = LIMIT_KINDS.flatMap((kind): Constraint[] => {
    const ceiling = limits[kind];
    if (ceiling === undefined) return [];
    const { limit, source, pace } = ceiling;
    return [{ cap: "", kind, limit: pace, bound: { kind, limit, source } }];
  });
  const starting: Constraint[] = start === null ? [] : [{ cap: "", kind: "concurrent", limit: start, bound: { kind: "start", limit: start, source: null } }];
  const caps = new Map<string, Constraint>();
  const keep = (cap: string, limits: Amounts): void => {
    for (const kind of LIMIT_KINDS) {
      const limit = limits[kind];
      const known = caps.get(`${kind} ${cap}`);
      if (limit === undefined || (known !== undefined && known.limit <= limit)) continue;
      caps.set(`${kind} ${cap}`, { cap, kind, limit, bound: { kind, limit, source: cap.startsWith("command/") ? "common" : "given" } });
    }
  };
  for (const party of parties) {
    for (const { report } of party.holders) for (const { id, limits } of report.caps) keep(id, limits);
    const own = given.get(party.team);
    if (own !== undefined) keep(givenId(party.team), own);
  }
  return [...ceilings, ...starting, ...caps.values()];
}

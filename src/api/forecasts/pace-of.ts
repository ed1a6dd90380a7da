import { LIMIT_KINDS, type Amounts, type LimitKind } from "../../endpoint-limits/limit-kinds.ts";
import { givenAmounts } from "../../endpoint-limits/given-limit.ts";
import { placeUrl } from "../../endpoint-limits/limiter-name.ts";
import { modelClass } from "../../endpoint-limits/model-class.ts";
import { placesOf } from "../../config/plan/run-config.ts";
import type { Pace } from "../../forecast/wall-time.ts";
import type { AppPorts } from "../app-ports.ts";
import type { UnnamedConfig } from "../creation/resolve.ts";
import { logUnexpected } from "../errors.ts";
import { readTwice } from "../read-twice.ts";

type Ports = Pick<AppPorts, "registry" | "limiter" | "team">;

/** How fast a run of this config may go: by its own limits, and by what its endpoints' keys bear as far as that is given, told or found. */
export async function paceOf(ports: Ports, config: UnnamedConfig): Promise<Pace> {
  const bounds: Amounts[] = [];
  for (const place of placesOf(config)) bounds.push(await boundsAt(ports, config, place));
  const sum = (kind: LimitKind): number | null =>
    // A place of which nothing is known takes what the others cannot.
    bounds.every((bound) => bound[kind] !== undefined) ? bounds.reduce((all, bound) => all + (bound[kind] ?? 0), 0) : null;
  const { max_concurrent, max_concurrent_generation = 0, common_limit } = config;
  const concurrent = [max_concurrent, max_concurrent_generation, common_limit?.concurrent ?? 0, sum("concurrent") ?? 0].filter((limit) => limit >= 1);
  return {
    concurrent: concurrent.length === 0 ? 0 : Math.min(...concurrent),
    requests_per_minute: sum("requests"),
    tokens_per_minute: sum("tokens"),
  };
}

/** The strictest of what is given with the run, kept by the team, and known of the key. */
async function boundsAt(ports: Ports, config: UnnamedConfig, { base_url, api_key_var }: { base_url: string; api_key_var: string }): Promise<Amounts> {
  const place = { base_url, api_key_var, model_class: modelClass(base_url, config.model) };
  const [seen, kept] = await readTwice(
    () => ports.registry,
    (registry) => Promise.all([registry.listLimiters(), registry.listKeptLimits()]),
  );
  const given = givenAmounts([...(config.limits ?? []), ...kept.flatMap(({ limits }) => limits)], place) ?? {};
  const of = seen.find(
    (each) => placeUrl(each.place.base_url) === placeUrl(base_url) && each.place.api_key_var === api_key_var && each.place.model_class === place.model_class,
  );
  const known = of === undefined ? [] : await knownBy(ports, of.name);
  const strictest = LIMIT_KINDS.flatMap((kind) => {
    const all = [given[kind], ...known.filter((each) => each.kind === kind).map(({ limit }) => limit)].filter((limit) => limit !== undefined);
    return all.length === 0 ? [] : [[kind, Math.min(...all)] as const];
  });
  return Object.fromEntries(strictest);
}

/** A limiter that does not answer keeps nobody from a forecast. */
async function knownBy(ports: Ports, name: string): Promise<readonly { readonly kind: LimitKind; readonly limit: number }[]> {
  try {
    return await readTwice(
      () => ports.limiter(name),
      async (limiter) => (limiter === null ? [] : ((await limiter.view(ports.team))?.limits ?? [])),
    );
  } catch (thrown) {
    logUnexpected("limiter", thrown);
    return [];
  }
}

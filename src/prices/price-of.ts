import { parseUrl } from "../config/endpoints/addresses.ts";
import { SNAPSHOT_DAY } from "../config/dated-model.ts";
import { canonicalJson } from "../config/canonical-json.ts";
import { type JsonObject, placesOf, type RunConfig } from "../config/plan/run-config.ts";
import { isLike } from "../config/wildcard.ts";
import { placeUrl } from "../endpoint-limits/limiter-name.ts";
import type { Price, RunPrices } from "./price.ts";
import { TABLES } from "./tables.ts";

/** Where a model is called, and by which name. */
export interface PricedPlace {
  readonly base_url: string;
  readonly model: string;
}

/** What the tokens of a model cost at a place: as a person gave it, else as the run's table has it. Null: nobody knows. */
export function priceOf({ given, table }: RunPrices, place: PricedPlace): Price | null {
  const own = given.find(({ model, url }) => isLike(model, place.model) && (url === undefined || placeUrl(url) === placeUrl(place.base_url)));
  if (own === undefined) return tablePrice(table, place);
  const { input_usd_per_mtok, output_usd_per_mtok, cached_input_usd_per_mtok } = own;
  return { input_usd_per_mtok, output_usd_per_mtok, ...(cached_input_usd_per_mtok === undefined ? {} : { cached_input_usd_per_mtok }) };
}

/** Of the model that a run evaluates. Null also where its places have several prices: which of them answered is in no row. */
export function priceOfRun({ prices, model, sampling_args, ...places }: PricedRun): Price | null {
  if (prices === undefined) return null;
  // The table has the usual tier's; others are cheaper, or dearer.
  const known = isUsualTier(tierIn(sampling_args)) ? prices : { ...prices, table: NO_TABLE };
  const [first = null, ...others] = placesOf(places).map(({ base_url }) => priceOf(known, { base_url, model }));
  return others.every((other) => canonicalJson(other as JsonObject | null) === canonicalJson(first as JsonObject | null)) ? first : null;
}

type PricedRun = Pick<RunConfig, "prices" | "model" | "sampling_args" | "replicas" | "base_url" | "api_key_var">;

const NO_TABLE = "";
/** As it is sent: what stands in `extra_body` goes before what stands beside it. */
function tierIn({ service_tier, extra_body }: JsonObject): unknown {
  const extra = typeof extra_body === "object" && extra_body !== null && !Array.isArray(extra_body) ? extra_body : {};
  return Object.hasOwn(extra, "service_tier") ? extra.service_tier : service_tier;
}
const isUsualTier = (tier: unknown): boolean => tier === undefined || tier === null || tier === "auto" || tier === "default" || tier === "standard_only";

/** By the shipped table of that date. A table that is not known here (a service that was put back to an older version) has no price. */
function tablePrice(date: string, { base_url, model }: PricedPlace): Price | null {
  const url = parseUrl(base_url);
  // Nobody is billed by what answers without TLS, or at another port than the provider's.
  if (url === null || url.protocol !== "https:" || url.port !== "") return null;
  const host = url.hostname.replace(/\.$/, "");
  const provider = TABLES.find((each) => each.date === date)?.providers.find(({ hosts }) => hosts.includes(host));
  if (provider === undefined) return null;
  const named = (name: string): Price | null => Object.entries(provider.models).find(([pattern]) => isLike(pattern, name))?.[1] ?? null;
  return named(model) ?? named(model.replace(SNAPSHOT_DAY, ""));
}

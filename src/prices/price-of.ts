import { parseUrl } from "../config/endpoints/addresses.ts";
import { SNAPSHOT_DAY } from "../config/dated-model.ts";
import { canonicalJson } from "../config/canonical-json.ts";
import { type JsonObject, placesOf, type RunConfig } from "../config/plan/run-config.ts";
import { isLike } from "../config/wildcard.ts";
import { placeUrl } from "../endpoint-limits/limiter-name.ts";
import { BATCH_PRICE_FACTOR, type GivenPrice, type Price, type RunPrices } from "./price.ts";
import { TABLES } from "./tables.ts";

/** Where a model is called, and by which name. */
export interface PricedPlace {
  readonly base_url: string;
  readonly model: string;
}

/** What the tokens of a model cost at a place, where each request is sent by itself: as a person gave it, else as the run's table has it. Null: nobody knows. */
export function priceOf(prices: RunPrices, place: PricedPlace): Price | null {
  const own = givenFor(prices, place);
  return own === undefined ? tablePrice(prices.table, place) : part(own, 1);
}

/** The same of requests that go out in batches. */
export function batchPriceOf(prices: RunPrices, place: PricedPlace): Price | null {
  const price = priceOf(prices, place);
  return price === null ? null : part(price, batchFactorOf(prices, place));
}

/** What of the price of a request by itself one in a batch costs. */
export const batchFactorOf = (prices: RunPrices, place: PricedPlace): number => givenFor(prices, place)?.batch_factor ?? BATCH_PRICE_FACTOR;

const givenFor = ({ given }: RunPrices, place: PricedPlace): GivenPrice | undefined =>
  given.find(({ model, url }) => isLike(model, place.model) && (url === undefined || placeUrl(url) === placeUrl(place.base_url)));

const part = ({ input_usd_per_mtok, output_usd_per_mtok, cached_input_usd_per_mtok }: Price, factor: number): Price => ({
  input_usd_per_mtok: input_usd_per_mtok * factor,
  output_usd_per_mtok: output_usd_per_mtok * factor,
  ...(cached_input_usd_per_mtok === undefined ? {} : { cached_input_usd_per_mtok: cached_input_usd_per_mtok * factor }),
});

/**
 * How many times as dear as `then` all of `now` is: what somebody knows that tokens cost by the one, they cost so many times by the other. Null: the prices of input, cached
 * input and output differ by different factors.
 */
export function timesAsDear(now: Price | null, then: Price | null): number | null {
  if (now === null || then === null) return null;
  const cached = ({ cached_input_usd_per_mtok: own, input_usd_per_mtok }: Price): number => own ?? input_usd_per_mtok;
  const pairs = [
    [now.input_usd_per_mtok, then.input_usd_per_mtok],
    [now.output_usd_per_mtok, then.output_usd_per_mtok],
    [cached(now), cached(then)],
  ] as const;
  const [first = 1, ...others] = pairs.flatMap(([a, b]) => (a === 0 && b === 0 ? [] : [a / b]));
  const isSame = Number.isFinite(first) && others.every((other) => Math.abs(other - first) <= ROUNDING * first);
  return isSame ? first : null;
}

/** Products of binary fractions are off by less. */
const ROUNDING = 1e-9;

/** Of the model that a run evaluates, as its requests are sent. Null also where its places have several prices: which of them answered is in no row. */
export function priceOfRun({ prices, model, sampling_args, batch, ...places }: PricedRun): Price | null {
  if (prices === undefined) return null;
  // The table has the usual tier's; others are cheaper, or dearer.
  const known = isUsualTier(tierIn(sampling_args)) ? prices : { ...prices, table: NO_TABLE };
  const [first = null, ...others] = placesOf(places).map(({ base_url }) => (batch === true ? batchPriceOf : priceOf)(known, { base_url, model }));
  return others.every((other) => canonicalJson(other as JsonObject | null) === canonicalJson(first as JsonObject | null)) ? first : null;
}

type PricedRun = Pick<RunConfig, "prices" | "model" | "sampling_args" | "batch" | "replicas" | "base_url" | "api_key_var">;

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

import type { Price } from "./price.ts";

/** What a provider asked for its models at a day, as far as who wrote it down was sure. */
export interface PricedProvider {
  readonly name: string;
  /** Hosts whose answers the provider bills by these prices. Another host that serves a model of the same name has prices of its own. */
  readonly hosts: readonly string[];
  /** Where the provider says its prices. */
  readonly page: string;
  /** The day as of which they are known, `YYYY-MM-DD`. */
  readonly as_of: string;
  /** By the name that requests have: exact, or with `*` for any characters. A dated snapshot that is not named by itself costs what the name without its date costs. */
  readonly models: Readonly<Record<string, Price>>;
}

/**
 * Prices as they are shipped. Once shipped a table stays as it is: runs name it by its date and are priced by it for as long as they live, so that
 * other prices are another table.
 */
export interface PriceTable {
  /** The day it was put together, `YYYY-MM-DD`: its name. */
  readonly date: string;
  readonly providers: readonly PricedProvider[];
}

/** Dollars per million tokens; `cached`: of input that the server had in its cache, where it has a price of its own. */
export const price = (input: number, output: number, cached?: number): Price => ({
  input_usd_per_mtok: input,
  output_usd_per_mtok: output,
  ...(cached === undefined ? {} : { cached_input_usd_per_mtok: cached }),
});

import { z } from "zod";
import { MAX_GIVEN_PRICES, MAX_USD_PER_MTOK } from "../../limits.ts";
import type { GivenPrice } from "../../prices/price.ts";
import { endpointUrl, shortText } from "../options/option-values.ts";

/** Prices as files and requests have them: a `[[price]]` each. */

const dollars = z.number().min(0).max(MAX_USD_PER_MTOK);

export const priceRow = z
  .strictObject({
    endpoint_id: shortText(256).optional().describe("An endpoint of the registry, or one that the service keeps: its model at each of its places."),
    model: shortText(256).optional().describe("`*` stands for any characters."),
    url: endpointUrl.optional(),
    api_base_url: endpointUrl.optional().describe("Where it is called; left out, anywhere."),
    input_usd_per_mtok: dollars.describe("Dollars per million tokens of input; 0 = it costs nothing."),
    output_usd_per_mtok: dollars,
    cached_input_usd_per_mtok: dollars.optional().describe("Of input that the server had in its cache; left out, as any other."),
    batch_factor: z.number().min(0).max(1).optional().describe("What of these prices a request in a batch (`batch`) costs; left out, 0.5."),
  })
  .superRefine((row, { addIssue }) => {
    const refuse = (path: string, message: string): void => addIssue({ code: "custom", path: [path], message, input: row });
    if (row.url !== undefined && row.api_base_url !== undefined && row.url !== row.api_base_url) refuse("api_base_url", "says something else than url");
    const placed = (["url", "api_base_url", "model"] as const).find((name) => row[name] !== undefined);
    if (row.endpoint_id !== undefined && placed !== undefined)
      refuse(placed, "is given beside endpoint_id, which names model and place already: leave out one of the two");
    if (row.endpoint_id === undefined && row.model === undefined) refuse("model", "is missing: say what has the price, by model or by endpoint_id");
  });
export const priceRows = z.array(priceRow).max(MAX_GIVEN_PRICES);
export type PriceRow = z.infer<typeof priceRow>;

/** What a row says; `places` are those of its `endpoint_id`, where it has one. */
export function pricesOfRow(row: PriceRow, places: readonly { readonly base_url: string; readonly model: string }[]): readonly GivenPrice[] {
  const { endpoint_id: _, model, url, api_base_url, ...price } = row;
  if (model === undefined) return places.map((place) => ({ model: place.model, url: place.base_url, ...price }));
  const at = url ?? api_base_url;
  return [{ model, ...(at === undefined ? {} : { url: at }), ...price }];
}

/** The row that says it. */
export const rowOfPrice = ({ url, ...price }: GivenPrice): PriceRow => ({ ...price, ...(url === undefined ? {} : { api_base_url: url }) });

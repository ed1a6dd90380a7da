import { EdgewiseError } from "../../errors/result.ts";
import { costOf, type Price, type PricedUsage } from "../../prices/price.ts";
import { boundNano, nanoOf, type RequestBound } from "../../prices/request-bound.ts";

/** No cost that anybody had: what a server says beyond it would be no whole number. */
const MOST_NANO = 1e15;

/** What is reserved for a request, in nano-dollars, and the price that its answer settles by. */
export interface Reserved {
  readonly amount: number;
  readonly price: Price;
}

/** Throws `unknown_price` and `unbounded_cost`. */
export function payable(bound: RequestBound, price: Price | null): Reserved {
  if (price === null)
    throw new EdgewiseError("unknown_price", `nobody knows what ${JSON.stringify(bound.model.slice(0, 256))} costs, and a budget holds for it`, {
      hint: "give its price in the endpoint registry ([[price]], docs/costs.md)",
    });
  const amount = boundNano(bound, price);
  if (amount === null || !Number.isSafeInteger(amount))
    throw new EdgewiseError(
      "unbounded_cost",
      `nothing bounds what a request of ${JSON.stringify(bound.model.slice(0, 256))} costs (${bound.open ?? "it has no limit of tokens"}), and a budget holds for it`,
      {
        hint: "give it a limit of tokens (-t 1024; `max_tokens` of a judge)",
      },
    );
  return { amount, price };
}

/** What an answer is billed, in nano-dollars. */
export const billedNano = (usage: PricedUsage, price: Price): number => Math.min(MOST_NANO, nanoOf(costOf(usage, price)));

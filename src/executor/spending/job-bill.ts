import { readUsage, record } from "../../clients/openai/reply-fields.ts";
import type { BatchLine } from "../../clients/batching/batch-route.ts";
import type { Price } from "../../prices/price.ts";
import { billedOf } from "../../rollouts/state/usage.ts";
import { billedNano } from "./payable.ts";

/** What the answers of one job came to. One that was refused, lost, expired or cancelled costs nothing; one that does not say what it took, or is too large to be read, counts at its bound. */
export class JobBill {
  readonly #price: Price;
  readonly #silent = new Set<string>();
  #settled = 0;

  constructor(price: Price) {
    this.#price = price;
  }

  /** Each request of the job once. */
  add(line: BatchLine): void {
    if (line.kind === "large") return void this.#silent.add(line.custom_id);
    if (line.kind === "lost" || line.status < 200 || line.status > 299) return;
    const usage = usageOf(line.text);
    if (usage === null) this.#silent.add(line.custom_id);
    else this.#settled += billedNano(billedOf(usage), this.#price);
  }

  /** Answers without their usage. */
  get silent(): ReadonlySet<string> {
    return this.#silent;
  }

  /** For `JobPurse.settle`. `bounds`: of those that are silent, together. */
  spent(bounds: number): { readonly settled: number; readonly unseen: { readonly calls: number; readonly amount: number } } {
    return { settled: this.#settled, unseen: { calls: this.#silent.size, amount: bounds } };
  }
}

function usageOf(text: string): ReturnType<typeof readUsage> {
  try {
    return readUsage(record(JSON.parse(text))?.usage);
  } catch {
    return null;
  }
}

import {
  type ExchangeRequest,
  type HolderReport,
  LIMITER_PROTOCOL,
  type LimitedPlace,
  type Sightings,
} from "../../../durable-objects/limiter/limiter-control.ts";
import { sightings } from "./sightings.ts";

const PLACE: LimitedPlace = { base_url: "http://127.0.0.1:9/v1", api_key_var: "K", model_class: "m" };

const HOLDER: HolderReport = {
  ...{ id: "1", run: "0000abcd", team: "default", kind: "model", priority: 1, caps: [], most: 10, in_flight: 0, allowed: 0, waiting: 10 },
  ...{ sent: 0, accepted: 0, balance: {}, mean_cost: null },
};

/** What an executor says to a Limiter, word for word: for what no executor as it is would say, or not in that order. */
export class Caller {
  readonly name: string;
  readonly place: LimitedPlace;
  #seq = 0;

  constructor(name: string, place: LimitedPlace = PLACE) {
    this.name = name;
    this.place = place;
  }

  /** With one holder unless `holders` are named. */
  says(holders: readonly Partial<HolderReport>[] = [{}], seen: Partial<Sightings> = {}, seq = ++this.#seq): ExchangeRequest {
    return {
      ...{ protocol: LIMITER_PROTOCOL, executor: this.name, boot: "b", runtime: "r", seq, place: this.place },
      ...{ holders: holders.map((holder) => ({ ...HOLDER, ...holder })), seen: sightings(seen) },
    };
  }
}

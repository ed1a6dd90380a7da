import type { NextAnswer, NextRequest, OfferMessage } from "./offers.ts";

export interface DispatcherControl {
  /** A Run's word on how many lanes it wants now. */
  offer(message: OfferMessage): Promise<void>;
  /** Where an executor should work. */
  next(request: NextRequest): Promise<NextAnswer>;
}

/** What a queue message says. A hint: acknowledged on arrival, safe to lose or repeat. */
export interface WakeUp {
  readonly protocol: 1;
  readonly run: string;
  readonly seq: number;
  /** Milliseconds after which the executor it wakes ends while runs still want lanes, until the Dispatcher tells it another time. */
  readonly slice_ms: number;
  /** The consumer is to end at once, and the message to come again after so many milliseconds; absent = no. */
  readonly again_ms?: number;
}

import type { AlertDefinition } from "../../src/alerts/alert-definition.ts";
import type { Attempt } from "../../src/alerts/answer.ts";
import type { Told } from "../../src/alerts/message.ts";
import type { Occurrence } from "../../src/alerts/occurrence.ts";
import type { Result } from "../../src/errors/result.ts";

/** What crosses the border between a team's alert book and whoever tells it something, delivers for it, or changes its alerts. Times are Unix milliseconds. */

export interface AlertFacts {
  readonly name: string;
  /** Drawn when it was made: another alert of the same name is another one. Its address and signing secrets are kept under it (src/secrets/alert-secret.ts). */
  readonly id: string;
  readonly definition: AlertDefinition;
  /** Where people reach the service, as whoever put it last did; null = nowhere that stays. */
  readonly origin: string | null;
  readonly created_at: number;
  readonly created_by: string;
  readonly updated_at: number;
  /** It is sent nothing more, until it is put again; null = it is. */
  readonly disabled: Disabled | null;
  /** Messages that are still to be taken. */
  readonly waiting: number;
  /** The newest message; null = there is none. */
  readonly last: DeliveryFacts | null;
}

export interface Disabled {
  readonly at: number;
  readonly reason: string;
}

export const DELIVERY_STATES = ["waiting", "delivered", "failed"] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

/** One message to one receiver. */
export interface DeliveryFacts {
  /** Its `webhook-id`, the same in each attempt. */
  readonly id: string;
  readonly alert: string;
  readonly type: Told["type"];
  readonly text: string;
  /** When it was made. */
  readonly at: number;
  readonly state: DeliveryState;
  readonly tries: number;
  /** Of the next attempt; null = there is none. */
  readonly next_at: number | null;
  /** The newest last. */
  readonly attempts: readonly Attempt[];
}

export interface AlertPut {
  readonly team: string;
  readonly name: string;
  /** Of the alert that is changed, or drawn for the new one. */
  readonly id: string;
  readonly definition: AlertDefinition;
  readonly origin: string | null;
  readonly by: string;
}

/** What is to be sent now. */
export interface DeliveryOrder {
  readonly delivery: string;
  /** Number of the attempt, from 1: what comes of another one counts for nothing. */
  readonly attempt: number;
  readonly alert: Pick<AlertFacts, "name" | "id" | "definition" | "origin">;
  readonly told: Told;
}

export interface AlertBookControl {
  /**
   * What has happened. Safe to repeat: of one id the first telling counts. `asked`: whether the team has any alert; nothing is stored where it has none.
   * Refused whole with `invalid_request` where one of them is no occurrence.
   */
  take(told: { readonly team: string; readonly occurrences: readonly Occurrence[] }): Promise<Result<{ readonly asked: boolean }>>;
  /** By name. */
  list(): Promise<readonly AlertFacts[]>;
  get(name: string): Promise<AlertFacts | null>;
  /** Makes it, or gives it another definition, and enables it. Refused where there are too many, or one of this name with another id. */
  put(put: AlertPut): Promise<Result<AlertFacts>>;
  /** With its messages; null where there was none. */
  remove(name: string): Promise<AlertFacts | null>;
  /** A message that only says that it comes. */
  sendTest(request: { readonly name: string; readonly id: string }): Promise<Result<DeliveryFacts>>;
  /** The newest first. `alert`: null = of all. */
  deliveries(query: { readonly alert: string | null; readonly limit: number }): Promise<readonly DeliveryFacts[]>;
  /** The same message once more, with its id, whatever became of it. */
  resend(request: { readonly name: string; readonly delivery: string }): Promise<Result<DeliveryFacts>>;
  /** Whoever delivers: null where nothing is to be sent (any more, yet, or since somebody else is at it). */
  begin(delivery: string): Promise<DeliveryOrder | null>;
  ended(outcome: { readonly delivery: string; readonly attempt: number; readonly result: Attempt }): Promise<void>;
  /** What its alarm would have done. */
  poke(): Promise<void>;
}

import type { AlertDefinition } from "../../alerts/alert-definition.ts";
import type { Planned } from "../applying/apply-plan.ts";
import { namedPath } from "../connection/named-path.ts";

/** An alert as the service tells it. */
export interface ListedAlert {
  readonly name: string;
  readonly definition: AlertDefinition;
  readonly created_at: string;
  readonly created_by: string;
  readonly updated_at: string;
  readonly disabled: { readonly at: string; readonly reason: string } | null;
  readonly waiting: number;
  readonly last: ListedMessage | null;
}

export interface ListedMessage {
  readonly id: string;
  readonly alert: string;
  readonly type: string;
  readonly text: string;
  readonly at: string;
  readonly state: "waiting" | "delivered" | "failed";
  readonly tries: number;
  readonly next_at: string | null;
  /** The newest last. */
  readonly attempts: readonly ListedAttempt[];
}

export interface ListedAttempt {
  readonly at: string;
  readonly ms: number;
  readonly status: number | null;
  readonly problem: string | null;
  readonly body: string;
}

export interface PutAlert extends Planned {
  readonly data: ListedAlert;
  /** Of a webhook that is new. */
  readonly secret?: string;
}

export const alertPath = namedPath("alerts");

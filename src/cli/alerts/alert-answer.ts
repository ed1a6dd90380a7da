import type { AlertDefinition } from "../../alerts/alert-definition.ts";

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

/** What becomes, or would become, of it. */
export interface PlannedAlert {
  readonly change: "add" | "change" | "none";
  readonly fields: readonly string[];
}

export interface PutAlert extends PlannedAlert {
  readonly data: ListedAlert;
  /** Of a webhook that is new. */
  readonly secret?: string;
}

export function alertPath(name: string | null, team: string | undefined, action = "", query: Readonly<Record<string, string>> = {}): string {
  const asked = new URLSearchParams({ ...(team === undefined ? {} : { team_id: team }), ...query }).toString();
  return `/alerts${name === null ? "" : `/${encodeURIComponent(name)}`}${action}${asked === "" ? "" : `?${asked}`}`;
}

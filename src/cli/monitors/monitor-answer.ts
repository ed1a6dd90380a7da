import { namedPath } from "../connection/named-path.ts";

/** A monitor as the service tells it. */
export interface ListedMonitor {
  readonly name: string;
  readonly every: string;
  readonly grace: string;
  readonly state: string;
  readonly since: string;
  readonly last_beat_at: string | null;
  readonly losses: number;
  readonly paused: { readonly at: string; readonly by: string; readonly reason: string } | null;
  readonly created_by: string | null;
  readonly watched: boolean;
}

export interface ShownHistory {
  readonly seq: number;
  readonly at: string;
  readonly type: string;
  readonly detail: Readonly<Record<string, unknown>>;
}

export interface ShownMonitor extends ListedMonitor {
  readonly history: readonly ShownHistory[];
}

export const monitorPath = namedPath("monitors");

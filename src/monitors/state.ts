import type { MonitorDefinition } from "./definition.ts";

/** What a monitor is, and what happens to it. Times are Unix milliseconds. */

export const STANDINGS = ["new", "alive", "late", "lost", "done"] as const;
/** `new`: never a beat. `late`: the next beat is due and may still come. `lost`: it did not. `done`: the job ended in order. */
export type Standing = (typeof STANDINGS)[number];

export interface MonitorState {
  readonly name: string;
  readonly id: string;
  readonly definition: MonitorDefinition;
  /** SHA-256 of the secret of its address. */
  readonly secret_digest: string;
  /** Null where a run made it. */
  readonly created_by: string | null;
  readonly created_at: number;
  readonly updated_at: number;
  readonly standing: Standing;
  /** When that began. */
  readonly since: number;
  /** The newest beat that is written down; later ones may have come (`Memory`). */
  readonly beat_at: number | null;
  /** Silence before this is not the job's: nobody could have heard it. */
  readonly watched_from: number;
  /** Of the service that watched last. */
  readonly life: string;
  /** When it is to be looked at; null = nothing happens by itself. */
  readonly wake_at: number | null;
  readonly paused: { readonly at: number; readonly by: string; readonly reason: string } | null;
  /** How often it was lost. */
  readonly losses: number;
}

/** What an instance of the object knows beyond what is stored. Beats that an earlier one had not written down are lost with it. */
export interface Memory {
  /** When the instance began. */
  readonly since: number;
  readonly beat_at: number | null;
}

/** One life of the service: while it lasts beats could arrive. */
export interface Life {
  readonly id: string;
  /** When it began; 0 = it never does (a deployment). */
  readonly since: number;
}

export type MonitorEvent =
  | { readonly type: "tick" }
  | { readonly type: "beat" }
  /** `by`: who said so; null = the job itself. */
  | { readonly type: "done"; readonly by: string | null }
  /** A run says itself that it failed. */
  | { readonly type: "failed"; readonly reason: string }
  | { readonly type: "put"; readonly definition: MonitorDefinition }
  | { readonly type: "rotate"; readonly secret_digest: string; readonly by: string }
  | { readonly type: "pause"; readonly by: string; readonly reason: string }
  | { readonly type: "resume"; readonly by: string }
  | { readonly type: "remove" };

/** What the history shows. */
export type HistoryEntry =
  | { readonly type: "heartbeat.alive"; readonly from: Standing }
  | { readonly type: "heartbeat.late"; readonly last_beat: number | null }
  | { readonly type: "heartbeat.lost"; readonly last_beat: number | null; readonly reason: string | null }
  | { readonly type: "heartbeat.back"; readonly lost_at: number; readonly reason: string | null }
  | { readonly type: "heartbeat.done"; readonly by: string | null }
  /** Nobody watched up to `until`: silence counts from then on. */
  | { readonly type: "watch.interrupted"; readonly until: number }
  | { readonly type: "monitor.paused"; readonly by: string; readonly reason: string }
  | { readonly type: "monitor.resumed"; readonly by: string }
  | { readonly type: "monitor.rotated"; readonly by: string }
  | { readonly type: "monitor.changed"; readonly fields: readonly string[] };

/** Of the history, what alerts are about. */
export interface Telling {
  readonly state: "lost" | "back";
  /** Which loss of this monitor, from 1. */
  readonly number: number;
  readonly last_beat: number | null;
  /** Why, where it was not silence; for `back`, where it was no beat. */
  readonly reason: string | null;
}

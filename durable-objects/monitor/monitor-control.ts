import type { Result } from "../../src/errors/result.ts";
import type { MonitorDefinition } from "../../src/monitors/definition.ts";
import type { HistoryEntry, MonitorState } from "../../src/monitors/state.ts";

/** What crosses the border between a monitor's object and the door, the watchdog, and the runs that report to it. Times are Unix milliseconds. */

/** A monitor as lists show it. */
export interface MonitorFacts
  extends Pick<
    MonitorState,
    "name" | "id" | "definition" | "created_by" | "created_at" | "updated_at" | "standing" | "since" | "beat_at" | "paused" | "losses"
  > {}

export interface StoredHistory {
  readonly seq: number;
  readonly at: number;
  readonly entry: HistoryEntry;
}

export interface MonitorView extends MonitorFacts {
  /** The newest first. */
  readonly history: readonly StoredHistory[];
}

export interface MonitorPut {
  readonly team: string;
  readonly name: string;
  readonly id: string;
  readonly definition: MonitorDefinition;
  /** Of the address that it gets if it is made now. */
  readonly secret_digest: string;
  /** Null: a run. */
  readonly by: string | null;
  /** One that is there stays as it is. */
  readonly only_if_missing?: true;
}

/** What a run of this service says of itself: it goes on, has ended in order, or has failed, and how. */
export type RunReport = { readonly kind: "beat" } | { readonly kind: "done" } | { readonly kind: "failed"; readonly reason: string };

export interface MonitorControl {
  /** Makes it, or gives it another definition; the same once more changes nothing. `made`: it was not there. */
  put(put: MonitorPut): Promise<Result<{ readonly view: MonitorView; readonly made: boolean }>>;
  /** Null where there is none. */
  view(): Promise<MonitorView | null>;
  /** By its address. Whether there is such a monitor and this is the digest of its secret. */
  beat(beat: { readonly secret_digest: string; readonly done: boolean }): Promise<boolean>;
  /** By a run of this service. Whether there is such a monitor. */
  report(report: RunReport): Promise<boolean>;
  done(request: { readonly by: string }): Promise<Result<MonitorView>>;
  pause(request: { readonly by: string; readonly reason: string }): Promise<Result<MonitorView>>;
  resume(request: { readonly by: string }): Promise<Result<MonitorView>>;
  /** From now on the address with this secret is the only one. */
  rotate(request: { readonly by: string; readonly secret_digest: string }): Promise<Result<MonitorView>>;
  /** The watchdog: what its alarm would have done. Whether there is anything left of such a monitor. */
  poke(): Promise<boolean>;
  /** `owing`: it is deleted, and alerts are still to be told of it. */
  remove(): Promise<"none" | "gone" | "owing">;
}

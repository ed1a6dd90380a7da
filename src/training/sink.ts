import type { Point } from "./series.ts";

/** Where points go beside the series. Each comes at least once: what is posted twice has the same name, step, value and time. */
export interface Sink<Told = Point> {
  /** Rejects where they may not have arrived; then they come again. */
  post(points: readonly Told[]): Promise<void>;
}

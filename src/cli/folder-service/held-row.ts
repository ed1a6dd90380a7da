import type { JsonObject } from "../../config/plan/run-config.ts";

/** Where a row is, in one state of its file. */
export interface HeldPlace {
  readonly path: string;
  readonly state: number;
  readonly offset: number;
  /** Without its line end. */
  readonly length: number;
}

/** A row that is larger takes a second to be read once more for whoever opens it behind the look that found it. */
export const HELD_BYTES = 16 * 1024 * 1024;

/** One large row as an object, the first of the file that was looked at last: some hundred megabytes of memory at most, however many folders there are. */
export class HeldRow {
  #held: { readonly place: HeldPlace; readonly value: JsonObject } | null = null;

  hold(place: HeldPlace, value: JsonObject): void {
    this.#held = { place, value };
  }

  of({ path, state, offset, length }: HeldPlace): JsonObject | null {
    const place = this.#held?.place;
    const isIt = place?.path === path && place.state === state && place.offset === offset && place.length === length;
    return isIt ? (this.#held?.value ?? null) : null;
  }
}

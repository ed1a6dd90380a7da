import { linesAt, type SegmentContents } from "../../../r2-layout/segment.ts";
import type { ExecutorBytes, HeldBytes } from "../isolate-bytes.ts";
import type { UnitRows } from "../../environments/unit/run-unit.ts";

/** Everything of a finished unit's rows but the rows themselves. */
export interface FinishedUnit extends Omit<UnitRows, "lines"> {
  /** What the rows depend on beside their unit: settings, code, what of the unit was done again. Other terms, other rows. */
  readonly terms: string;
}

const NONE: ReadonlyMap<number, string> = new Map();

/**
 * Rows of finished units, and generated rollouts of others, whose grant ended before they were committed, as when neither they nor a beat could be
 * stored: they are paid for. Under its next grant the executor commits those that it is given again, instead of asking the model. Holds what one
 * grant held at its end: two segments, a buffer, and a unit for each lane that waited for room.
 */
export class SavedRows {
  readonly #units = new Map<number, FinishedUnit & UnitRows & { readonly held: HeldBytes }>();
  readonly #rollouts = new Map<number, { readonly terms: string; readonly texts: ReadonlyMap<number, string>; readonly held: HeldBytes }>();
  readonly #isolate: ExecutorBytes;

  constructor(isolate: ExecutorBytes) {
    this.#isolate = isolate;
  }

  get isEmpty(): boolean {
    return this.#units.size === 0 && this.#rollouts.size === 0;
  }

  has(unit: number): boolean {
    return this.#units.has(unit);
  }

  keep(unit: number, finished: FinishedUnit, lines: readonly string[]): void {
    this.#units.get(unit)?.held.release();
    const held = this.#isolate.add(lines.reduce((sum, line) => sum + line.length, 0));
    this.#units.set(unit, { ...finished, lines, held });
  }

  /** The same of all units of a segment that `finished` knows. */
  keepSegment({ bytes, units }: SegmentContents, finished: ReadonlyMap<number, FinishedUnit>): void {
    for (const place of units) {
      const lines = linesAt(bytes, place);
      const facts = finished.get(place.unit);
      if (lines.ok && facts !== undefined) this.keep(place.unit, facts, lines.value);
    }
  }

  /** Takes the rows of `unit` out; null when there are none, or none that are what is asked for now. */
  take(unit: number, terms: string): UnitRows | null {
    const saved = this.#units.get(unit);
    if (saved === undefined) return null;
    this.#units.delete(unit);
    saved.held.release();
    return saved.terms === terms ? saved : null;
  }

  /** Kept states of generated rollouts of `unit`, by index. */
  keepRollouts(unit: number, terms: string, texts: ReadonlyMap<number, string>): void {
    if (texts.size === 0) return;
    this.#rollouts.get(unit)?.held.release();
    const held = this.#isolate.add([...texts.values()].reduce((sum, text) => sum + text.length, 0));
    this.#rollouts.set(unit, { terms, texts, held });
  }

  takeRollouts(unit: number, terms: string): ReadonlyMap<number, string> {
    const saved = this.#rollouts.get(unit);
    this.#rollouts.delete(unit);
    saved?.held.release();
    return saved !== undefined && saved.terms === terms ? saved.texts : NONE;
  }

  clear(): void {
    for (const { held } of this.#rollouts.values()) held.release();
    this.#rollouts.clear();
    for (const { held } of this.#units.values()) held.release();
    this.#units.clear();
  }
}

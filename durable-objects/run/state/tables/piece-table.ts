import { EdgewiseError } from "../../../../src/errors/result.ts";
import { execute } from "../../../counted-sql.ts";
import type { Piece, UnitRange } from "../../protocol.ts";
import { runsOf } from "../runs-of.ts";
import { PIECE_TABLE } from "../schema.ts";

/** Version of what a row holds, its first element. */
const VERSION = 1;

type Part = readonly [unit: number, offset: number, length: number, rollouts: readonly number[], begun?: readonly number[], unscored?: readonly number[]];

function partOf({ unit, offset, length, rollouts, begun = [], unscored = [] }: Omit<Piece, "segment">): Part {
  if (begun.length === 0) return [unit, offset, length, rollouts];
  return unscored.length === 0 ? [unit, offset, length, rollouts, begun] : [unit, offset, length, rollouts, begun, unscored];
}

function pieceOf(segment: string, [unit, offset, length, rollouts, begun, unscored]: Part): Piece {
  return { unit, segment, offset, length, rollouts, ...(begun === undefined ? {} : { begun }), ...(unscored === undefined ? {} : { unscored }) };
}

function readParts(text: string): Part[] {
  const [version, ...parts] = JSON.parse(text) as [number, ...Part[]];
  if (version !== VERSION)
    throw new EdgewiseError("stored_version_unknown", `This run has kept rollouts of version ${version}; this version knows ${VERSION}.`, {
      hint: "Deploy the version of edgewise that stored it again, or a newer one.",
    });
  return parts;
}

/** What the table asks of the others. */
export interface PieceSurroundings {
  /** Of the run now. */
  readonly generation: () => number;
  /** Units of a range that are done and not owed. */
  readonly settledIn: (range: UnitRange) => readonly number[];
}

/**
 * Where the generated rollouts of unfinished units are. A row per segment, however many units and rollouts it has pieces of; it goes with the
 * last of its units. Read once, kept in memory by unit and written through: what is kept at any time is what was open or given up.
 *
 * A row counts only in the generation that it carries. Each resume carries what is still good over into its own, so that nothing comes back to life
 * when code that does not know the table has finished units, and resumed the run, meanwhile.
 */
export class PieceTable {
  readonly #sql: SqlStorage;
  readonly #others: PieceSurroundings;
  /** The table is there: a run of a version before gets it when something is first written to it. */
  #isThere = false;
  #segments: Map<string, Map<number, Part>> | null = null;
  readonly #byUnit = new Map<number, Set<string>>();

  constructor(sql: SqlStorage, others: PieceSurroundings) {
    this.#sql = sql;
    this.#others = others;
  }

  forget(): void {
    this.#isThere = false;
    this.#segments = null;
    this.#byUnit.clear();
  }

  in({ lo, hi }: UnitRange): readonly Piece[] {
    const segments = this.#read();
    if (this.#byUnit.size === 0) return [];
    const units = hi - lo < this.#byUnit.size ? Array.from({ length: hi - lo }, (_, at) => lo + at) : [...this.#byUnit.keys()].sort((a, b) => a - b);
    return units
      .filter((unit) => unit >= lo && unit < hi)
      .flatMap((unit) =>
        [...(this.#byUnit.get(unit) ?? [])].sort().flatMap((segment) => {
          const part = segments.get(segment)?.get(unit);
          return part === undefined ? [] : [pieceOf(segment, part)];
        }),
      );
  }

  count(): number {
    let rollouts = 0;
    for (const parts of this.#read().values()) for (const part of parts.values()) rollouts += part[3].length;
    return rollouts;
  }

  put(segment: string, pieces: readonly Omit<Piece, "segment">[]): void {
    this.#read();
    if (!this.#isThere) {
      execute(this.#sql, PIECE_TABLE);
      this.#isThere = true;
    }
    const parts = pieces.map(partOf);
    this.#keep(segment, parts);
    this.#write(segment, this.#others.generation(), parts);
  }

  drop(units: readonly number[]): void {
    const segments = this.#read();
    if (this.#byUnit.size === 0) return;
    for (const unit of units) {
      for (const segment of this.#byUnit.get(unit) ?? []) {
        const parts = segments.get(segment);
        parts?.delete(unit);
        if (parts?.size !== 0) continue;
        segments.delete(segment);
        this.#delete(segment);
      }
      this.#byUnit.delete(unit);
    }
  }

  /** Forgets where these rollouts of a unit stood between two turns: they are generated, or stand further on. */
  passTurns(unit: number, rollouts: readonly number[]): void {
    const segments = this.#read();
    for (const segment of this.#byUnit.get(unit) ?? []) {
      const parts = segments.get(segment);
      const part = parts?.get(unit);
      if (parts === undefined || part?.[4]?.some((rollout) => rollouts.includes(rollout)) !== true) continue;
      const [, offset, length, generated, begun = [], unscored = []] = part;
      const others = (each: readonly number[]): number[] => each.filter((rollout) => !rollouts.includes(rollout));
      const left = partOf({ unit, offset, length, rollouts: generated, begun: others(begun), unscored: others(unscored) });
      if (generated.length > 0 || left[4] !== undefined) parts.set(unit, left);
      else {
        parts.delete(unit);
        this.#byUnit.get(unit)?.delete(segment);
      }
      if (parts.size > 0) this.#write(segment, this.#others.generation(), [...parts.values()]);
      else {
        segments.delete(segment);
        this.#delete(segment);
      }
    }
  }

  renew(generation: number): void {
    const segments = this.#read();
    if (!this.#isThere) return;
    for (const { segment } of execute<{ segment: string }>(this.#sql, "SELECT segment FROM piece")) {
      const parts = segments.get(segment);
      if (parts === undefined) this.#delete(segment);
      else this.#write(segment, generation, [...parts.values()]);
    }
  }

  clear(): void {
    this.#read();
    if (this.#isThere) execute(this.#sql, "DELETE FROM piece");
    this.forget();
  }

  /** Segments in which something is kept. */
  segments(): readonly string[] {
    return [...this.#read().keys()];
  }

  #delete(segment: string): void {
    execute(this.#sql, "DELETE FROM piece WHERE segment = ?", segment);
  }

  #write(segment: string, generation: number, parts: readonly Part[]): void {
    const text = JSON.stringify([VERSION, ...parts]);
    execute(this.#sql, "INSERT OR REPLACE INTO piece (segment, generation, parts) VALUES (?, ?, ?)", segment, generation, text);
  }

  #keep(segment: string, parts: readonly Part[]): void {
    this.#segments?.set(segment, new Map(parts.map((part) => [part[0], part])));
    for (const [unit] of parts) {
      const known = this.#byUnit.get(unit);
      if (known === undefined) this.#byUnit.set(unit, new Set([segment]));
      else known.add(segment);
    }
  }

  #read(): Map<string, Map<number, Part>> {
    if (this.#segments !== null) return this.#segments;
    this.#segments = new Map();
    this.#isThere = execute(this.#sql, "SELECT name FROM sqlite_master WHERE type = 'table' AND name = 'piece'").length > 0;
    if (!this.#isThere) return this.#segments;
    const rows = execute<{ segment: string; parts: string }>(
      this.#sql,
      "SELECT segment, parts FROM piece WHERE generation = ? ORDER BY segment",
      this.#others.generation(),
    ).map(({ segment, parts }) => ({ segment, parts: readParts(parts) }));
    const settled = new Set(runsOf(rows.flatMap(({ parts }) => parts.map(([unit]) => unit))).flatMap((range) => this.#others.settledIn(range)));
    for (const { segment, parts } of rows) {
      const open = parts.filter(([unit]) => !settled.has(unit));
      if (open.length > 0) this.#keep(segment, open);
    }
    return this.#segments;
  }
}

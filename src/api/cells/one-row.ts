import type { Context } from "hono";
import { segmentKey } from "../../../r2-layout/keys.ts";
import type { JsonObject } from "../../config/plan/run-config.ts";
import { EdgewiseError } from "../../errors/result.ts";
import { MIB } from "../../limits.ts";
import { neededRow } from "../../rollouts/rows/stored-row.ts";
import type { AppContext } from "../app-context.ts";
import { openRows } from "../runs/open-rows.ts";
import { found, runIdOf } from "../runs/run-of.ts";
import { askRun } from "./ask-run.ts";
import { lineOf, readLine } from "./row-lines.ts";

export interface RolloutPlace {
  readonly example: number;
  readonly rollout: number;
}

const noRollout = (): EdgewiseError => new EdgewiseError("not_found", "There is no such rollout, or not yet.");

/** Digits of a place: more name no rollout. */
const PLACE = /^\d{1,9}$/;

/** The rollout that a path names. Throws `not_found` for what names none. */
export function placeOf(c: Context<AppContext>): RolloutPlace {
  const [example = "", rollout = ""] = [c.req.param("example"), c.req.param("rollout")];
  if (!PLACE.test(example) || !PLACE.test(rollout)) throw noRollout();
  return { example: Number(example), rollout: Number(rollout) };
}

interface FoundRow {
  /** Generated, and of an example that is not done. */
  readonly open: boolean;
  /** Tells its bytes from all others that there are; null where they are made for whoever asks. */
  readonly name: string | null;
  /** Where it is there as an object already. */
  parsed(): Promise<{ readonly row: JsonObject; readonly bytes: number } | null>;
  /** Not yet read. Throws `not_found` where the line is not there after all. */
  bytes(): Promise<Uint8Array<ArrayBuffer>>;
}

/** Where the row of the path is. Throws `not_found`, also for a run that is not there. */
export async function foundRow(c: Context<AppContext>): Promise<FoundRow> {
  const { example, rollout } = placeOf(c);
  const runId = runIdOf(c);
  const { store, team } = c.var.ports;
  const { places, object, open, rollouts } = found(await askRun(c, (run) => run.examplePlaces([example])));
  if (rollout >= rollouts) throw noRollout();
  const place = places[0];
  if (place === undefined) {
    const pieces = open?.pieces.map((piece) => ({ ...piece, rollouts: piece.rollouts.filter((index) => index === rollout) })) ?? [];
    if (open === undefined || pieces.every((piece) => piece.rollouts.length === 0)) throw noRollout();
    return { open: true, name: null, parsed: async () => null, bytes: () => firstOf(openRows(store, runId, { ...open, pieces })) };
  }
  const line = lineOf(place, rollout);
  if (line === null) throw noRollout();
  const key = object ?? segmentKey(runId, place.segment);
  const read = async (): Promise<Uint8Array<ArrayBuffer>> => {
    const bytes = await readLine(store, key, place, line);
    if (bytes === null) throw noRollout();
    return bytes;
  };
  const parsed = async () => (await store.parsed?.(key, place)) ?? null;
  return { open: false, name: JSON.stringify([team, runId, key, place.offset, place.length, line]), parsed, bytes: read };
}

async function firstOf(rows: AsyncGenerator<string>): Promise<Uint8Array<ArrayBuffer>> {
  for await (const row of rows) return new Uint8Array(new TextEncoder().encode(row));
  throw noRollout();
}

/**
 * A row that is larger is kept, parsed, for the next question about it: its page asks for its messages a few at a time. Rows of a service are never so large (a sample
 * that is pushed has at most 8 MiB); those of a folder may be.
 */
const LARGE_BYTES = 16 * MIB;

interface ParsedRow {
  readonly row: JsonObject;
  readonly bytes: number;
  readonly open: boolean;
}

let last: { readonly name: string; readonly parsed: ParsedRow } | null = null;

/** The row of the path as an object. Throws `row_unreadable` where what is stored is none: its bytes can still be had. */
export async function parsedRow(c: Context<AppContext>): Promise<ParsedRow> {
  const { name, open, parsed: known, bytes: read } = await foundRow(c);
  if (name !== null && last?.name === name) return last.parsed;
  const there = await known();
  if (there !== null) return { ...there, open };
  const bytes = await read();
  const parsed = { row: neededRow(new TextDecoder().decode(bytes), "The row of this rollout"), bytes: bytes.byteLength, open };
  if (name !== null && bytes.byteLength > LARGE_BYTES) last = { name, parsed };
  return parsed;
}

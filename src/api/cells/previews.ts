import { type Context, Hono } from "hono";
import type { ExamplePlaces } from "../../../durable-objects/run/reading/cells-protocol.ts";
import { segmentKey } from "../../../r2-layout/keys.ts";
import { previewOf } from "../../cells/preview.ts";
import { idOfRow } from "../../cells/row-messages.ts";
import { MIB } from "../../limits.ts";
import { storedRow } from "../../rollouts/rows/stored-row.ts";
import type { AppContext } from "../app-context.ts";
import { parseBody, readJsonText } from "../body.ts";
import { openRowsByPlace } from "../runs/open-rows.ts";
import { found, runIdOf } from "../runs/run-of.ts";
import { askRun } from "./ask-run.ts";
import { previewsBody } from "./cell-schemas.ts";
import { lineOf, readLines } from "./row-lines.ts";

/** `/evaluations/{id}/previews`: what a grid shows of rows beside their numbers, for the rows that are on the screen. */
export const previews = new Hono<AppContext>();

/** Bytes of rows that one question reads, or those of one example: two hundred of the largest rows are more than an answer is worth. */
const MOST_BYTES = 64 * MIB;

type Place = readonly [example: number, rollout: number];
const nameOf = ([example, rollout]: Place): string => `${example}/${rollout}`;

previews.post("/:id/previews", async (c) => {
  const { places, fields, characters } = parseBody(previewsBody, await readJsonText(c.req.raw));
  const known = found(await askRun(c, (run) => run.examplePlaces(places.map(([example]) => example))));
  const shown = new Map<string, object>();
  const show = ([example, rollout]: Place, text: string, open: boolean): void => {
    const { row, unreadable } = storedRow(text);
    const more = open ? { open: true as const } : {};
    const said = unreadable === undefined ? { example_id: idOfRow(row), ...previewOf(row, fields, characters) } : { unreadable };
    shown.set(nameOf([example, rollout]), { example, rollout, ...more, ...said });
  };
  const isAsked = new Set(places.map(nameOf));
  const { read, unread } = withinBytes(known.places);
  for await (const { place, text } of doneRows(c, { ...known, places: read }, places)) show(place, text, false);
  if (known.open !== undefined) for await (const { place, text } of openOnes(c, known.open, isAsked)) show(place, text, true);
  const answers = places.map(
    ([example, rollout]) => shown.get(nameOf([example, rollout])) ?? (unread.has(example) ? { example, rollout, unread: true as const } : null),
  );
  return c.json({ previews: answers }, 200, { "cache-control": "no-store" });
});

function withinBytes(places: ExamplePlaces["places"]): { readonly read: ExamplePlaces["places"]; readonly unread: ReadonlySet<number> } {
  let bytes = 0;
  const end = places.findIndex(({ length }, index) => {
    bytes += length;
    return index > 0 && bytes > MOST_BYTES;
  });
  const fitting = end < 0 ? places.length : end;
  return { read: places.slice(0, fitting), unread: new Set(places.slice(fitting).map(({ example }) => example)) };
}

interface FoundRow {
  readonly place: Place;
  readonly text: string;
}

async function* doneRows(c: Context<AppContext>, { places, object, rollouts }: ExamplePlaces, asked: readonly Place[]): AsyncGenerator<FoundRow> {
  const lines = new Map<number, Map<number, number>>();
  for (const place of places) lines.set(place.example, new Map());
  const byExample = new Map(places.map((place) => [place.example, place]));
  for (const [example, rollout] of asked) {
    const place = byExample.get(example);
    const line = place === undefined || rollout >= rollouts ? null : lineOf(place, rollout);
    if (line !== null) lines.get(example)?.set(line, rollout);
  }
  const wanted = new Map([...lines].map(([example, own]) => [example, [...own.keys()]]));
  const keyOf = (segment: string): string => object ?? segmentKey(runIdOf(c), segment);
  for await (const { example, line, bytes } of readLines(c.var.ports.store, keyOf, places, wanted))
    yield { place: [example, lines.get(example)?.get(line) ?? 0], text: new TextDecoder().decode(bytes) };
}

async function* openOnes(c: Context<AppContext>, open: NonNullable<ExamplePlaces["open"]>, isAsked: ReadonlySet<string>): AsyncGenerator<FoundRow> {
  for await (const { unit, rollout, row } of openRowsByPlace(c.var.ports.store, runIdOf(c), open)) {
    const place: Place = [open.examples[unit] ?? -1, rollout];
    if (isAsked.has(nameOf(place))) yield { place, text: row };
  }
}

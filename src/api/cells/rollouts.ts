import { type Context, Hono } from "hono";
import { segmentKey } from "../../../r2-layout/keys.ts";
import { outlineOfRow } from "../../cells/outline.ts";
import { messagePage } from "../../cells/message-page.ts";
import { idOfRow } from "../../cells/row-messages.ts";
import { EdgewiseError } from "../../errors/result.ts";
import { readForeignRow } from "../../rollouts/rows/foreign-row.ts";
import type { AppContext } from "../app-context.ts";
import { check } from "../body.ts";
import { openRows } from "../runs/open-rows.ts";
import { found, runIdOf } from "../runs/run-of.ts";
import { askRun } from "./ask-run.ts";
import { messagesQuery } from "./cell-schemas.ts";
import { lineOf, readLine } from "./row-lines.ts";

/** `/evaluations/{id}/rollouts/{example}/{rollout}`: one rollout, whole or in parts. */
export const rollouts = new Hono<AppContext>();

const PATH = "/:id/rollouts/:example/:rollout";

const noRollout = (): EdgewiseError => new EdgewiseError("not_found", "There is no such rollout, or not yet.");

rollouts.get(PATH, async (c) => c.body((await rowOf(c)).bytes, 200, { "content-type": "application/json", "cache-control": "no-store" }));

rollouts.get(`${PATH}/outline`, async (c) => {
  const { example, rollout } = placeOf(c);
  const { bytes, open } = await rowOf(c);
  const row = readForeignRow(new TextDecoder().decode(bytes)).value;
  const outline = outlineOfRow(row);
  return c.json({ example, example_id: idOfRow(row), rollout, ...(open ? { open } : {}), bytes: bytes.byteLength, ...outline }, 200, {
    "cache-control": "no-store",
  });
});

rollouts.get(`${PATH}/messages`, async (c) => {
  const { from, to } = check(messagesQuery, c.req.query(), "query");
  const row = readForeignRow(new TextDecoder().decode((await rowOf(c)).bytes)).value;
  return c.json(messagePage(row, from, to), 200, { "cache-control": "no-store" });
});

/** Digits of a place: more name no rollout. */
const PLACE = /^\d{1,9}$/;

function placeOf(c: Context<AppContext>): { readonly example: number; readonly rollout: number } {
  const [example = "", rollout = ""] = [c.req.param("example"), c.req.param("rollout")];
  if (!PLACE.test(example) || !PLACE.test(rollout)) throw noRollout();
  return { example: Number(example), rollout: Number(rollout) };
}

async function rowOf(c: Context<AppContext>): Promise<{ readonly bytes: Uint8Array<ArrayBuffer>; readonly open: boolean }> {
  const { example, rollout } = placeOf(c);
  const runId = runIdOf(c);
  const { store } = c.var.ports;
  const { places, object, open, rollouts: each } = found(await askRun(c, (run) => run.examplePlaces([example])));
  if (rollout >= each) throw noRollout();
  const place = places[0];
  if (place === undefined) {
    const pieces = open?.pieces.map((piece) => ({ ...piece, rollouts: piece.rollouts.filter((index) => index === rollout) })) ?? [];
    if (open === undefined || pieces.every((piece) => piece.rollouts.length === 0)) throw noRollout();
    for await (const row of openRows(store, runId, { ...open, pieces })) return { bytes: new Uint8Array(new TextEncoder().encode(row)), open: true };
    throw noRollout();
  }
  const line = lineOf(place, rollout);
  if (line === null) throw noRollout();
  const bytes = await readLine(store, object ?? segmentKey(runId, place.segment), place, line);
  if (bytes === null) throw noRollout();
  return { bytes, open: false };
}

import { Hono } from "hono";
import { messagePage } from "../../cells/message-page.ts";
import { outlineOfRow } from "../../cells/outline.ts";
import { idOfRow } from "../../cells/row-messages.ts";
import type { AppContext } from "../app-context.ts";
import { check } from "../body.ts";
import { messagesQuery } from "./cell-schemas.ts";
import { foundRow, parsedRow, placeOf } from "./one-row.ts";

/** `/evaluations/{id}/rollouts/{example}/{rollout}`: one rollout, whole or in parts. */
export const rollouts = new Hono<AppContext>();

const PATH = "/:id/rollouts/:example/:rollout";
const FRESH = { "cache-control": "no-store" };

rollouts.get(PATH, async (c) => c.body(await (await foundRow(c)).bytes(), 200, { ...FRESH, "content-type": "application/json" }));

rollouts.get(`${PATH}/outline`, async (c) => {
  const { row, bytes, open } = await parsedRow(c);
  const { example, rollout } = placeOf(c);
  return c.json({ example, example_id: idOfRow(row), rollout, ...(open ? { open } : {}), bytes, ...outlineOfRow(row) }, 200, FRESH);
});

rollouts.get(`${PATH}/messages`, async (c) => {
  const { from, to } = check(messagesQuery, c.req.query(), "query");
  return c.json(messagePage((await parsedRow(c)).row, from, to), 200, FRESH);
});

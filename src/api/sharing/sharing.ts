import { Hono } from "hono";
import { shownPath } from "./shared-path.ts";
import { digestOfToken, drawText } from "../../teams/token-text.ts";
import type { AppContext } from "../app-context.ts";
import { parseBody, readJsonText } from "../body.ts";
import { unwrap } from "../errors.ts";
import { runIdOf, runOf } from "../runs/run-of.ts";
import { emptyBody } from "../schemas.ts";

/** `/evaluations/{id}/link`: who has the link reads the run without being anybody. It is in the answer that makes it, and stored as a digest. */
export const sharing = new Hono<AppContext>();

sharing.put("/:id/link", async (c) => {
  parseBody(emptyBody, await readJsonText(c.req.raw));
  const text = drawText();
  unwrap(await runOf(c).share(await digestOfToken(text)));
  const { origin } = new URL(c.req.url);
  return c.json({ is_public: true, link: `${origin}${shownPath(c.var.ports.team, text, runIdOf(c))}` });
});

sharing.delete("/:id/link", async (c) => {
  unwrap(await runOf(c).share(null));
  return c.json({ is_public: false, link: null });
});

import { type Context, Hono } from "hono";
import { EdgewiseError } from "../../errors/result.ts";
import { type BeatKey, beatKeyIn } from "../../monitors/beat-url.ts";
import { digestOfToken } from "../../teams/token-text.ts";
import { checkPlace } from "../access/place.ts";
import type { AppContext } from "../app-context.ts";
import { check } from "../body.ts";
import { unwrap } from "../errors.ts";
import { BeatRate } from "./beat-rate.ts";
import { beatQuery } from "./monitor-schemas.ts";

/**
 * `/beat/{id}/{secret}`: a job says that it is alive, by GET, HEAD or POST, or with `?done=1` that it has ended in order. Its address is all that it needs,
 * and is good for nothing else. Whatever leads nowhere is not found, in the same words.
 */
export const beats = new Hono<AppContext>();

const notFound = (): EdgewiseError => new EdgewiseError("not_found", "No such monitor: the address is not whole, or was replaced, or the monitor is deleted.");
const rate = new BeatRate();

/** What is asked for is in the address alone: of a body nothing is read. */
async function beat(c: Context<AppContext>): Promise<Response> {
  const { ports } = c.var;
  unwrap(checkPlace(c.req.raw, ports.facts));
  const key = beatKeyIn(c.req.url);
  if (key === null || ports.monitors === null) throw notFound();
  const { done } = check(beatQuery, c.req.query(), "query");
  await rate.check(ports.rate, key.id, Date.now());
  if (!(await taken(ports.monitors.of(key.id), key, done === "1" || done === "true"))) throw notFound();
  return c.text("ok\n", 200, { "cache-control": "no-store" });
}

const taken = async (
  monitor: { beat(beat: { secret_digest: string; done: boolean }): Promise<boolean> },
  { secret }: BeatKey,
  done: boolean,
): Promise<boolean> => monitor.beat({ secret_digest: await digestOfToken(secret), done });

beats.on(["GET", "POST"], "/:id/:secret", beat);
beats.all("*", () => {
  throw notFound();
});

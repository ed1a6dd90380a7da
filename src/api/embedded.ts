import { Hono } from "hono";
import { EdgewiseError } from "../errors/result.ts";
import type { AppContext } from "./app-context.ts";

/** `/embedded/v1/…`: OpenAI's routes of the embedded model, as far as this service has one. */
export const embedded = new Hono<AppContext>();

embedded.all("/*", (c) => {
  const model = c.var.ports.embedded;
  if (model === null) throw new EdgewiseError("not_found", "The embedded model is part of the local service only.");
  const url = new URL(c.req.url);
  url.pathname = url.pathname.slice("/embedded".length);
  return model.fetch(new Request(url, c.req.raw));
});

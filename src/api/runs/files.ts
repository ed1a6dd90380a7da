import { type Context, Hono } from "hono";
import type { RunView } from "../../../durable-objects/run/control.ts";
import { OUTPUT_FILES } from "../../../r2-layout/keys.ts";
import { EdgewiseError } from "../../errors/result.ts";
import { evalLog, LOG_PAGE, logText } from "../../report/logs/eval-log.ts";
import { metadataText } from "../../report/metadata.ts";
import type { AppContext } from "../app-context.ts";
import { check } from "../body.ts";
import { resultsObject } from "./results-object.ts";
import { found, readRun, viewOf } from "./run-of.ts";
import { attached, HARMLESS, sendObject } from "./send-object.ts";
import { logQuery } from "../schemas.ts";
import { streamOf } from "../../stream-of.ts";

/** The files of a results folder, by their names in it; beside the run's page too, where a browser has the token. */
export const files = new Hono<AppContext>();

files.get("/:id/files/:file", async (c) => {
  const file = OUTPUT_FILES.find((name) => name === c.req.param("file"));
  switch (file) {
    case "results.jsonl":
      return results(c, await viewOf(c));
    case "metadata.json": {
      const metadata = found(await readRun(c, (run) => run.metadata()));
      return c.body(metadataText(metadata), 200, { ...attached(file), "content-type": "application/json" });
    }
    case "eval.log":
      return log(c);
    case undefined:
      throw new EdgewiseError("not_found", "No such file.", { hint: `A run has ${OUTPUT_FILES.join(", ")}.` });
  }
});

/** All of it, or with `after` a page of what follows that event, so that a follower asks for what it does not have. */
async function log(c: Context<AppContext>): Promise<Response> {
  const { after } = check(logQuery, c.req.query(), "query");
  await viewOf(c);
  const read = (from: number, limit: number) => readRun(c, (run) => run.events(from, limit));
  // Plain text that a browser shows as such.
  const headers = { ...HARMLESS, "content-type": "text/plain; charset=utf-8" };
  if (after === undefined) return c.body(streamOf(evalLog(read)), 200, headers);
  const page = await read(after, LOG_PAGE);
  return c.body(logText(page), 200, {
    ...headers,
    "cache-control": "no-store",
    "x-edgewise-next": String(page.at(-1)?.seq ?? after),
    "x-edgewise-more": page.length < LOG_PAGE ? "0" : "1",
  });
}

async function results(c: Context<AppContext>, view: RunView): Promise<Response> {
  if (view.phase !== "settled") {
    throw new EdgewiseError("run_busy", "The results are not complete yet.", {
      hint: "Follow the run, or read committed rows with GET /evaluations/{id}/rows.",
    });
  }
  return sendObject(c, { ...(await resultsObject(c.var.ports, view)), name: "results.jsonl", type: "application/x-ndjson" });
}

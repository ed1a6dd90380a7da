import { Hono } from "hono";
import { clientLog, TAIL_LINES } from "../../report/logs/log-tail.ts";
import type { AppContext } from "../app-context.ts";
import { found, readRun } from "./run-of.ts";

/** The log of a run as the `prime` client polls it: the newest lines, as one text. */
export const logs = new Hono<AppContext>();

logs.get("/:id/logs", async (c) => c.json({ logs: clientLog(found(await readRun(c, (run) => run.logTail(TAIL_LINES)))) }));

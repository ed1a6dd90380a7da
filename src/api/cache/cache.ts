import { type Context, Hono } from "hono";
import type { AnswerDeskControl, AnswerStats } from "../../../durable-objects/answers/answer-desk-control.ts";
import { EdgewiseError } from "../../errors/result.ts";
import { ANSWER_DESKS } from "../../teams/team-name.ts";
import type { AppContext } from "../app-context.ts";
import type { AppPorts } from "../app-ports.ts";
import { check } from "../body.ts";
import { administered } from "../people/directory-of.ts";
import { readTwice } from "../read-twice.ts";
import { cacheQuery, clearQuery } from "./cache-schemas.ts";

/** `/cache`: the answers that a team's runs have kept. What a run makes of them is its option `cache`. */
export const cache = new Hono<AppContext>();

const DAY_MS = 86_400_000;

const portsOf = async (c: Context<AppContext>, team: string | undefined): Promise<AppPorts> => c.var.ports.inTeam(await administered(c, team));

/** `work` with each desk of the team, side by side. */
const atEach = <T>(ports: AppPorts, work: (desk: AnswerDeskControl) => Promise<T>): Promise<readonly T[]> =>
  Promise.all(
    ANSWER_DESKS.map((digit) =>
      readTwice(
        () => ports.answers(digit),
        async (desk) => {
          if (desk !== null) return work(desk);
          throw new EdgewiseError("not_found", "This deployment keeps no answers.", {
            hint: "Take the binding ANSWERS and its migration over from the wrangler.toml of this version, export AnswerDesk from the main module, and deploy.",
          });
        },
      ),
    ),
  );

const sum = (numbers: readonly number[]): number => numbers.reduce((all, number) => all + number, 0);

function shown(desks: readonly AnswerStats[]) {
  const moment = (name: "oldest_at" | "newest_at" | "expires_at", of: (...all: number[]) => number): string | null => {
    const known = desks.flatMap(({ [name]: at }) => (at === null ? [] : [at]));
    return known.length === 0 ? null : new Date(of(...known)).toISOString();
  };
  return {
    answers: sum(desks.map(({ answers }) => answers)),
    bytes: sum(desks.map(({ bytes }) => bytes)),
    oldest_at: moment("oldest_at", Math.min),
    newest_at: moment("newest_at", Math.max),
    expires_at: moment("expires_at", Math.min),
    asking: sum(desks.map(({ claims }) => claims)),
  };
}

cache.get("/", async (c) => {
  const { team_id } = check(cacheQuery, c.req.query(), "query");
  return c.json({ data: shown(await atEach(await portsOf(c, team_id), (desk) => desk.stats())) });
});

cache.delete("/", async (c) => {
  const { team_id, model = null, older_than_days: days } = check(clearQuery, c.req.query(), "query");
  const ports = await portsOf(c, team_id);
  await c.var.audit.begin(ports);
  if (model !== null) c.var.audit.made(model);
  const before = days === undefined ? null : ports.now() - days * DAY_MS;
  const cleared = await atEach(ports, (desk) => desk.clear(before, model));
  return c.json({ data: { answers: sum(cleared.map(({ answers }) => answers)), bytes: sum(cleared.map(({ bytes }) => bytes)) } });
});

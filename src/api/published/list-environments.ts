import type { z } from "zod";
import { ownerOf } from "../../published/published-name.ts";
import type { Caller } from "../../teams/caller.ts";
import { DEFAULT_TEAM } from "../../teams/team-name.ts";
import type { AppPorts } from "../app-ports.ts";
import { unlessOlder } from "../older-object.ts";
import { readTwice } from "../read-twice.ts";
import { sees } from "./find-published.ts";
import type { hubListQuery } from "./published-schemas.ts";
import { type Listed, listed, listedOwn } from "./shown.ts";

/** Teams whose Registries are asked for one list, and how many at once. */
const MAX_TEAMS = 1_000;
const AT_ONCE = 20;

/** What a caller may run: what the service has, what their teams published, and what others did for everybody. */
export async function listEnvironments(ports: AppPorts, caller: Caller, query: z.infer<typeof hubListQuery>) {
  const own = (query.mine_only === true ? [] : await Promise.all(ports.environmentIds.map((id) => ports.findEnvironment(id)))).flatMap((known) =>
    known === null ? [] : [listedOwn(known)],
  );
  const all = [...own, ...(await publishedFor(ports, caller, query.mine_only === true))].filter((each) => matches(each, query));
  const sorted = all.sort((a, b) => compare(a, b, query));
  const { offset, limit } = query;
  return { data: sorted.slice(offset, offset + limit), total_count: all.length, limit, offset };
}

async function publishedFor(ports: AppPorts, caller: Caller, mineOnly: boolean): Promise<readonly Listed[]> {
  const teams = mineOnly ? [...caller.teams] : await teamsOf(ports, caller);
  const found: Listed[] = [];
  for (let at = 0; at < teams.length; at += AT_ONCE) {
    const asked = teams.slice(at, at + AT_ONCE).map(async (team) => {
      const theirs = ports.inTeam(team);
      const all = await readTwice(
        () => theirs.registry,
        (registry) => unlessOlder(registry.listPublished(), []),
      );
      return all.filter((each) => sees(caller, team, each)).map((environment) => listed({ owner: ownerOf(team), ports: theirs, environment }));
    });
    found.push(...(await Promise.all(asked)).flat());
  }
  return found;
}

async function teamsOf({ directory }: AppPorts, caller: Caller): Promise<readonly string[]> {
  const all = directory === null ? [] : await directory.teamNames("", MAX_TEAMS);
  return [...new Set([DEFAULT_TEAM, ...caller.teams, ...all])];
}

function matches({ owner, name, description, visibility }: Listed, query: z.infer<typeof hubListQuery>): boolean {
  if (query.tags !== undefined || query.starred_only === true) return false;
  if (query.owner !== undefined && query.owner !== owner.name) return false;
  if (query.visibility !== undefined && query.visibility !== visibility) return false;
  const wanted = query.search?.toLowerCase();
  return wanted === undefined || `${owner.name}/${name} ${description}`.toLowerCase().includes(wanted);
}

/** What has no time of its own comes last, in whichever direction, by its name. */
function compare(a: Listed, b: Listed, { sort_by, sort_order }: Pick<z.infer<typeof hubListQuery>, "sort_by" | "sort_order">): number {
  const byName = nameOf(a) < nameOf(b) ? -1 : 1;
  const sign = sort_order === "asc" ? 1 : -1;
  if (sort_by === "name") return sign * byName;
  const [one, other] = sort_by === "stars" ? [null, null] : [a[sort_by], b[sort_by]];
  if (one === other) return byName;
  if (one === null || other === null) return one === null ? 1 : -1;
  return sign * (one < other ? -1 : 1);
}
const nameOf = ({ owner, name }: Listed): string => `${name}/${owner.name}`;

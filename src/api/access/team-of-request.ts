import type { Context } from "hono";
import { isRunId } from "../../../r2-layout/keys.ts";
import { EdgewiseError } from "../../errors/result.ts";
import type { Caller } from "../../teams/caller.ts";
import { HUB_OWNER, HUB_ROUTE } from "../hub/hub-path.ts";
import { DEFAULT_TEAM, isTeam } from "../../teams/team-name.ts";
import type { AppContext } from "../app-context.ts";
import type { AppPorts } from "../app-ports.ts";
import { readTwice } from "../read-twice.ts";

/** Which of the caller's teams a request is about; any other, there or not, is not found. */

const HEADER = "x-edgewise-team";
/** As `prime-traces` says it. */
const TRACES_HEADER = "x-prime-team-id";

const noTeam = ({ teams }: Caller): EdgewiseError =>
  new EdgewiseError("not_found", "Team not found.", { hint: `This caller works in ${teams.join(", ")}; leave the team out for ${teams[0]}.` });

/** The caller's team of this name. */
export function ownTeam(caller: Caller, wanted: string): string {
  if (caller.teams.includes(wanted)) return wanted;
  throw noTeam(caller);
}

/**
 * The ports of the team that a body or query names as the `prime` client does. The owner's client may be set up for the vendor's service: a team
 * that nobody has here is noted, as it was before there were teams. One that there is would be misunderstood, and is refused.
 */
export async function portsFor(c: Context<AppContext>, teamId: string | null | undefined): Promise<AppPorts> {
  const { caller, ports } = c.var;
  if (teamId === undefined || teamId === null) return ports;
  if (!caller.owner) return ports.inTeam(ownTeam(caller, teamId));
  if (teamId !== DEFAULT_TEAM && isTeam(teamId) && (await isThere(ports, teamId))) throw noTeam(caller);
  return ports;
}

const isThere = (ports: AppPorts, team: string): Promise<boolean> =>
  readTwice(
    () => ports.directory,
    async (directory) => directory !== null && (await directory.isTeam(team)),
  );

/** As a page says it in its address, where a browser sends no header. */
function teamOfPage({ url }: Request): string | null {
  const { pathname, searchParams } = new URL(url);
  return /^\/dashboard(?:\/|$)/.test(pathname) ? searchParams.get("team") : null;
}

/** As a repository of the Hub says it by its owner, which is a team, or `HUB_OWNER`: whichever team of the caller's is meant. */
function teamOfRepository(route: string, pathname: string): string | null {
  const owner = HUB_ROUTE.test(route) ? partOf(route, ":owner", pathname) : "";
  return owner === "" || owner === HUB_OWNER ? null : owner;
}

/** The team that the request is about by its header, its page or its repository, by the run that it names, or as the caller's first. */
export async function teamOf(request: Request, caller: Caller, route: string, ports: AppPorts): Promise<string> {
  const { pathname } = new URL(request.url);
  const named = request.headers.get(HEADER) ?? teamOfPage(request) ?? teamOfRepository(route, pathname);
  if (named !== null) return ownTeam(caller, named);
  return teamWith(runIn(route, pathname), caller, ports);
}

/** The ports of the team that a body is about by the run that it names, unless a header names one: ours, or that of the client of traces. */
export async function portsWith(c: Context<AppContext>, runId: string): Promise<AppPorts> {
  const { caller, ports } = c.var;
  if (c.req.header(HEADER) !== undefined) return ports;
  const named = c.req.header(TRACES_HEADER)?.trim();
  return named ? portsFor(c, named) : ports.inTeam(await teamWith(runId, caller, ports));
}

/** The caller's team that has this run; the first, where none has it, or there is none to ask for. */
async function teamWith(runId: string | null, caller: Caller, ports: AppPorts): Promise<string> {
  const [first = DEFAULT_TEAM, ...others] = caller.teams;
  if (runId === null || others.length === 0) return first;
  const having = await Promise.all(
    caller.teams.map((team) =>
      readTwice(
        () => ports.inTeam(team).registry,
        (registry) => registry.has(runId),
      ),
    ),
  );
  return caller.teams[having.indexOf(true)] ?? first;
}

/** The run that a path names; null where its route has none, or it is no id. */
function runIn(route: string, pathname: string): string | null {
  const id = partOf(route, ":id", pathname);
  return isRunId(id) ? id : null;
}

/** What stands in a path where its route has this parameter; "" where it has none. */
function partOf(route: string, parameter: string, pathname: string): string {
  const at = route.split("/").indexOf(parameter);
  return at < 0 ? "" : (pathname.split("/")[at] ?? "");
}

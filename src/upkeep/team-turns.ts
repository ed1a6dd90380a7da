import { directoryStub } from "../../durable-objects/stubs.ts";
import type { Env } from "../env.ts";
import { failureOf } from "../errors/result.ts";
import { inTurn } from "../teams/in-turn.ts";
import { DEFAULT_TEAM } from "../teams/team-name.ts";

/** Teams that one invocation looks after: three calls each, of the 10,000 that it has. */
const TEAMS = 1_000;
const PAGE = 1_000;
const MINUTE_MS = 60_000;

/**
 * The teams whose turn it is in this minute, the first of them another one each time: all of them, or of very many the next ones. Where the
 * Directory cannot be asked the default team has its turn.
 */
export async function teamsInTurn(env: Env, now: number): Promise<readonly string[]> {
  const directory = directoryStub(env);
  if (directory === null) return [DEFAULT_TEAM];
  try {
    const teams: string[] = [];
    for (let page: readonly string[] = [""]; page.length > 0; ) {
      page = await directory.teamNames(teams.at(-1) ?? "", PAGE);
      teams.push(...page);
    }
    return inTurn(teams, Math.floor(now / MINUTE_MS), TEAMS);
  } catch (thrown) {
    console.warn(`teams: ${failureOf(thrown).message}`);
    return [DEFAULT_TEAM];
  }
}

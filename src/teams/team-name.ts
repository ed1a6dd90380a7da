/**
 * Names by which everything of a team is reached. Each team has its own Registry, its own Runs and its own part of the bucket, and the names
 * of all three hold the team's: an id that a caller names is looked for among those of its team, and is nowhere else for it. The default team's are what
 * they were before there were teams, so what was stored then is its.
 */

export const DEFAULT_TEAM = "default";

/** A team as it stands in a config: absent = the default team, as in all configs of before. */
export type TeamOf = { readonly team?: string };

const TEAM = /^[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?$/;
export const TEAM_RULE = "must be 1 to 32 of a-z, 0-9 and -, with a letter or digit at both ends";
export const isTeam = (text: string): boolean => TEAM.test(text);

const RUN_NAME = /^(?:([a-z0-9-]{1,32})\/)?[0-9a-f]{8}$/;

const isDefault = (team: string | undefined): boolean => team === undefined || team === DEFAULT_TEAM;
function checked(team: string): string {
  if (!isTeam(team)) throw new RangeError(`not a team: ${JSON.stringify(team.slice(0, 80))}`);
  return team;
}

/** Name of the object of a run, by which the Dispatcher and executors know it: `0000abcd`, or `acme/0000abcd`. */
export const runName = ({ run_id, team }: TeamOf & { readonly run_id: string }): string =>
  team === undefined || isDefault(team) ? run_id : `${checked(team)}/${run_id}`;

export function isRunName(text: string): boolean {
  const found = RUN_NAME.exec(text);
  return found !== null && (found[1] === undefined || isTeam(found[1]));
}

/** Name of the object that knows a team's runs. */
export const registryName = (team: string = DEFAULT_TEAM): string => (isDefault(team) ? "registry" : `registry/${checked(team)}`);

/** Name of the object of an evaluator: no name of one holds a slash. */
export const evaluatorName = (team: string, name: string): string => `${checked(team)}/${name}`;
/** Name of the object of a schedule: no name of one holds a slash. */
export const scheduleName = (team: string, name: string): string => `${checked(team)}/${name}`;

/** Name of the object that keeps a team's alerts. */
export const alertBookName = (team: string): string => checked(team);

/** Desks of a team, one for each first digit of what answers are named by. */
export const ANSWER_DESKS = [..."0123456789abcdef"] as const;
/** Name of the object that knows which of a team's answers there are whose digests begin with that digit. */
export const answerDeskName = (team: string, digit: (typeof ANSWER_DESKS)[number]): string => `${checked(team)}/${digit}`;

/** What stands in the bucket before every key of the team: "", or `teams/acme/`. */
export const teamPrefix = (team: string = DEFAULT_TEAM): string => (isDefault(team) ? "" : `teams/${checked(team)}/`);

/** The field of a config: nothing for the default team. */
export const teamField = (team: string): TeamOf => (isDefault(team) ? {} : { team: checked(team) });

/** Where the service has a thing of a team by its name; null = the list of them. `query`: beside the team. */
export type NamedPath = (name: string | null, team: string | undefined, action?: string, query?: Readonly<Record<string, string>>) => string;

/** `things`: what the service calls them, such as `schedules`. */
export const namedPath =
  (things: string): NamedPath =>
  (name, team, action = "", query = {}) => {
    const asked = new URLSearchParams({ ...(team === undefined ? {} : { team_id: team }), ...query }).toString();
    return `/${things}${name === null ? "" : `/${encodeURIComponent(name)}`}${action}${asked === "" ? "" : `?${asked}`}`;
  };

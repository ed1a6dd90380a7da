/** Who looks, as the page says it (src/api/pages/dashboard-page.ts). */
export interface Viewer {
  readonly version: string;
  /** Who they are to the service. */
  readonly user: string;
  readonly team: string;
  readonly teams: readonly string[];
  /** What every change shows; "" for who is not signed in by a browser. */
  readonly csrf: string;
  /** How the browser is signed in; "" = it needs not be. */
  readonly via: "session" | "access" | "";
  /** Where the results folders are that are looked at, and changed by nobody; "" = the runs of a service are. */
  readonly folders: string;
}

/** `data`: of the element that the dashboard is drawn in. */
export function viewerIn(data: Readonly<Record<string, string | undefined>>): Viewer {
  const { version = "", user = "", team = "", teams = "", csrf = "", via = "", folders = "" } = data;
  return { version, user, team, teams: teams.split(",").filter(Boolean), csrf, via: via === "session" || via === "access" ? via : "", folders };
}

import type { Service } from "./service.ts";

/** Of the dashboard at a service, or of a run there. It carries no token: a browser signs in by itself. */
export const dashboardAddress = (url: string, runId: string | null = null): string =>
  runId === null ? `${url}/dashboard/` : `${url}/dashboard/evaluations/${runId}`;

/** Where a run, or all runs, can be looked at when its command has ended; nowhere where the service ends with it. */
export const dashboardLines = ({ role, owner, url }: Pick<Service, "role" | "owner" | "url">, runId: string | null = null): readonly string[] =>
  role === "remote" || owner?.stays === true ? [`Dashboard: ${dashboardAddress(url, runId)}`] : [];

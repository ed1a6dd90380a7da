import { html } from "hono/html";
import { ASSETS_PATH, type BuiltDashboard } from "./built-dashboard.ts";
import type { Html, SignedIn } from "./page.ts";

/** Who looks, as a page of the dashboard is told: everything else it asks the HTTP API. */
export interface Viewer {
  readonly user: string;
  readonly team: string;
  readonly teams: readonly string[];
  readonly signedIn: SignedIn | null;
  readonly version: string;
  /** The place of the results folders that are shown; "" = a service's runs are. */
  readonly folders: string;
}

/** The one page that all pages of the dashboard begin with: what it loads, and who looks. */
export const dashboardPage = (
  { script, style, preloads }: BuiltDashboard,
  { user, team, teams, signedIn, version, folders }: Viewer,
): Html => html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="robots" content="noindex">
<title>Edgewise</title>
<link rel="stylesheet" href="${ASSETS_PATH}/${style}">
${preloads.map((name) => html`<link rel="modulepreload" href="${ASSETS_PATH}/${name}">\n`)}<script type="module" src="${ASSETS_PATH}/${script}"></script>
</head>
<body>
<div id="dashboard" data-version="${version}" data-user="${user}" data-team="${team}" data-teams="${teams.join(",")}" data-csrf="${signedIn?.csrf ?? ""}" data-via="${signedIn?.via ?? ""}" data-folders="${folders}"></div>
<noscript><p>These pages need scripts. In a terminal, <code>npx edgewise eval list</code> says the same.</p></noscript>
</body>
</html>
`;

/**
 * What the page may do: load its own files and ask its own service. No script or style stands in the page itself, no text becomes markup but through
 * the one policy that cleans it, and nothing is loaded from elsewhere. Scripts beside the page are its own files, too. `origin`: of the service, as the browser has it.
 */
export const dashboardPolicy = (origin: string): string =>
  [
    "default-src 'none'",
    `script-src ${origin}${ASSETS_PATH}/`,
    `worker-src ${origin}${ASSETS_PATH}/`,
    `style-src ${origin}${ASSETS_PATH}/`,
    "connect-src 'self'",
    "img-src 'self' data:",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types edgewise-markdown edgewise-worker",
  ].join("; ");

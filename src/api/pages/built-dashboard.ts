/** Where files of the dashboard are, on every host: the platform serves them from there, and the local service does. */
export const ASSETS_PATH = "/dashboard/assets";
/** A name says what is in a file, so it never changes. */
export const ASSET_NAME = /^[a-z0-9-]+-[A-Z0-9]{8}\.(?:js|css)$/;

/** A script that runs beside its page has this policy, not the page's: it computes, and asks nobody. */
export const ASSETS_POLICY = "default-src 'none'";

/** What the page of the dashboard loads, as tools/dashboard-bundle.ts made it: names below `ASSETS_PATH`. */
export interface BuiltDashboard {
  readonly script: string;
  readonly style: string;
  /** Scripts that the first one imports at once. */
  readonly preloads: readonly string[];
}

/** Put in place by the build; missing where sources run as they are. */
declare const EDGEWISE_DASHBOARD: BuiltDashboard | null | undefined;

/** Null in sources that no build has looked at: such a Worker has plain pages. */
export const BUILT_DASHBOARD: BuiltDashboard | null = typeof EDGEWISE_DASHBOARD === "object" ? EDGEWISE_DASHBOARD : null;

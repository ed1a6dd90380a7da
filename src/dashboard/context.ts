import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { Link } from "./address/links.ts";
import type { Api } from "./api/ask.ts";
import type { Shortcuts } from "./keyboard/shortcuts.ts";
import type { Visibility } from "./live/visibility.ts";
import type { Viewer } from "./viewer.ts";

/** What every page stands on. */
export interface Dashboard {
  readonly viewer: Viewer;
  readonly api: Api;
  readonly link: Link;
  readonly visibility: Visibility;
  readonly shortcuts: Shortcuts;
}

export const DashboardContext = createContext<Dashboard | null>(null);

export function useDashboard(): Dashboard {
  const dashboard = useContext(DashboardContext);
  if (dashboard === null) throw new Error("This is drawn outside of the dashboard.");
  return dashboard;
}

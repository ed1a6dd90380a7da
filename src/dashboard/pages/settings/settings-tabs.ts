/** Parts of the settings, in the order in which they are listed. */
export const SETTINGS_TABS = [
  { id: "me", name: "Who am I" },
  { id: "tokens", name: "Tokens" },
  { id: "secrets", name: "Secrets" },
  { id: "environment", name: "Of environments" },
  { id: "alerts", name: "Alerts" },
  { id: "monitors", name: "Monitors" },
  { id: "endpoints", name: "Endpoints" },
  { id: "limits", name: "Limits of endpoints" },
  { id: "budgets", name: "Budgets" },
  { id: "cache", name: "Cache of answers" },
  { id: "baselines", name: "Baselines" },
  { id: "team", name: "Team" },
  { id: "audit", name: "Audit log" },
] as const;

export type SettingsTab = (typeof SETTINGS_TABS)[number]["id"];

/** What an address asks for; the first part where it asks for none that there is. */
export const shownTab = (asked: string | undefined): SettingsTab => SETTINGS_TABS.find(({ id }) => id === asked)?.id ?? "me";

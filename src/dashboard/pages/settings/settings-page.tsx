import "./settings.css";
import { useLocation } from "preact-iso/router";
import { SETTINGS } from "../../address/links.ts";
import { useDashboard } from "../../context.ts";
import { PageTitle } from "../../frame/page-title.tsx";
import { useShortcuts } from "../../keyboard/use-shortcuts.ts";
import { AlertsTab } from "./alerts/alerts-tab.tsx";
import { MeTab } from "./me-tab.tsx";
import { MonitorsTab } from "./monitors/monitors-tab.tsx";
import { AuditTab } from "./reading/audit-tab.tsx";
import { BaselinesTab } from "./reading/baselines-tab.tsx";
import { BudgetsTab } from "./reading/budgets-tab.tsx";
import { CacheTab } from "./reading/cache-tab.tsx";
import { EndpointsTab } from "./reading/endpoints-tab.tsx";
import { LimitsTab } from "./reading/limits-tab.tsx";
import { TeamTab } from "./reading/team-tab.tsx";
import { EnvironmentTab } from "./secrets/environment-tab.tsx";
import { SecretsTab } from "./secrets/secrets-tab.tsx";
import { SETTINGS_TABS, type SettingsTab, shownTab } from "./settings-tabs.ts";
import { TokensTab } from "./tokens/tokens-tab.tsx";

const DRAWN: Readonly<Record<SettingsTab, () => preact.JSX.Element>> = {
  me: MeTab,
  tokens: TokensTab,
  secrets: SecretsTab,
  environment: EnvironmentTab,
  alerts: AlertsTab,
  monitors: MonitorsTab,
  endpoints: EndpointsTab,
  limits: LimitsTab,
  budgets: BudgetsTab,
  cache: CacheTab,
  baselines: BaselinesTab,
  team: TeamTab,
  audit: AuditTab,
};

/** What a team keeps beside its runs, and who one is: each part at an address of its own. */
export function SettingsPage() {
  const { link } = useDashboard();
  const { query, route } = useLocation();
  const tab = shownTab(query.tab);
  const Drawn = DRAWN[tab];
  const at = (to: SettingsTab): string => link(SETTINGS, { tab: to });
  const step = (by: number): boolean => {
    const all = SETTINGS_TABS.map(({ id }) => id);
    const next = all[(all.indexOf(tab) + by + all.length) % all.length];
    if (next !== undefined) route(at(next));
    return next !== undefined;
  };
  useShortcuts([
    { keys: ["ArrowRight"], does: "Next part of the settings", run: () => step(1) },
    { keys: ["ArrowLeft"], does: "Previous part of the settings", run: () => step(-1) },
  ]);
  return (
    <>
      <PageTitle title="Settings" />
      <div class="settings">
        <nav aria-label="Settings">
          <ul>
            {SETTINGS_TABS.map(({ id, name }) => (
              <li key={id}>
                <a href={at(id)} aria-current={id === tab ? "page" : undefined}>
                  {name}
                </a>
              </li>
            ))}
          </ul>
        </nav>
        <div class="settings-part">
          <Drawn key={tab} />
        </div>
      </div>
    </>
  );
}

import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import { erroredRollouts } from "../../../metrics/totals.ts";
import { thousands } from "../../../report/text/format.ts";
import type { Evaluation } from "../../api/run-answers.ts";
import { useDashboard } from "../../context.ts";
import { type Tab, Tabs } from "../../design/tabs/tabs.tsx";
import { useShortcuts } from "../../keyboard/use-shortcuts.ts";
import { ErrorsTab } from "./errors-tab.tsx";
import { FilesTab } from "./files-tab.tsx";
import { LimitsTab } from "./course/limits-tab.tsx";
import { LogTab } from "./log/log-tab.tsx";
import { MetricsTab } from "./metrics-tab.tsx";
import type { RunQuery, RunTab } from "./run-query.ts";
import type { RunStore } from "./run-store.ts";
import { SettingsTab } from "./settings-tab.tsx";
import { SummaryTab } from "./summary-tab.tsx";

interface RunTabsProps {
  readonly run: Evaluation;
  readonly query: RunQuery;
  readonly go: (next: RunQuery, replaces?: boolean) => void;
  readonly store: RunStore;
}

/** Everything about a run beside its head, a part at a time. */
export function RunTabs({ run, query, go, store }: RunTabsProps) {
  const searches = useRef(false);
  const { viewer } = useDashboard();
  const { errors } = run.edgewise;
  const errored = erroredRollouts({ errors });
  const tabs: readonly Tab<RunTab>[] = [
    { id: "summary", name: "Summary" },
    { id: "metrics", name: "Metrics", count: thousands(Object.keys(run.metrics.metrics ?? {}).length) },
    { id: "errors", name: "Errors", count: thousands(errored) },
    // What bounded a run its folder does not say.
    ...(viewer.folders === "" ? [{ id: "limits", name: "Limits" } as const] : []),
    { id: "settings", name: "Settings" },
    { id: "log", name: "Log" },
    { id: "files", name: "Files" },
  ];
  return (
    <Tabs label="Parts of the run" tabs={tabs} shown={query.tab} onPick={(tab) => go({ ...query, tab })} arrows>
      <Items>
        <Panel run={run} query={query} go={go} store={store} searches={searches} />
      </Items>
      <LogKeys query={query} go={go} searches={searches} />
    </Tabs>
  );
}

interface PanelProps extends RunTabsProps {
  /** Whether the search of the log takes the focus when it is drawn. */
  readonly searches: { current: boolean };
}

function Panel(props: PanelProps) {
  switch (props.query.tab) {
    case "metrics":
      return <MetricsTab {...props} />;
    case "errors":
      return <ErrorsTab {...props} />;
    case "limits":
      return <LimitsTab {...props} />;
    case "settings":
      return <SettingsTab {...props} />;
    case "log":
      return <LogTab {...props} />;
    case "files":
      return <FilesTab {...props} />;
    default:
      return <SummaryTab {...props} />;
  }
}

/** `j` and `k` go through what can be opened in a tab: links of rows, and their buttons. */
function Items({ children }: { readonly children: ComponentChildren }) {
  const place = useRef<HTMLDivElement>(null);
  const move = (step: 1 | -1): boolean => {
    const items = [...(place.current?.querySelectorAll<HTMLElement>("[data-item]") ?? [])];
    const at = items.indexOf(document.activeElement as HTMLElement);
    const next = items[at < 0 ? 0 : Math.max(0, Math.min(items.length - 1, at + step))];
    next?.focus();
    next?.scrollIntoView({ block: "nearest" });
    return next !== undefined;
  };
  useShortcuts([
    { keys: ["j", "ArrowDown"], does: "Next item of the tab", run: () => move(1) },
    { keys: ["k", "ArrowUp"], does: "Previous item of the tab", run: () => move(-1) },
  ]);
  return <div ref={place}>{children}</div>;
}

/** From wherever one is, `/` leads to the search of the log. */
function LogKeys({ query, go, searches }: Pick<RunTabsProps, "query" | "go"> & { readonly searches: { current: boolean } }) {
  useShortcuts([
    {
      keys: ["/"],
      does: "Search the log",
      run: () => {
        if (query.tab === "log") document.querySelector<HTMLInputElement>(".log-search input")?.select();
        else go({ ...query, tab: "log" });
        searches.current = query.tab !== "log";
        return true;
      },
    },
  ]);
  return null;
}

import { useLocation } from "preact-iso/router";
import { COMPARE } from "../../address/links.ts";
import { useDashboard } from "../../context.ts";
import { useShortcuts } from "../../keyboard/use-shortcuts.ts";
import type { RunsQuery } from "./runs-query.ts";

interface ChosenRunsProps {
  readonly query: RunsQuery;
  readonly go: (next: RunsQuery) => void;
}

/** Runs that are chosen to be compared: the first is what the others are held against. */
export function ChosenRuns({ query, go }: ChosenRunsProps) {
  const { link } = useDashboard();
  const { route } = useLocation();
  const { chosen } = query;
  const address = link(COMPARE, { runs: chosen.join(",") });
  const compare = (): boolean => {
    if (chosen.length < 2) return false;
    route(address);
    return true;
  };
  useShortcuts([{ keys: ["c"], does: "Compare the chosen runs", run: compare }]);
  if (chosen.length === 0) return null;
  return (
    <section class="chosen" aria-label="Chosen runs">
      <p role="status">
        {chosen.length} {chosen.length === 1 ? "run" : "runs"} chosen, {chosen[0]} as the baseline.{" "}
        {chosen.length === 1 ? "Choose another one to compare them." : null}
      </p>
      {chosen.length > 1 ? (
        <a class="button" href={address} title="Compare (c)">
          Compare
        </a>
      ) : null}
      <button type="button" class="quiet" onClick={() => go({ ...query, chosen: [] })}>
        Choose none
      </button>
    </section>
  );
}

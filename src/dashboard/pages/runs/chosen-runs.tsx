import { useState } from "preact/hooks";
import type { RunsQuery } from "./runs-query.ts";

interface ChosenRunsProps {
  readonly query: RunsQuery;
  readonly go: (next: RunsQuery) => void;
}

/** Runs that are chosen to be compared: the first is what the others are held against. */
export function ChosenRuns({ query, go }: ChosenRunsProps) {
  const [copied, setCopied] = useState(false);
  const { chosen } = query;
  if (chosen.length === 0) return null;
  const command = `npx edgewise compare ${chosen.join(" ")}`;
  return (
    <section class="chosen" aria-label="Chosen runs">
      <p role="status">
        {chosen.length} {chosen.length === 1 ? "run" : "runs"} chosen, {chosen[0]} as the baseline.{" "}
        {chosen.length === 1 ? "Choose another one to compare them." : null}
      </p>
      {chosen.length > 1 ? (
        <p>
          <code>{command}</code>{" "}
          <button
            type="button"
            onClick={() =>
              void navigator.clipboard.writeText(command).then(
                () => setCopied(true),
                () => setCopied(false),
              )
            }
          >
            {copied ? "Copied" : "Copy"}
          </button>
        </p>
      ) : null}
      <button type="button" class="quiet" onClick={() => go({ ...query, chosen: [] })}>
        Choose none
      </button>
    </section>
  );
}

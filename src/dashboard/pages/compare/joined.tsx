import { joinedText, meaningLines } from "../../../report/statistics/comparison-lines.ts";
import { singleLine } from "../../../report/text/printable.ts";
import type { RunComparison } from "../../api/answers.ts";
import type { Go, CompareQuery } from "./compare-query.ts";

interface JoinedProps {
  readonly comparison: RunComparison;
  readonly clusterBy: string | undefined;
  readonly query: CompareQuery;
  readonly go: Go;
}

/** What was held against what, what was left out and why, and what a reader should know before the numbers. */
export function Joined({ comparison, clusterBy, query, go }: JoinedProps) {
  const { paired, warnings, candidate } = comparison;
  return (
    <section class="joined" aria-label="What was compared">
      <p role="status">
        {query.runs.length > 2 ? `Run ${candidate.run} against the baseline. ` : ""}
        {paired ? `Joined: ${joinedText(comparison)}` : "Compared as samples of two: examples are not held against each other"}
        {query.accept ? "; other code is taken to score the same" : ""}.
      </p>
      {warnings.length === 0 ? null : (
        <ul class="joined-warnings">
          {warnings.map((warning) => (
            <li key={warning}>
              <strong>Note:</strong> {singleLine(warning)}
            </li>
          ))}
        </ul>
      )}
      <details>
        <summary>What the numbers are worth</summary>
        <ul>
          {meaningLines(comparison, clusterBy).map((line) => (
            <li key={line}>{singleLine(line)}</li>
          ))}
        </ul>
      </details>
      {query.unpaired || query.accept ? (
        <p>
          <button type="button" onClick={() => go({ ...query, unpaired: false, accept: false, page: 1, at: null }, false)}>
            Compare as usual
          </button>
        </p>
      ) : null}
    </section>
  );
}

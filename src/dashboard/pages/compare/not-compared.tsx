import { runAddress } from "../../address/links.ts";
import type { Problem } from "../../api/problem.ts";
import { useDashboard } from "../../context.ts";
import { absenceText } from "../../design/absence.ts";
import { Failure, Notice } from "../../design/notice.tsx";
import { type Go, type CompareQuery, withRuns } from "./compare-query.ts";
import type { CompareStore } from "./compare-store.ts";

interface NotComparedProps {
  readonly query: CompareQuery;
  readonly problem: Problem;
  readonly store: CompareStore;
  readonly go: Go;
}

/** Why there is no comparison, and what would make one. */
export function NotCompared({ query, problem, store, go }: NotComparedProps) {
  const { link, viewer } = useDashboard();
  const again = (): void => store.again();
  const { code, text, hint } = problem;
  if (code === "not_comparable")
    return (
      <Notice role="alert" tone="warning" title={text}>
        {hint === null ? null : <p>{hint}</p>}
        <p class="notice-actions">
          {hint?.includes("accept_code_change") ? (
            <button type="button" onClick={() => go({ ...query, accept: true, page: 1, at: null }, false)}>
              They score the same: compare
            </button>
          ) : null}
          {hint?.includes("unpaired") ? (
            <button type="button" onClick={() => go({ ...query, unpaired: true, page: 1, at: null }, false)}>
              Compare as samples of two
            </button>
          ) : null}
        </p>
      </Notice>
    );
  const gone = query.runs.filter((id) => {
    const face = store.faces.value.get(id);
    return face?.ok === false && face.problem.status === 404;
  });
  const [baseline] = query.runs;
  const left = query.runs.filter((id) => !gone.includes(id));
  if (code === "not_found" && gone.length > 0)
    return (
      <Notice role="alert" tone="bad" title={gone.length === 1 ? "A run is not there." : "Runs are not there."}>
        <p>{absenceText(viewer, gone.length === 1 ? "it" : "they")}</p>
        {baseline === undefined || !gone.includes(baseline) ? null : (
          <p>It was the baseline.{left[0] === undefined ? "" : ` Without it the others are held against run ${left[0]}.`}</p>
        )}
        <p class="notice-actions">
          <button type="button" onClick={() => go(withRuns(query, left), false)}>
            Compare without {gone.join(", ")}
          </button>
        </p>
      </Notice>
    );
  if (code === "run_busy") {
    const busy = query.runs.filter((id) => text.includes(id));
    return (
      <Notice role="alert" tone="warning" title={text}>
        {hint === null ? null : <p>{hint}</p>}
        <p class="notice-actions">
          {busy.map((id) => (
            <a key={id} class="button" href={link(runAddress(id))}>
              Follow run {id}
            </a>
          ))}
          <button type="button" onClick={again}>
            Try again
          </button>
        </p>
      </Notice>
    );
  }
  return <Failure problem={problem} again={again} />;
}

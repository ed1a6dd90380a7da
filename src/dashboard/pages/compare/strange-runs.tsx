import { singleLine } from "../../../report/text/printable.ts";
import { Notice } from "../../design/notice.tsx";
import { type Go, type CompareQuery, hasNoBaseline, withRuns } from "./compare-query.ts";

/** Says what the address names and is no run. A baseline that is none is replaced by nothing but a click. */
export function StrangeRuns({ query, go }: { readonly query: CompareQuery; readonly go: Go }) {
  const { strange, runs } = query;
  if (strange.length === 0) return null;
  const named = strange.map(({ text }) => `“${singleLine(text)}”`).join(", ");
  const isBaseline = hasNoBaseline(query);
  const [first] = runs;
  return (
    <Notice
      role={isBaseline ? "alert" : "status"}
      tone={isBaseline ? "bad" : "warning"}
      title={
        isBaseline
          ? `The baseline is named “${singleLine(strange[0]?.text ?? "")}”, which is no id of a run.`
          : `${named} ${strange.length === 1 ? "is no id of a run and is" : "are no ids of runs and are"} left out.`
      }
    >
      <p>
        An id has eight characters of 0 to 9 and a to f.
        {isBaseline && strange.length > 1
          ? ` No ids either: ${strange
              .slice(1)
              .map(({ text }) => `“${singleLine(text)}”`)
              .join(", ")}.`
          : ""}
      </p>
      <p class="notice-actions">
        <button type="button" onClick={() => go(withRuns(query, runs), false)}>
          {!isBaseline ? "Take it out of the address" : first === undefined ? "Choose a baseline" : `Take run ${first} as the baseline`}
        </button>
        {isBaseline && first !== undefined ? (
          <button type="button" onClick={() => go(withRuns(query, []), false)}>
            Choose all anew
          </button>
        ) : null}
      </p>
    </Notice>
  );
}

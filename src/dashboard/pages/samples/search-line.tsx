import { thousands } from "../../../report/text/format.ts";
import { Failure } from "../../design/notice.tsx";
import type { TextSearches } from "../../samples/text-searches.ts";

/** That texts are being looked for, how far that is, what could not be looked at, or why it did not go on. */
export function SearchLine({ searches }: { readonly searches: TextSearches }) {
  const problem = searches.problem.value;
  const scanned = searches.scanned.value;
  if (problem !== null) return <Failure problem={problem} again={() => searches.again()} />;
  const { unreadable } = searches;
  return (
    <>
      {scanned === null ? null : (
        <p class="count" role="status">
          Looking through the texts: {thousands(scanned)} rows so far.
        </p>
      )}
      {unreadable === 0 ? null : (
        <p class="count" role="status">
          <span class="bad-text">
            {thousands(unreadable)} {unreadable === 1 ? "row that may have it cannot be read, and is" : "rows that may have it cannot be read, and are"} not
            listed.
          </span>
        </p>
      )}
    </>
  );
}

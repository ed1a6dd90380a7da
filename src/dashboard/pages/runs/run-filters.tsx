import { singleLine } from "../../../report/text/printable.ts";
import { statusText } from "../../design/status-mark.tsx";
import { changed, isFiltered, type RunsQuery, STATUSES, unfiltered } from "./runs-query.ts";
import { SearchField } from "../../design/search-field.tsx";

interface RunFiltersProps {
  readonly query: RunsQuery;
  readonly go: (next: RunsQuery) => void;
}

/** What is picked in the list itself, as people call it. */
const PICKED = [
  ["environment", "environment"],
  ["model", "model"],
  ["tag", "tag"],
  ["by", "person"],
] as const;

/** Which runs are shown. */
export function RunFilters({ query, go }: RunFiltersProps) {
  const tick = (status: RunsQuery["statuses"][number]): void =>
    go(changed(query, { statuses: STATUSES.filter((each) => (each === status) !== query.statuses.includes(each)) }));
  return (
    <search class="filters">
      <SearchField search={query.search} go={(search) => go(changed(query, { search }))} what="Search runs" placeholder="Id, name, environment or model" />
      <fieldset class="ticks">
        <legend>Status</legend>
        {STATUSES.map((status) => (
          <label key={status}>
            <input type="checkbox" checked={query.statuses.includes(status)} onChange={() => tick(status)} /> {statusText(status)}
          </label>
        ))}
      </fieldset>
      {PICKED.map(([key, name]) =>
        query[key] === "" ? null : (
          <p key={key} class="picked">
            {name}: <b>{singleLine(query[key])}</b>{" "}
            <button type="button" class="quiet" aria-label={`Runs of every ${name}`} onClick={() => go(changed(query, { [key]: "" }))}>
              ✕
            </button>
          </p>
        ),
      )}
      {isFiltered(query) ? (
        <button type="button" class="quiet" onClick={() => go(unfiltered(query))}>
          Clear
        </button>
      ) : null}
    </search>
  );
}

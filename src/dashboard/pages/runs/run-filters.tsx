import { statusText } from "../../design/status-mark.tsx";
import { changed, isFiltered, type RunsQuery, STATUSES } from "./runs-query.ts";
import { SearchField } from "../../design/search-field.tsx";

interface RunFiltersProps {
  readonly query: RunsQuery;
  readonly go: (next: RunsQuery) => void;
}

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
      {[["environment", query.environment] as const, ["model", query.model] as const].map(([name, value]) =>
        value === "" ? null : (
          <p key={name} class="picked">
            {name}: <b>{value}</b>{" "}
            <button type="button" class="quiet" aria-label={`Runs of every ${name}`} onClick={() => go(changed(query, { [name]: "" }))}>
              ✕
            </button>
          </p>
        ),
      )}
      {isFiltered(query) ? (
        <button type="button" class="quiet" onClick={() => go(changed(query, { search: "", statuses: [], environment: "", model: "" }))}>
          Clear
        </button>
      ) : null}
    </search>
  );
}

import { fixed, thousands } from "../../../report/text/format.ts";
import { intervalText } from "../../../report/statistics/uncertainty.ts";
import { probability } from "../../../report/statistics/comparison-lines.ts";
import { singleLine } from "../../../report/text/printable.ts";
import { runAddress } from "../../address/links.ts";
import { useDashboard } from "../../context.ts";
import { absenceText } from "../../design/absence.ts";
import { StatusMark } from "../../design/status-mark.tsx";
import { useShortcuts } from "../../keyboard/use-shortcuts.ts";
import { type Go, type CompareQuery, withBaseline, withRuns } from "./compare-query.ts";
import type { CompareStore } from "./compare-store.ts";
import { Moved } from "./moved.tsx";

interface ComparedRunsProps {
  readonly query: CompareQuery;
  readonly store: CompareStore;
  readonly go: Go;
}

/** The runs, the baseline first, and of each how far it is from the baseline. */
export function ComparedRuns({ query, store, go }: ComparedRunsProps) {
  const swap = (): boolean => {
    const looked = query.runs[query.against];
    if (looked !== undefined) go(withBaseline(query, looked), false);
    return looked !== undefined;
  };
  useShortcuts([{ keys: ["b"], does: "Make the run that is looked at the baseline", run: swap }]);
  if (query.runs.length === 0) return null;
  return (
    <div class="scrolled">
      <table class="compared cards">
        <caption class="visually-hidden">Compared runs</caption>
        <thead>
          <tr>
            {[
              "Role",
              "Run",
              "Model",
              "Examples",
              `Mean ${query.metric === "reward" ? "reward" : singleLine(query.metric)}`,
              "Difference",
              "95 % interval",
              "p",
            ].map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
            <th scope="col">
              <span class="visually-hidden">Change</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {query.runs.map((id, place) => (
            <Row key={id} id={id} place={place} query={query} store={store} go={go} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Row({ id, place, query, store, go }: ComparedRunsProps & { readonly id: string; readonly place: number }) {
  const { link, viewer } = useDashboard();
  const face = store.faces.value.get(id);
  const comparison = store.comparisonOf(query);
  const compared = place === 0 ? null : (comparison?.comparisons[place - 1] ?? null);
  const named = place === 0 ? (comparison?.baseline ?? null) : (compared?.candidate ?? null);
  const metricOf = (at: number) => comparison?.comparisons[at]?.metrics.find(({ metric }) => metric === query.metric);
  const [own, first] = [metricOf(place - 1), metricOf(query.against - 1)];
  const mean = place === 0 ? first?.baseline : own?.candidate;
  const isLooked = place === query.against && query.runs.length > 2;
  return (
    <tr class={isLooked ? "is-chosen" : undefined} aria-current={isLooked ? "true" : undefined}>
      <td data-name="Role">
        {place === 0 ? <strong>Baseline</strong> : query.runs.length > 2 ? <Choose {...{ id, place, query, go, isLooked }} /> : "Candidate"}
      </td>
      <td data-name="Run">
        {face?.ok === false && face.problem.text !== store.problem.value?.text ? (
          <span class="bad-text">{face.problem.status === 404 ? `There is no such run. ${absenceText(viewer, "it")}` : face.problem.text}</span>
        ) : null}
        {face?.ok === true ? <a href={link(runAddress(id))}>{singleLine(face.value.name)}</a> : null}
        <small>
          <code>{id}</code> {face?.ok === true ? <StatusMark status={face.value.status} /> : null}
        </small>
      </td>
      <td data-name="Model">{face?.ok === true ? singleLine(face.value.model_name) : ""}</td>
      <td data-name="Examples" class="number">
        {named === null ? "" : thousands(named.examples)}
        {named === null || (named.rollouts === named.examples && named.errored === 0) ? null : (
          <small>
            {thousands(named.rollouts)} rollouts{named.errored === 0 ? "" : `, ${thousands(named.errored)} errors`}
          </small>
        )}
      </td>
      <td data-name="Mean" class="number">
        {mean === undefined ? "" : fixed(mean, 3)}
      </td>
      <td data-name="Difference" class="number">
        {own === undefined ? "" : <Moved difference={own.difference} metric={own.metric} />}
      </td>
      <td data-name="95 % interval" class="number">
        {own === undefined ? "" : own.ci95 === null ? "–" : intervalText(own.ci95)}
      </td>
      <td data-name="p" class="number">
        {own === undefined ? "" : own.p === null ? "–" : probability(own.p)}
      </td>
      <td data-name="Change" class="compared-change">
        {place === 0 ? null : (
          <button
            type="button"
            class="quiet"
            aria-label={`Make baseline: run ${id}`}
            title={place === query.against ? "The others are held against it (b)" : "The others are held against it"}
            onClick={() => go(withBaseline(query, id), false)}
          >
            Make baseline
          </button>
        )}
        <button
          type="button"
          class="quiet"
          aria-label={`Remove run ${id}`}
          onClick={() =>
            go(
              withRuns(
                query,
                query.runs.filter((each) => each !== id),
              ),
              false,
            )
          }
        >
          Remove
        </button>
      </td>
    </tr>
  );
}

interface ChooseProps {
  readonly id: string;
  readonly place: number;
  readonly query: CompareQuery;
  readonly go: Go;
  readonly isLooked: boolean;
}

const Choose = ({ id, place, query, go, isLooked }: ChooseProps) => (
  <label class="compared-choice">
    <input
      type="radio"
      name="against"
      checked={isLooked}
      aria-label={`Look at run ${id}`}
      title="Other run (h, l)"
      onChange={() => go({ ...query, against: place, page: 1, at: null })}
    />
    Candidate
  </label>
);

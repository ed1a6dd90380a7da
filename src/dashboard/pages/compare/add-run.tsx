import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { singleLine } from "../../../report/text/printable.ts";
import { useDashboard } from "../../context.ts";
import { agoText } from "../../design/moment.tsx";
import { Notice } from "../../design/notice.tsx";
import { StatusMark } from "../../design/status-mark.tsx";
import { useShortcuts } from "../../keyboard/use-shortcuts.ts";
import { type Go, type CompareQuery, MOST_RUNS, withRuns } from "./compare-query.ts";
import type { CompareStore } from "./compare-store.ts";
import { RunSearch } from "./run-search.ts";

interface AddRunProps {
  readonly query: CompareQuery;
  readonly store: CompareStore;
  readonly go: Go;
}

/** A way to further runs: searched by words, those of the baseline's environment at first. Open where there are not two yet. */
export function AddRun({ query, store, go }: AddRunProps) {
  const [isOpen, setOpen] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  const isNeeded = query.runs.length < 2;
  const isFull = query.runs.length >= MOST_RUNS;
  const open = (): boolean => {
    if (isFull) return false;
    setOpen(true);
    // Drawn after this.
    setTimeout(() => field.current?.focus());
    return true;
  };
  useShortcuts([{ keys: ["a"], does: "Add a run to the comparison", run: open }]);
  if (isFull) return <p class="count">Ten runs are compared at once at most.</p>;
  const baseline = store.faces.value.get(query.runs[0] ?? "");
  return (
    <>
      {isNeeded ? (
        <Notice
          role="status"
          tone="plain"
          title={query.runs.length === 0 ? "Which runs? The first is what the others are held against." : "Against which run?"}
        />
      ) : (
        <p>
          <button type="button" title="Add a run (a)" aria-expanded={isOpen} onClick={() => (isOpen ? setOpen(false) : open())}>
            Add a run
          </button>
        </p>
      )}
      {isNeeded || isOpen ? (
        <Picker
          field={field}
          environment={baseline?.ok === true ? (baseline.value.environment_names[0] ?? null) : null}
          taken={query.runs}
          onPick={(id) => {
            setOpen(false);
            go(withRuns(query, [...query.runs, id]), false);
          }}
          onClose={() => setOpen(false)}
        />
      ) : null}
    </>
  );
}

interface PickerProps {
  readonly field: { readonly current: HTMLInputElement | null };
  /** Of the baseline; null = not known. */
  readonly environment: string | null;
  readonly taken: readonly string[];
  readonly onPick: (id: string) => void;
  readonly onClose: () => void;
}

function Picker({ field, environment, taken, onPick, onClose }: PickerProps) {
  const { api } = useDashboard();
  const search = useMemo(() => new RunSearch(api), [api]);
  const [text, setText] = useState("");
  const [sameOnly, setSameOnly] = useState(true);
  const within = sameOnly ? environment : null;
  const asksForAll = text.trim() === "" && within === null;
  useEffect(() => search.look(text, within), [search, text, within]);
  useEffect(() => () => search.close(), [search]);
  const found = search.found.value?.filter(({ evaluation_id: id }) => !taken.includes(id)) ?? null;
  return (
    <section class="run-picker" aria-label="Runs to compare">
      <div class="filters">
        <label class="field">
          <span>Search runs that have ended</span>
          <input
            ref={field}
            type="search"
            value={text}
            placeholder="Id, name, environment or model"
            onInput={({ currentTarget }) => setText(currentTarget.value)}
            onKeyDown={({ key }) => {
              if (key === "Escape") onClose();
            }}
          />
        </label>
        {environment === null ? null : (
          <label class="picker-same">
            <input type="checkbox" checked={sameOnly} onChange={({ currentTarget }) => setSameOnly(currentTarget.checked)} /> of {singleLine(environment)} only
          </label>
        )}
      </div>
      {search.problem.value === null ? null : <p class="bad-text">{search.problem.value}</p>}
      {found === null ? <p role="status">Looking for runs…</p> : null}
      {found?.length === 0 ? <p role="status">{asksForAll && taken.length === 0 ? "No run has ended yet." : "No other run is like that."}</p> : null}
      {found === null || found.length === 0 ? null : (
        <ul class="picker-runs">
          {found.map((run) => (
            <li key={run.evaluation_id}>
              <button type="button" onClick={() => onPick(run.evaluation_id)}>
                <span class="picker-name">{singleLine(run.name)}</span>
                <small>
                  {run.evaluation_id} · {singleLine(run.metadata.env_id)} · {singleLine(run.model_name)} ·{" "}
                  {run.created_at === null ? "" : agoText(run.created_at, Date.now())} · <StatusMark status={run.status} />
                </small>
              </button>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

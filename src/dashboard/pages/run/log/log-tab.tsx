import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { thousands } from "../../../../report/text/format.ts";
import { runAddress } from "../../../address/links.ts";
import type { Evaluation } from "../../../api/run-answers.ts";
import { useDashboard } from "../../../context.ts";
import { Failure } from "../../../design/notice.tsx";
import { useShortcuts } from "../../../keyboard/use-shortcuts.ts";
import { found, type LogLine, LogStore } from "./log-store.ts";
import { addressOf, LEVELS, type Level, type RunQuery } from "../run-query.ts";

/** Lines that are drawn; a button draws as many more. */
const SHOWN = 500;

interface LogTabProps {
  readonly run: Evaluation;
  readonly query: RunQuery;
  readonly go: (next: RunQuery, replaces?: boolean) => void;
  /** Whether the search takes the focus when it is drawn; then it is taken back. */
  readonly searches: { current: boolean };
}

/** The log, live: by level and words, and following its end. */
export function LogTab({ run, query, go, searches }: LogTabProps) {
  const { api, visibility } = useDashboard();
  const { evaluation_id: id, edgewise } = run;
  const store = useMemo(() => new LogStore(api, visibility, id), [api, visibility, id]);
  const rests = edgewise.settled || edgewise.suspended;
  useEffect(() => () => store.close(), [store]);
  useEffect(() => store.follow(!rests), [store, rests]);
  const [follows, setFollows] = useState(query.line === null);
  const [most, setMost] = useState(SHOWN);
  const lines = found(store.lines.value, query.level, query.search);
  const at = query.line === null || follows ? -1 : lines.findIndex(({ number }) => number === query.line);
  const from = Math.max(0, at < 0 ? lines.length - most : Math.min(lines.length - most, at - SHOWN / 2));
  const shown = lines.slice(from, at < 0 ? undefined : from + most);
  useShortcuts([
    {
      keys: ["f"],
      does: "Follow the log",
      run: () => {
        setFollows(!follows);
        return true;
      },
    },
  ]);
  const problem = store.problem.value;
  return (
    <>
      <LogFilters query={query} go={go} searches={searches} follows={follows} setFollows={setFollows} />
      {problem === null ? null : <Failure problem={problem} again={() => void store.read()} />}
      <p class="count" role="status">
        {store.isRead.value ? `${thousands(lines.length)} of ${thousands(store.lines.value.length)} lines` : "Reading the log…"}
      </p>
      {from > 0 ? (
        <button type="button" onClick={() => setMost(most + SHOWN)}>
          Show {thousands(Math.min(from, SHOWN))} earlier lines
        </button>
      ) : null}
      <Lines id={id} lines={shown} query={query} follows={follows} />
    </>
  );
}

interface LinesProps {
  readonly id: string;
  readonly lines: readonly LogLine[];
  readonly query: RunQuery;
  readonly follows: boolean;
}

function Lines({ id, lines, query, follows }: LinesProps) {
  const { link } = useDashboard();
  const box = useRef<HTMLElement>(null);
  const last = lines.at(-1)?.number;
  // biome-ignore lint/correctness/useExhaustiveDependencies: a line that came is what it is done for
  useEffect(() => {
    if (follows && box.current !== null) box.current.scrollTop = box.current.scrollHeight;
  }, [follows, last]);
  const isThere = lines.some(({ number }) => number === query.line);
  useEffect(() => {
    if (isThere) box.current?.querySelector(".is-chosen")?.scrollIntoView({ block: "center" });
  }, [isThere]);
  if (lines.length === 0) return <p>No line is like that.</p>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys
    <section class="log" ref={box} tabIndex={0} aria-label="Log">
      <ol>
        {lines.map(({ number, level, text }) => (
          <li key={number} class={`log-line ${level.toLowerCase()}${number === query.line ? " is-chosen" : ""}`}>
            <a class="log-number" href={link(runAddress(id), addressOf({ ...query, line: number }))} title="Link to this line">
              {number}
            </a>
            <span>{text}</span>
          </li>
        ))}
      </ol>
    </section>
  );
}

interface LogFiltersProps {
  readonly query: RunQuery;
  readonly go: LogTabProps["go"];
  readonly searches: LogTabProps["searches"];
  readonly follows: boolean;
  readonly setFollows: (follows: boolean) => void;
}

const LEVEL_NAMES: Readonly<Record<Level, string>> = { DEBUG: "All", INFO: "Info and above", WARNING: "Warnings and errors", ERROR: "Errors" };

function LogFilters({ query, go, searches, follows, setFollows }: LogFiltersProps) {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (searches.current) field.current?.select();
    searches.current = false;
  }, [searches]);
  return (
    <search class="filters">
      <label class="field log-search">
        <span>Search</span>
        <input
          ref={field}
          type="search"
          value={query.search}
          title="Search the log (/)"
          onInput={({ currentTarget }) => go({ ...query, search: currentTarget.value })}
          onKeyDown={({ key, currentTarget }) => {
            if (key === "Escape") currentTarget.blur();
          }}
        />
      </label>
      <label class="field log-level">
        <span>Level</span>
        <select value={query.level} onChange={({ currentTarget }) => go({ ...query, level: LEVELS.find((each) => each === currentTarget.value) ?? "DEBUG" })}>
          {LEVELS.map((level) => (
            <option key={level} value={level}>
              {LEVEL_NAMES[level]}
            </option>
          ))}
        </select>
      </label>
      <label class="log-follow">
        <input type="checkbox" checked={follows} title="Follow (f)" onChange={({ currentTarget }) => setFollows(currentTarget.checked)} /> Follow
      </label>
    </search>
  );
}

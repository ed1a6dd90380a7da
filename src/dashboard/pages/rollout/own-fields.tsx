import type { ComponentChildren } from "preact";
import { thousands } from "../../../report/text/format.ts";
import { singleLine } from "../../../report/text/printable.ts";
import type { RolloutOutline } from "../../api/answers.ts";
import { useSomeOf } from "../../design/list/some-of.tsx";
import { Failure } from "../../design/notice.tsx";
import { JsonView } from "../../design/text/json/json-view.tsx";
import { Markdown } from "../../design/text/markdown/markdown.tsx";
import { RawText } from "../../design/text/raw-text.tsx";
import { MOST_ROW_BYTES, type RolloutStore } from "./rollout-store.ts";

interface OwnFieldsProps {
  readonly outline: RolloutOutline;
  readonly store: RolloutStore;
  readonly raw: boolean;
  readonly title: string;
  /** What is said where there is none; null: nothing at all. */
  readonly empty: string | null;
  readonly wants: (name: string) => boolean;
  /** Draws the fields that it knows, in place of the tree that any value is; null: it does not know it. */
  readonly draw?: (name: string, value: unknown) => ComponentChildren;
}

/** Fields of the row by name, the long ones when somebody asks for them. */
export function OwnFields({ outline, store, raw, title, empty, wants, draw }: OwnFieldsProps) {
  const small = Object.entries(outline.fields).filter(([name]) => wants(name));
  const long = Object.entries(outline.long).filter(([name]) => wants(name));
  const [shownSmall, moreSmall] = useSomeOf(small, "fields");
  const [shownLong, moreLong] = useSomeOf(long, "long fields");
  if (small.length + long.length === 0 && empty === null) return null;
  return (
    <section class="own-fields">
      <h2>{title}</h2>
      {small.length + long.length === 0 ? <p>{empty}</p> : null}
      {shownSmall.map(([name, value]) => (
        <details key={name} open>
          <summary>{singleLine(name)}</summary>
          {draw?.(name, value) ?? <Value value={value} raw={raw} />}
        </details>
      ))}
      {moreSmall}
      {shownLong.map(([name, { kind, size, start }]) => (
        <details key={name} onToggle={({ currentTarget }) => (currentTarget.open ? void store.loadRow() : undefined)}>
          <summary>
            {singleLine(name)}{" "}
            <span class="turn">
              {thousands(size)} {kind === "text" ? "characters" : kind === "list" ? "elements" : "keys"}: {singleLine(start.slice(0, 80))}…
            </span>
          </summary>
          <LongValue name={name} store={store} raw={raw} bytes={outline.bytes} draw={draw} />
        </details>
      ))}
      {moreLong}
    </section>
  );
}

interface LongValueProps extends Pick<OwnFieldsProps, "store" | "raw"> {
  readonly name: string;
  readonly bytes: number;
  readonly draw: OwnFieldsProps["draw"] | undefined;
}

function LongValue({ name, store, raw, bytes, draw }: LongValueProps) {
  const row = store.row.value;
  const problem = store.rowProblem.value;
  if (bytes > MOST_ROW_BYTES) return <p>The row is too large to be shown whole. Its file can be downloaded (JSON).</p>;
  if (row !== null) return draw?.(name, row[name]) ?? <Value value={row[name]} raw={raw} />;
  return problem === null ? <p role="status">Loading…</p> : <Failure problem={problem} again={() => void store.loadRow()} />;
}

const Value = ({ value, raw }: { readonly value: unknown; readonly raw: boolean }) =>
  typeof value === "string" ? raw ? <RawText text={value} /> : <Markdown text={value} /> : <JsonView value={value} />;

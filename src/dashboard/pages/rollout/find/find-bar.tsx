import { useLayoutEffect, useRef } from "preact/hooks";
import { thousands } from "../../../../report/text/format.ts";
import type { FindStore } from "./find-store.ts";

interface FindBarProps {
  readonly find: FindStore;
  /** Messages of the rollout. */
  readonly count: number;
  readonly next: () => void;
  readonly previous: () => void;
  readonly onClose: () => void;
}

/** Finds a text in all messages, those that are not drawn too: the browser's own search sees only what is. */
export function FindBar({ find, count, next, previous, onClose }: FindBarProps) {
  const field = useRef<HTMLInputElement>(null);
  // Before it is painted: what is typed right behind the key that opens it is for it, not for the keys of the page.
  useLayoutEffect(() => field.current?.focus(), []);
  const found = find.found.value.length;
  return (
    <search class="find-bar">
      <label>
        <span class="visually-hidden">Find in this rollout</span>
        <input
          ref={field}
          type="search"
          placeholder="Find in this rollout"
          value={find.text.value}
          onInput={({ currentTarget }) => find.look(currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === "Escape") onClose();
            else if (event.key !== "Enter") return;
            else if (event.shiftKey) previous();
            else next();
            event.preventDefault();
          }}
        />
      </label>
      <button type="button" title="Previous (N)" disabled={found === 0} onClick={previous}>
        Previous
      </button>
      <button type="button" title="Next (n)" disabled={found === 0} onClick={next}>
        Next
      </button>
      <button type="button" class="quiet" title="Close (Esc)" onClick={onClose}>
        Close
      </button>
      <span role="status" class="said">
        {find.text.value === ""
          ? ""
          : `${thousands(find.times.value)} in ${thousands(found)} ${found === 1 ? "message" : "messages"}${find.isLooking.value ? `, looked through ${thousands(find.looked.value)} of ${thousands(count)}` : ""}`}
      </span>
    </search>
  );
}

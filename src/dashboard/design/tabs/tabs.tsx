import "./tabs.css";
import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";
import { useShortcuts } from "../../keyboard/use-shortcuts.ts";

/** A part of a page that is shown alone. */
export interface Tab<Id extends string = string> {
  readonly id: Id;
  readonly name: string;
  /** How much there is of it, behind its name. */
  readonly count?: string;
}

interface TabsProps<Id extends string> {
  /** What they are parts of, for who does not see them. */
  readonly label: string;
  readonly tabs: readonly Tab<Id>[];
  /** Which is shown; pages have it from their address. */
  readonly shown: Id;
  readonly onPick: (id: Id) => void;
  /** Whether ← and → change it wherever the focus is; else only on the tabs themselves. */
  readonly arrows?: boolean;
  /** Of the tab that is shown. */
  readonly children: ComponentChildren;
}

/** Tabs, as https://www.w3.org/WAI/ARIA/apg/patterns/tabs/ has them: one stop of the Tab key, and arrows between. */
export function Tabs<Id extends string>({ label, tabs, shown, onPick, arrows = false, children }: TabsProps<Id>) {
  const list = useRef<HTMLDivElement>(null);
  const id = useId();
  const at = tabs.findIndex((each) => each.id === shown);
  const pick = (place: number): boolean => {
    const tab = tabs[(place + tabs.length) % tabs.length];
    if (tab === undefined) return false;
    const hasFocus = list.current?.contains(document.activeElement) ?? false;
    onPick(tab.id);
    if (hasFocus) document.getElementById(`${id}-${tab.id}`)?.focus();
    return true;
  };
  // On a narrow screen it may lie beyond the edge. At once: nothing has to be stilled for who asks for no motion.
  // biome-ignore lint/correctness/useExhaustiveDependencies: `shown` is what may lie there
  useLayoutEffect(() => {
    const chosen = list.current?.querySelector('[aria-selected="true"]')?.getBoundingClientRect();
    const seen = list.current?.getBoundingClientRect();
    if (chosen === undefined || seen === undefined) return;
    const beyond = chosen.left < seen.left ? chosen.left - seen.left : Math.max(0, Math.min(chosen.right - seen.right, chosen.left - seen.left));
    list.current?.scrollBy({ left: beyond, behavior: "instant" });
  }, [shown]);
  const keys: Readonly<Record<string, number>> = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: tabs.length - 1 };
  return (
    <>
      {arrows ? <ArrowKeys previous={() => pick(at - 1)} next={() => pick(at + 1)} /> : null}
      <div
        class="tabs"
        role="tablist"
        aria-label={label}
        ref={list}
        onKeyDown={(event) => {
          const place = keys[event.key];
          if (place === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
          // Keys of the page leave alone what was used.
          event.preventDefault();
          pick(place);
        }}
      >
        {tabs.map((tab) => (
          <button
            key={tab.id}
            id={`${id}-${tab.id}`}
            type="button"
            role="tab"
            aria-selected={tab.id === shown}
            aria-controls={`${id}-panel`}
            tabIndex={tab.id === shown ? 0 : -1}
            onClick={() => onPick(tab.id)}
          >
            {tab.name}
            {tab.count === undefined ? null : <span class="tab-count">{tab.count}</span>}
          </button>
        ))}
      </div>
      <div class="tab-panel" id={`${id}-panel`} role="tabpanel" aria-labelledby={`${id}-${shown}`}>
        {children}
      </div>
    </>
  );
}

function ArrowKeys({ previous, next }: { readonly previous: () => boolean; readonly next: () => boolean }) {
  useShortcuts([
    { keys: ["ArrowRight"], does: "Next tab", run: next },
    { keys: ["ArrowLeft"], does: "Previous tab", run: previous },
  ]);
  return null;
}

/** Sections of a rollout as lines of a screen: titles, and the lines of those that are open, wrapped. Pure. */
import { wrap } from "../../report/text/text-width.ts";
import { type Line, lineOf, type Span, span } from "../terminal/canvas.ts";
import type { Section } from "./row-facts.ts";

export interface Layout {
  readonly lines: readonly Line[];
  /** Line of each section's title. */
  readonly titles: readonly number[];
  /** Line at which line `line` of section `index` begins; its title when it is closed. */
  lineOf(index: number, line: number): number;
}

const INDENT = "  ";

export function layoutOf(sections: readonly Section[], closed: ReadonlySet<number>, width: number, pattern: RegExp | null): Layout {
  const lines: Line[] = [];
  const titles: number[] = [];
  const starts: (readonly number[])[] = [];
  for (const [index, section] of sections.entries()) {
    titles.push(lines.length);
    const shut = closed.has(index);
    lines.push([span(`${shut ? "▸" : "▾"} ${section.title}`, "strong"), span(shut ? `  ${countText(section.lines.length)}` : "", "faint")]);
    const own: number[] = [];
    if (!shut) {
      for (const line of section.lines) {
        own.push(lines.length);
        for (const part of wrap(line, Math.max(2, width - INDENT.length))) lines.push(marked(INDENT + part, pattern));
      }
      lines.push([]);
    }
    starts.push(own);
  }
  return { lines, titles, lineOf: (index, line) => starts[index]?.[line] ?? titles[index] ?? 0 };
}

const countText = (count: number): string => `${count} ${count === 1 ? "line" : "lines"}`;

/** What the pattern (a global one) finds, made visible. */
export function marked(text: string, pattern: RegExp | null): Line {
  if (pattern === null) return lineOf(text);
  const spans: Span[] = [];
  let after = 0;
  for (const { 0: found, index } of text.matchAll(pattern)) {
    if (found === "") continue;
    spans.push(span(text.slice(after, index)), span(found, "hit"));
    after = index + found.length;
  }
  return [...spans, span(text.slice(after))];
}

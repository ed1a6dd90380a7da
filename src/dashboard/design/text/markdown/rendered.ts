import { startWorker } from "../../../background/start-worker.ts";
import { TimedWorker } from "../../../background/timed-worker.ts";
import type { MarkdownHtml } from "./markdown-html.ts";
import markdownScript from "./markdown-worker.ts?worker";
import mathematicsScript from "./mathematics-worker.ts?worker";
import type { Formula } from "./mathematics-rule.ts";

/** A text that takes longer is shown as it is written. */
const LIMIT_MS = 2_000;
/** Texts whose HTML is kept: those of a screen or two, and back. */
const MOST_KEPT = 200;

const markdown = new TimedWorker<string, MarkdownHtml | null>(() => startWorker(markdownScript, import.meta.url), LIMIT_MS);
const mathematics = new TimedWorker<readonly Formula[], readonly (string | null)[]>(() => startWorker(mathematicsScript, import.meta.url), LIMIT_MS);

/** HTML of a text, and the MathML of its formulas, none of them cleaned. */
export interface Rendered {
  readonly html: string;
  /** By the numbers of the formulas; null where the source stays. */
  readonly formulas: readonly (string | null)[];
}

const kept = new Map<string, Promise<Rendered | null>>();

/** Null: too much, or too slow, for a page. Made beside the page, and once. `text`: without characters that act. */
export function renderedMarkdown(text: string): Promise<Rendered | null> {
  const known = kept.get(text);
  const rendered = known ?? render(text);
  // The newest last.
  kept.delete(text);
  kept.set(text, rendered);
  const [oldest] = kept.keys();
  if (kept.size > MOST_KEPT && oldest !== undefined) kept.delete(oldest);
  return rendered;
}

async function render(text: string): Promise<Rendered | null> {
  const made = await markdown.ask(text);
  if (made === null) return null;
  const { html, formulas } = made;
  if (formulas.length === 0) return { html, formulas: [] };
  return { html, formulas: (await mathematics.ask(formulas)) ?? formulas.map(() => null) };
}

import MarkdownIt from "markdown-it";
import { addressText } from "../safe-link.ts";
import { type Formula, mathematics } from "./mathematics-rule.ts";

/** A text as HTML that has yet to be cleaned (clean.ts), and its formulas, which stand in it by their numbers. */
export interface MarkdownHtml {
  readonly html: string;
  readonly formulas: readonly Formula[];
}

/** Elements within elements; what is deeper stays text. */
const MOST_NESTING = 20;
/** Elements of one text: a page with more of them is slow to lay out. */
const MOST_TOKENS = 20_000;

const markdown = new MarkdownIt({ html: false, linkify: false, typographer: false, breaks: true, maxNesting: MOST_NESTING }).use(mathematics);

// Headings are those of the page: what a model calls one is a paragraph with a weight.
markdown.renderer.rules.heading_open = (tokens, index) => `<p data-level="${Number(tokens[index]?.tag.slice(1))}">`;
markdown.renderer.rules.heading_close = () => "</p>\n";
markdown.renderer.rules.image = (tokens, index, options, env, self) => {
  const token = tokens[index];
  const alt = self.renderInlineAsText(token?.children ?? [], options, env);
  return `<em>${markdown.utils.escapeHtml(`${alt} [image not loaded: ${addressText(String(token?.attrGet("src") ?? ""))}]`.trim())}</em>`;
};
// Its only use of `style` is how columns of tables are aligned; the policy of the page refuses it with a report.
markdown.core.ruler.push("no-style", ({ tokens }) => {
  for (const token of tokens) if (token.attrs !== null) token.attrs = token.attrs.filter(([name]) => name !== "style");
});

/** Null for what has more in it than a page can bear. `text`: without characters that act (printable.ts). */
export function markdownHtml(text: string): MarkdownHtml | null {
  const formulas: Formula[] = [];
  const env = { formulas };
  const tokens = markdown.parse(text, env);
  const count = tokens.reduce((sum, { children }) => sum + 1 + (children?.length ?? 0), 0);
  return count > MOST_TOKENS ? null : { html: markdown.renderer.render(tokens, markdown.options, env), formulas };
}

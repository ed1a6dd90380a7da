import DOMPurify, { type Config } from "dompurify";
import type { TrustedTypePolicy, TrustedTypePolicyFactory } from "trusted-types/lib";

/** The one way by which a text becomes elements. What comes in was made by our own renderers and is cleaned all the same. */

const MARKDOWN: Config = {
  ALLOWED_TAGS: [
    ...["p", "br", "hr", "em", "strong", "s", "code", "pre", "blockquote", "ul", "ol", "li", "a"],
    ...["table", "thead", "tbody", "tr", "th", "td", "#text"],
  ],
  ALLOWED_ATTR: ["href", "start", "data-math", "data-level"],
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
};
const MATHEMATICS: Config = {
  USE_PROFILES: { mathMl: true },
  FORBID_TAGS: ["annotation", "annotation-xml", "mglyph", "maction"],
  FORBID_ATTR: ["style", "class", "id", "href", "name"],
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
};

/** The gate that the page's policy names; nobody but DOMPurify has it. Undefined in browsers without Trusted Types. */
let gate: Pick<TrustedTypePolicy, "createHTML" | "createScriptURL"> | undefined;

function cleaned(html: string, config: Config): DocumentFragment {
  const { trustedTypes } = globalThis as { readonly trustedTypes?: TrustedTypePolicyFactory };
  gate ??= trustedTypes?.createPolicy("edgewise-markdown", {
    createHTML: (text) => text,
    createScriptURL: () => {
      throw new TypeError("A text names no script.");
    },
  });
  return DOMPurify.sanitize(html, { ...config, RETURN_DOM_FRAGMENT: true, ...(gate === undefined ? {} : { TRUSTED_TYPES_POLICY: gate as TrustedTypePolicy }) });
}

/** `html`: of markdown-html.ts. */
export const cleanMarkdown = (html: string): DocumentFragment => cleaned(html, MARKDOWN);
/** `html`: of mathematics-html.ts. */
export const cleanMathematics = (html: string): DocumentFragment => cleaned(html, MATHEMATICS);

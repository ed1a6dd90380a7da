import { outsideLink } from "../safe-link.ts";
import { cleanMarkdown, cleanMathematics } from "./clean.ts";
import type { Rendered } from "./rendered.ts";

/** Elements of a rendered text. `open`: what a click on a link does; there is no address in the page that a browser could follow by itself. */
export function drawnMarkdown({ html, formulas }: Rendered, open: (href: string) => void): DocumentFragment {
  const fragment = cleanMarkdown(html);
  for (const link of fragment.querySelectorAll("a")) link.replaceWith(linkButton(link, open));
  for (const code of fragment.querySelectorAll("code[data-math]")) {
    const formula = formulas[Number(code.getAttribute("data-math"))];
    if (typeof formula === "string") code.replaceWith(cleanMathematics(formula));
  }
  return fragment;
}

function linkButton(link: HTMLAnchorElement, open: (href: string) => void): HTMLElement {
  const outside = outsideLink(link.getAttribute("href") ?? "");
  const element = document.createElement(outside === null ? "span" : "button");
  element.append(...link.childNodes);
  if (outside === null || !(element instanceof HTMLButtonElement)) return element;
  element.type = "button";
  element.className = "outside-link";
  element.title = `Leads to ${outside.host}; asks before`;
  element.addEventListener("click", () => open(outside.href));
  return element;
}

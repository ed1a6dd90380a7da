import { html, raw } from "hono/html";
import { printable } from "../../report/text/printable.ts";

/** What every page for people is: no script, nothing loaded, every value escaped by `html`. */

export type Html = ReturnType<typeof html>;

/** Seconds between two looks of a browser at what still changes. */
const REFRESH_S = 5;
/** Characters of a text that came from outside. */
const MAX_TEXT = 4_000;

/** The pages' only style; the content security policy admits it by its digest. */
export const PAGE_STYLE = `
:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif; }
body { max-width: 70rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.3rem; overflow-wrap: anywhere; }
h2 { font-size: 1rem; margin-top: 2rem; }
th { text-align: left; font-weight: normal; opacity: 0.7; min-width: 8rem; vertical-align: top; }
td { overflow-wrap: anywhere; }
.list { width: 100%; border-collapse: collapse; }
.list th { min-width: 0; padding-right: 1rem; }
.list td { padding: 0.25rem 1rem 0.25rem 0; border-top: 1px solid #8886; vertical-align: top; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; padding: 0.75rem; border: 1px solid #8886; font-size: 13px; }
.status { font-weight: 600; }
.sign-out { float: right; }
.error { border-left: 3px solid #c33; padding-left: 0.75rem; overflow-wrap: anywhere; white-space: pre-wrap; }
`;

/** How a browser is signed in. */
export interface SignedIn {
  /** What its sign-out, and every change by a script of the page, must show. */
  readonly csrf: string;
  readonly via: "session" | "access";
}

export interface PageParts {
  readonly title: string;
  /** Whether the browser asks again by itself: there is no script that could. */
  readonly refreshes: boolean;
  /** Where the browser goes on to at once. */
  readonly leadsTo?: string;
  readonly body: Html;
  readonly signedIn?: SignedIn | null;
}

export const page = ({ title, refreshes, leadsTo, body, signedIn = null }: PageParts): Html => html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="robots" content="noindex">
${refreshes ? html`<meta http-equiv="refresh" content="${REFRESH_S}">` : leadsTo === undefined ? "" : html`<meta http-equiv="refresh" content="0; url=${leadsTo}">`}
<title>${title}</title>
<style>${raw(PAGE_STYLE)}</style>
</head>
<body>
${signedIn === null ? "" : wayOut(signedIn)}
${body}
</body>
</html>
`;

/** Access ends what it began, at an address of its own on every host. */
const wayOut = ({ csrf, via }: SignedIn): Html =>
  via === "access"
    ? html`<form class="sign-out" action="/cdn-cgi/access/logout"><input type="hidden" name="csrf" value="${csrf}" disabled><button>Sign out</button></form>`
    : html`<form class="sign-out" method="post" action="/sign-out"><input type="hidden" name="csrf" value="${csrf}"><button>Sign out</button></form>`;

/** A text from outside, without control characters and not endless. */
export function pageText(value: string): string {
  const clean = printable(value);
  return clean.length > MAX_TEXT ? `${clean.slice(0, MAX_TEXT)}…` : clean;
}

/** `at`: Unix milliseconds. */
export const pageTime = (at: number | null): string | null => (at === null ? null : `${new Date(at).toISOString().slice(0, 19).replace("T", " ")} UTC`);

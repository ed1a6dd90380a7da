import { html } from "hono/html";
import { type Html, page } from "./page.ts";

/** The form that a token is typed into. `to`: the page that it leads to; `problem`: what was wrong with the last one. */
export function signInPage(to: string, problem: string | null): Html {
  const body = html`<h1>Sign in</h1>
${problem === null ? "" : html`<p class="error">${problem}</p>`}
<form method="post" action="/sign-in">
<input type="hidden" name="to" value="${to}">
<p><label>Token <input type="password" name="token" autocomplete="current-password" required autofocus></label> <button>Sign in</button></p>
</form>
<p>The token of the service, or one of <code>npx edgewise token create</code>. This browser is signed in with it for eight hours.</p>`;
  return page({ title: "Edgewise: sign in", refreshes: false, body });
}

/**
 * Answers a browser that is not signed in, as far as this request shows: one that followed a link of another site keeps its cookie back, and shows it when
 * this page leads on.
 */
export function wayToSignIn(to: string): Html {
  const href = `/sign-in?to=${encodeURIComponent(to)}`;
  const body = html`<h1>Sign in</h1>
<p><a href="${href}">This page is for who is signed in.</a></p>`;
  return page({ title: "Edgewise: sign in", refreshes: false, leadsTo: href, body });
}

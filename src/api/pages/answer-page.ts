import { type Html, PAGE_STYLE } from "./page.ts";

/**
 * A page may do nothing in a browser but look like itself, and send its own forms to this service. `same-origin`: a form of a page that tells no referrer
 * at all would be sent with `Origin: null`, as one of elsewhere.
 */
export const answerPage = async (body: Html, status = 200, headers: Readonly<Record<string, string>> = {}): Promise<Response> =>
  new Response(String(await body), {
    status,
    headers: {
      "content-type": "text/html; charset=UTF-8",
      "content-security-policy": `default-src 'none'; style-src 'sha256-${await digest(PAGE_STYLE)}'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'`,
      "referrer-policy": "same-origin",
      "cross-origin-resource-policy": "same-origin",
      "cache-control": "no-store",
      ...headers,
    },
  });

async function digest(text: string): Promise<string> {
  const bytes = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return btoa(String.fromCharCode(...new Uint8Array(bytes)));
}

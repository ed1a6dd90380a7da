import { createApp } from "../../api/app.ts";
import type { AppPorts } from "../../api/app-ports.ts";
import { renderError } from "../../api/errors.ts";
import { checkPlace } from "../../api/access/place.ts";
import { readOnly } from "./refusing.ts";

/** What is asked with a body, and changes nothing. */
const READ_BY_POST = /^\/api\/v1\/(?:comparisons(?:\/examples)?|evaluations\/[^/]+\/previews)\/?$/;

/** The service's own door before results folders: whatever would change something is refused before it. */
export function doorOfFolders(ports: AppPorts): (request: Request) => Promise<Response> {
  const app = createApp(() => ports);
  return async (request) => {
    const { method, url } = request;
    const isRead = method === "GET" || method === "HEAD" || (method === "POST" && READ_BY_POST.test(new URL(url).pathname));
    // A page of elsewhere is told so by the door, whatever it asks.
    if (isRead || !checkPlace(request, ports.facts).ok) return app.fetch(request, {});
    const { status, body } = renderError(readOnly());
    return Response.json(body, { status, headers: { "cache-control": "no-store" } });
  };
}

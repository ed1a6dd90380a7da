import { REFUSAL_HEADER } from "../refusal.ts";

const platformFetch = fetch;

/** A request that was not sent is an error of `fetch`, as a network's. */
async function outwardFetch(...asked: Parameters<typeof fetch>): Promise<Response> {
  const answer = await platformFetch(...asked);
  if (answer.headers.has(REFUSAL_HEADER)) throw new TypeError(await answer.text());
  return answer;
}
globalThis.fetch = outwardFetch as typeof fetch;

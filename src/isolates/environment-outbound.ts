import { exports, WorkerEntrypoint } from "cloudflare:workers";
import { requestProblem } from "../config/endpoints/environment-hosts.ts";
import { type Env, isLocal } from "../env.ts";
import { failureOf } from "../errors/result.ts";
import { MAX_OUTBOUND_BYTES } from "../limits.ts";
import { boundedBody, statedTooLarge } from "./bounded-body.ts";
import { refusalOf } from "./refusal.ts";

/** What an isolate's way out is made with. */
export interface OutboundProps {
  readonly hosts: readonly string[];
}

/** Before code of environments is loaded, which may have another one. */
const platformFetch = fetch;

/**
 * The one way out of an isolate whose environment declares hosts: every request that its code makes comes here, those of redirects too, since they are
 * followed there. What may not be sent is an error of `fetch` there. The main module of a Worker exports it under its name.
 */
export class EnvironmentOutbound extends WorkerEntrypoint<Env, OutboundProps> {
  override async fetch(request: Request): Promise<Response> {
    const { NETWORK } = this.env;
    const problem = requestProblem(request.url, { declared: this.ctx.props.hosts, local: isLocal(this.env) });
    if (problem !== null) return refusalOf(`this environment may not send a request there: ${problem}`);
    if (request.headers.has("upgrade")) return refusalOf("this environment may send requests and be sent answers, and open no connection of another kind");
    const stated = statedTooLarge(request, MAX_OUTBOUND_BYTES);
    if (stated !== null) return refusalOf(`the body of the request ${stated}`);
    const sent = new Request(request, { redirect: "manual", body: boundedBody(request.body, MAX_OUTBOUND_BYTES) });
    let answer: Response;
    try {
      answer = await (NETWORK === undefined ? platformFetch(sent) : NETWORK.fetch(sent));
    } catch (thrown) {
      return refusalOf(`${new URL(request.url).host} cannot be reached: ${failureOf(thrown).message}`);
    }
    const told = statedTooLarge(answer, MAX_OUTBOUND_BYTES);
    if (told === null) return new Response(boundedBody(answer.body, MAX_OUTBOUND_BYTES), answer);
    await answer.body?.cancel();
    return refusalOf(`the answer ${told}`);
  }
}

interface Exports {
  readonly EnvironmentOutbound?: (options: { props: OutboundProps }) => Fetcher;
}

/** What the main module exports. With `disallow_importable_env`, which every service has, importing it gives nothing: an invocation tells. */
let told: Exports | null = null;

/** To be called with the context of an invocation of this Worker before anything is asked of isolates. They are the same for all of them. */
export function tellExports(context: object): void {
  told ??= (context as { readonly exports?: Exports }).exports ?? null;
}

/** The entrypoint for isolates of one environment; null where the main module does not export it. */
export function wayOut(props: OutboundProps): Fetcher | null {
  const { EnvironmentOutbound: made } = told ?? (exports as unknown as Exports);
  return made === undefined ? null : made({ props });
}

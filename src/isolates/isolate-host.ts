import { type Env, isLocal, loaderOf } from "../env.ts";
import { EdgewiseError } from "../errors/result.ts";
import { BUILT_LIBRARY } from "./built-library.ts";
import { wayOut } from "./environment-outbound.ts";
import { MAX_WAITING_CHARACTERS } from "../limits.ts";
import { IsolateNames } from "./isolate-names.ts";
import type { IsolateHost } from "./open-isolate.ts";

/** Of this process: isolates outlive requests. */
const NAMES = new IsolateNames();

const DEPLOYED = { dropsIdle: false, mostWaiting: MAX_WAITING_CHARACTERS };
/** The memory is the machine's, and no platform looks after it. */
const LOCALLY = { dropsIdle: true, mostWaiting: Number.POSITIVE_INFINITY };

/** What this Worker makes isolates with. Throws `environment_failed` for a deployment that can make none, naming what it lacks. */
export function isolateHostOf(env: Env): IsolateHost {
  const loader = loaderOf(env);
  if (loader === null) throw lacking("its wrangler.toml has no [[worker_loaders]] with the binding LOADER: add its two lines");
  if (BUILT_LIBRARY === null)
    throw lacking("it is made of sources that nobody has built: deploy dist/worker.js (`npm run deploy`), or a module that imports edgewise/worker");
  return { loader, library: BUILT_LIBRARY, names: NAMES, outbound, ...(isLocal(env) ? LOCALLY : DEPLOYED) };
}

const lacking = (what: string): EdgewiseError =>
  new EdgewiseError("environment_failed", `this deployment gives environments no isolates of their own: ${what}`);

function outbound(hosts: readonly string[]): Fetcher {
  const made = wayOut({ hosts });
  if (made === null) throw lacking("its main module does not export EnvironmentOutbound of edgewise/worker, which the environment's requests go through");
  return made;
}

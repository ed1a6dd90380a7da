import { sleep } from "../clients/transport/sleep.ts";
import { type DatasetHost, HUB_ENDPOINT, HUB_VIEWER } from "./host.ts";

/** Data sets outside the service (a script, a test): what the web has, and no uploads. Fields given replace the defaults. */
export function webDatasetHost(own: Partial<DatasetHost> = {}): DatasetHost {
  return {
    fetch: (url, init) => fetch(url, init),
    sleep,
    upload: () => Promise.resolve(null),
    hub: { endpoint: HUB_ENDPOINT, viewer: HUB_VIEWER, token: null },
    allowPrivate: true,
    note: () => undefined,
    ...own,
  };
}

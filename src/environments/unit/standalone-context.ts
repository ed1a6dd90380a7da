import { clientOf } from "../../clients/client-config.ts";
import { HUB_ENDPOINT, HUB_VIEWER } from "../../datasets/host.ts";
import { webDatasetHost } from "../../datasets/web-host.ts";
import { loggerOf } from "../../logging/logger.ts";
import type { LoadContext } from "../definition/definition.ts";
import { processVariable } from "../definition/keys.ts";

const log = loggerOf("dataset");

/** What an environment stands on that no engine carries: the platform's `fetch`, and the variables of the process. */
export function standaloneContext(): LoadContext {
  return {
    datasets: webDatasetHost({
      hub: {
        endpoint: processVariable("HF_ENDPOINT") ?? HUB_ENDPOINT,
        viewer: processVariable("HF_DATASETS_SERVER") ?? HUB_VIEWER,
        token: processVariable("HF_TOKEN") ?? null,
      },
      note: (message) => log.info(message),
    }),
    key: processVariable,
    client: ({ base_url, ...endpoint }) => clientOf({ api_base_url: base_url, ...endpoint }),
  };
}

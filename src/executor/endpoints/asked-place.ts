import type { Replica, RunConfig } from "../../config/plan/run-config.ts";
import type { AskedPlace } from "../answers/question.ts";

/** Where the model of a run is asked. */
export const askedPlace = (config: RunConfig, { base_url, headers }: Replica): AskedPlace => ({
  ...{ team: config.team, role: "model", base_url, client_type: config.api_client_type },
  ...{ headers: { ...headers, ...config.headers }, headers_from_state: config.headers_from_state },
});

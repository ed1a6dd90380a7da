import { JUDGE_COLUMN } from "../../metrics/judge-fields.ts";
import type { RunConfig } from "../../config/plan/run-config.ts";
import { noteJudgement } from "../../rollouts/state/judgements.ts";
import type { Client } from "../../rollouts/types.ts";

/** `client`, whose prompts and answers are noted for their rollouts, where the rows of the run are to have them; else the client itself. */
export function notedJudges({ state_columns }: Pick<RunConfig, "state_columns">, client: Client): Client {
  if (!state_columns.includes(JUDGE_COLUMN)) return client;
  return {
    ...client,
    getResponse: async (request) => {
      const response = await client.getResponse(request);
      noteJudgement(request.state, request.prompt, response);
      return response;
    },
  };
}

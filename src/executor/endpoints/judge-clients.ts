import { relayed } from "../../clients/relay/relayed.ts";
import { scoreTexts } from "../../clients/scoring/score-texts.ts";
import type { Client } from "../../rollouts/types.ts";

/** Models of one judge that are told apart; an environment that names more has the others counted as one. */
const MOST_MODELS = 64;
/** Longer is the name of no model (as `-m` has it): it would be kept by the Limiter, and shown. */
const MOST_CHARACTERS = 256;
const OTHERS = "";

/**
 * One client that is another for each model it is asked for, since endpoints limit their models apart and an environment names the model with each request.
 * `shape`: any of them, for what it can do. `make`: called once for each model.
 */
export function clientByModel(shape: Client, make: (model: string) => Promise<Client>): Client {
  const made = new Map<string, Promise<Client>>();
  const of = (model: string): Promise<Client> => {
    const known = made.get(model);
    if (known !== undefined) return known;
    if (model !== OTHERS && (made.size >= MOST_MODELS || model.length > MOST_CHARACTERS)) return of(OTHERS);
    const client = make(model);
    made.set(model, client);
    return client;
  };
  return {
    type: shape.type,
    getResponse: async (request) => (await of(request.model)).getResponse(request),
    ...(shape.score === undefined ? {} : { score: async (request) => scoreTexts(await of(request.model), request) }),
    ...(shape.relay === undefined ? {} : { relay: async (request) => relayed(await of(request.model), request) }),
  };
}

import type { Client } from "../../rollouts/types.ts";

/** In the place of a client where nothing is asked. */
const refusing = (type: string, message: string): Client => ({
  type,
  getResponse: async () => {
    throw new Error(message);
  },
});

/** The model under evaluation, in a run that makes no rollouts. */
export const NO_MODEL: Client = refusing("none", "a run that scores again asks no model: a scorer that needs one is given a client of its own");

/** A judge, while rows are looked through. */
export const noJudge = (type: string): Client => refusing(type, "judges are asked when rollouts are scored, not while rows are looked through");

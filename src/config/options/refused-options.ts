import { z } from "zod";
import { option, type Refusal } from "./option.ts";

const NO_SERVER: Refusal = {
  reason: "environments run in the service's executors, and no environment server is started that could be left out",
  inFile: "warning",
};
const notPossible = ({ reason }: Refusal): string => `not possible: ${reason}`;

/** Options of verifiers that cannot do here what they say. They are known by name, so that they are refused with the reason. */
export const REFUSED_OPTIONS = {
  disable_env_server: option({ kind: "switch", schema: z.boolean(), default: false, http: null, refused: NO_SERVER, help: notPossible(NO_SERVER) }),
} as const;

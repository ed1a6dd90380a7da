import { isSayable, quoted } from "../../../report/text/shell-word.ts";

/** Commands that begin what no page of the settings makes. Whoever types one puts their own names in. */

export const ADD_ENDPOINT = "npx edgewise endpoint add small -m gpt-4.1-mini -b https://api.openai.com/v1 -k OPENAI_API_KEY";
export const SET_LIMIT = "npx edgewise limits set openai -b https://api.openai.com/v1 --requests-per-minute 500";
export const SET_BUDGET = "npx edgewise budget set --day 20";
export const SET_BASELINE = "npx edgewise baseline set main RUN";
export const CREATE_TEAM = "npx edgewise team create acme";

/** `kind`: as `edgewise env` has it. An environment whose name a terminal would not take as it is shown is not in the command. */
export const createForEnvironment = (kind: "secret" | "var", environment: string): string =>
  `npx edgewise env ${kind} create ${isSayable(environment) && !environment.startsWith("-") ? quoted(environment) : "OWNER/NAME"} NAME`;
